package proxy

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestInject(t *testing.T) {
	const entry = `{"name":"kandev"}`
	for name, c := range map[string]struct {
		line, want string
		replaced   []string
		err        error
	}{
		"empty list":                {line: `{"params":{"cwd":"/w","mcpServers":[]}}`, want: `{"params":{"cwd":"/w","mcpServers":[` + entry + `]}}`},
		"others stay":               {line: `{ "params" : {"mcpServers": [ {"name" : "a", "x":1.50} , {"name":"b"}],"z":"\u0061"} }`, want: `{ "params" : {"mcpServers": [{"name" : "a", "x":1.50},{"name":"b"},` + entry + `],"z":"\u0061"} }`},
		"its name gives way":        {line: `{"params":{"mcpServers":[{"name":"kandev","url":"x"},{"name":"a"}]}}`, want: `{"params":{"mcpServers":[{"name":"a"},` + entry + `]}}`, replaced: []string{"kandev"}},
		"escaped name":              {line: `{"params":{"mcpServers":[{"name":"k\u0061ndev"}]}}`, want: `{"params":{"mcpServers":[` + entry + `]}}`, replaced: []string{"kandev"}},
		"missing":                   {line: `{"params":{"cwd":"/w"}}`, want: `{"params":{"cwd":"/w","mcpServers":[` + entry + `]}}`},
		"missing in empty":          {line: `{"params":{ }}`, want: `{"params":{ "mcpServers":[` + entry + `]}}`},
		"null":                      {line: `{"params":{"mcpServers":null}}`, want: `{"params":{"mcpServers":[` + entry + `]}}`},
		"elements of any type stay": {line: `{"params":{"mcpServers":[7,"kandev",null]}}`, want: `{"params":{"mcpServers":[7,"kandev",null,` + entry + `]}}`},
		"line end stays":            {line: "{\"params\":{\"mcpServers\":[]}}\r\n", want: "{\"params\":{\"mcpServers\":[" + entry + "]}}\r\n"},
		"no list":                   {line: `{"params":{"mcpServers":{}}}`, err: errNoList},
		"twice":                     {line: `{"params":{"mcpServers":[],"mcpServers":[]}}`, err: errNotStrict},
		"twice, one escaped":        {line: `{"params":{"mcpServers":[],"mcpServer\u0073":[]}}`, err: errNotStrict},
		"params twice":              {line: `{"params":{"mcpServers":[]},"params":{}}`, err: errNotStrict},
		"params no object":          {line: `{"params":[]}`, err: errNoParams},
		"no params":                 {line: `{}`, err: errNoParams},
		"no UTF-8":                  {line: "{\"params\":{\"cwd\":\"\xff\"}}", err: errNotStrict},
	} {
		t.Run(name, func(t *testing.T) {
			got, replaced, err := inject([]byte(c.line), []jsontext.Value{jsontext.Value(entry)}, []string{"kandev"})
			require.ErrorIs(t, err, c.err)
			assert.Equal(t, c.want, string(got))
			assert.Equal(t, c.replaced, replaced)
		})
	}
}

// Whatever good request comes, the result is good JSON, ends with our entry and
// begins and ends with the client's own bytes.
func TestInjectKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SampledFrom([]string{"", `"cwd":"/w",`, `"a":{"mcpServers":[1]},`, ` "x" : [ ] , `}).Draw(t, "before")
		list := rapid.SampledFrom([]string{`[]`, `null`, `[{"name":"a"}]`, `[ {"name":"a","env":[{"name":"mcpServers","value":"]"}]} , {"name":"kandev"} ]`}).Draw(t, "list")
		after := rapid.SampledFrom([]string{"", `,"z":1`, `, "_meta":{"params":{}} `}).Draw(t, "after")
		line := `{"id":1,"params":{` + before + `"mcpServers":` + list + after + `},"method":"session/new"}`
		got, _, err := inject([]byte(line), []jsontext.Value{jsontext.Value(`{"name":"kandev"}`)}, []string{"kandev"})
		require.NoError(t, err)
		assert.True(t, jsontext.Value(got).IsValid())
		assert.Contains(t, string(got), `{"id":1,"params":{`+before+`"mcpServers":[`)
		assert.Contains(t, string(got), `{"name":"kandev"}]`+after+`},"method":"session/new"}`)
	})
}
