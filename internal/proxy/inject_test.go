package proxy

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/upstream"
)

const target8000 = "kandev=http://localhost:8000/mcp"

// injections are command lines, and what they mean.
var injections = map[string]struct {
	inject, headers []string
	want            []Injection
	used            []string
	err             string
}{
	"none": {},
	"a URL": {inject: []string{target8000},
		want: []Injection{{"kandev", upstream.Target{URL: "http://localhost:8000/mcp"}}}},
	"a URL with = in it": {inject: []string{"k=https://h/mcp?a=b"},
		want: []Injection{{"k", upstream.Target{URL: "https://h/mcp?a=b"}}}},
	"a program": {inject: []string{`tasks=stdio:my-server --flag "two words" a=b`},
		want: []Injection{{"tasks", upstream.Target{Command: []string{"my-server", "--flag", "two words", "a=b"}}}}},
	"several, with headers": {inject: []string{target8000, "b=https://h/mcp"},
		headers: []string{"b=X-Key: one", "b=X-Key:two", "kandev=Authorization:Bearer ${TOKEN}"},
		want: []Injection{
			{"kandev", upstream.Target{URL: "http://localhost:8000/mcp", Headers: http.Header{"Authorization": {"Bearer s3cret"}}}},
			{"b", upstream.Target{URL: "https://h/mcp", Headers: http.Header{"X-Key": {"one", "two"}}}},
		}, used: []string{"TOKEN"}},
	"several variables": {inject: []string{target8000}, headers: []string{"kandev=X:${TOKEN}-${EMPTY}-$TOKEN"},
		want: []Injection{{"kandev", upstream.Target{URL: "http://localhost:8000/mcp", Headers: http.Header{"X": {"s3cret--$TOKEN"}}}}}, used: []string{"TOKEN", "EMPTY"}},
	"a value with colons": {inject: []string{target8000}, headers: []string{"kandev=X:a:b=c"},
		want: []Injection{{"kandev", upstream.Target{URL: "http://localhost:8000/mcp", Headers: http.Header{"X": {"a:b=c"}}}}}},

	"no variable":         {inject: []string{target8000}, headers: []string{"kandev=X:${TOKEN}${"}, err: "begins no ${VARIABLE}"},
	"no name":             {inject: []string{"=http://h/mcp"}, err: "--inject needs a name and a target"},
	"no target":           {inject: []string{"kandev="}, err: "--inject needs a name and a target"},
	"no =":                {inject: []string{"kandev"}, err: "--inject needs a name and a target"},
	"a bad name":          {inject: []string{"a__b=http://h/mcp"}, err: "--inject: "},
	"twice":               {inject: []string{target8000, target8000}, err: `the name "kandev" is given twice`},
	"a bad target":        {inject: []string{"kandev=ftp://s3cret/"}, err: "--inject kandev: the target begins with none of"},
	"an unknown server":   {inject: []string{target8000}, headers: []string{"other=X:s3cret"}, err: `no server is injected as "other": add --inject other=URL`},
	"a header, a program": {inject: []string{"kandev=stdio:p"}, headers: []string{"kandev=X:s3cret"}, err: `"kandev" is a program, which takes no headers`},
	"no header name":      {inject: []string{target8000}, headers: []string{"kandev=:s3cret"}, err: "--inject-header needs"},
	"no header value":     {inject: []string{target8000}, headers: []string{"kandev=X"}, err: "--inject-header needs"},
	"no server name":      {inject: []string{target8000}, headers: []string{"X:s3cret"}, err: "--inject-header needs"},
	"a bad header name":   {inject: []string{target8000}, headers: []string{"kandev=X Y:s3cret"}, err: "--inject-header needs"},
	"a variable not set":  {inject: []string{target8000}, headers: []string{"kandev=X:${TOKEN}${MISSING}"}, err: "--inject-header kandev=X: the variable MISSING is not set"},
	"a bad value":         {inject: []string{target8000}, headers: []string{"kandev=X:s3cret${TWO_LINES}"}, err: "a character that no header can have"},
}

func TestParseInjections(t *testing.T) {
	environment := map[string]string{"TOKEN": "s3cret", "EMPTY": "", "TWO_LINES": "a\nb"}
	lookup := func(name string) (string, bool) { v, set := environment[name]; return v, set }
	for name, c := range injections {
		t.Run(name, func(t *testing.T) {
			got, used, err := ParseInjections(c.inject, c.headers, lookup)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				assert.NotContains(t, err.Error(), "s3cret", "no value is quoted")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.used, used)
		})
	}
}

// Variables whose values are headers of a target are not the agent's; others are.
func TestWithout(t *testing.T) {
	env := []string{"A=1", "AB=2", "B=3=4", "C"}
	assert.Equal(t, []string{"AB=2", "C"}, Without(env, []string{"A", "B"}))
	assert.Equal(t, env, Without(env, nil))
}
