package acp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// One entry of mcpServers, and what the frames of a client make of it.
func TestServers(t *testing.T) {
	tests := map[string]struct {
		entry string
		want  pipeline.Server
	}{
		"http":                    {`{"name":"kandev","type":"http","url":"u","headers":[]}`, pipeline.Server{Name: "kandev", Type: "http", URL: "u"}},
		"with headers":            {`{"name":"n","type":"sse","url":"u","headers":[{"name":"A","value":"1"},{"value":"2","name":"B"}]}`, pipeline.Server{Name: "n", Type: "sse", URL: "u", Headers: []pipeline.Header{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}}},
		"stdio":                   {`{"name":"n","command":"c","args":["a","b"],"env":[{"name":"A","value":"1"}]}`, pipeline.Server{Name: "n", Command: "c", Args: 2, Env: 1}},
		"null members":            {`{"name":null,"type":null,"url":null,"command":null,"args":null,"env":null,"headers":null}`, pipeline.Server{}},
		"empty":                   {`{}`, pipeline.Server{}},
		"unknown members":         {`{"name":"n","x":{"url":"v"},"URL":"w","_meta":{}}`, pipeline.Server{Name: "n"}},
		"escaped":                 {`{"n\u0061me":"k\u0061ndev","url":"http:\/\/h"}`, pipeline.Server{Name: "kandev", URL: "http://h"}},
		"a name of a wrong type":  {`{"name":["kandev"]}`, pipeline.Server{Malformed: true}},
		"a type of a wrong type":  {`{"name":"n","type":5}`, pipeline.Server{Name: "n", Malformed: true}},
		"a url of a wrong type":   {`{"name":"n","url":{}}`, pipeline.Server{Name: "n", Malformed: true}},
		"a command of a wrong":    {`{"name":"n","command":["c"]}`, pipeline.Server{Name: "n", Malformed: true}},
		"args of a wrong type":    {`{"name":"n","args":"a"}`, pipeline.Server{Name: "n", Malformed: true}},
		"env of a wrong type":     {`{"name":"n","env":{"A":"1"}}`, pipeline.Server{Name: "n", Malformed: true}},
		"headers of a wrong type": {`{"name":"n","headers":{"A":"1"}}`, pipeline.Server{Name: "n", Malformed: true}},
		"a header that is none":   {`{"name":"n","headers":["A: 1"]}`, pipeline.Server{Name: "n", Malformed: true, Headers: []pipeline.Header{{}}}},
		"a header with more":      {`{"name":"n","headers":[{"name":"A","value":"1","x":1}]}`, pipeline.Server{Name: "n", Malformed: true, Headers: []pipeline.Header{{Name: "A", Value: "1"}}}},
		"a value of a wrong type": {`{"name":"n","headers":[{"name":"A","value":1}]}`, pipeline.Server{Name: "n", Malformed: true, Headers: []pipeline.Header{{Name: "A"}}}},
		"a header of null":        {`{"name":"n","headers":[{"name":null,"value":null}]}`, pipeline.Server{Name: "n", Headers: []pipeline.Header{{}}}},
		"the placeholder":         {`{"name":"n","headers":[{"name":"Authorization","value":"Bearer redacted"}]}`, pipeline.Server{Name: "n", Headers: []pipeline.Header{{Name: "Authorization", Value: "Bearer redacted"}}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := pipeline.ServerList{Servers: []pipeline.Server{test.want, {Name: "next"}}}
			text := `[` + test.entry + `,{"name":"next"}]`
			got, err := acp.ReadServers([]byte(" " + text + "\n"))
			require.NoError(t, err)
			if test.want.Malformed { // what is left of a malformed entry is nobody's business
				got.Servers[0].Headers, want.Servers[0].Headers = nil, nil
			}
			assert.Equal(t, want, got)

			d := acp.NewDecoder(acp.Options{})
			o := feed(t, d, `>{"id":1,"method":"session/new","params":{"mcpServers":`+text+`}}`, `{"id":1,"result":{"sessionId":"s"}}`, offerIn("s", ``))
			if test.want.Malformed {
				o.Request.Session.Lists[0].Servers[0].Headers = nil
			}
			assert.Equal(t, pipeline.Session{Announced: true, Lists: []pipeline.ServerList{want}}, o.Request.Session)
		})
	}
}

func TestReadServers(t *testing.T) {
	for _, text := range []string{``, `null`, ` null `} {
		got, err := acp.ReadServers([]byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, pipeline.ServerList{}, got)
	}
	got, err := acp.ReadServers([]byte(` [ ] `))
	require.NoError(t, err)
	assert.Empty(t, got.Servers)
	for _, text := range []string{
		` `, `{}`, `"x"`, `5`, `[5]`, `[null]`, `[[]]`, `["x"]`, `[{}`, `[{}]]`, `[{}] x`, `[{"name":"a","name":"b"}]`, "[{\"name\":\"\xff\"}]", `[{"name":"\ud800"}]`, `[{"env":[{"a":1,"a":2}]}]`,
	} {
		_, err := acp.ReadServers([]byte(text))
		assert.EqualError(t, err, "acp: mcpServers is no list of server objects with unique keys", text)
	}
}

// The placeholder of recordings counts as no header, where it is switched on and
// exactly so.
func TestPlaceholder(t *testing.T) {
	const header = `{"name":"Authorization","value":"Bearer redacted"}`
	kept := []pipeline.Header{{Name: "Authorization", Value: "Bearer redacted"}}
	for _, test := range []struct {
		placeholder, headers string
		want                 []pipeline.Header
	}{
		{"", header, kept},
		{"Bearer redacted", header, nil},
		{"Bearer other", header, kept},
		{"Bearer redacted", header + "," + header, append(kept, kept...)},
		{"Bearer redacted", strings.ToLower(header), []pipeline.Header{{Name: "authorization", Value: "bearer redacted"}}},
	} {
		d := acp.NewDecoder(acp.Options{Placeholder: test.placeholder})
		o := feed(t, d, `>{"id":1,"method":"session/new","params":{"mcpServers":[{"name":"kandev","headers":[`+test.headers+`]}]}}`, `{"id":1,"result":{"sessionId":"s"}}`, offerIn("s", ``))
		require.Len(t, o.Request.Session.Lists, 1)
		assert.Equal(t, pipeline.Server{Name: "kandev", Headers: test.want}, o.Request.Session.Lists[0].Servers[0])
	}
}

// The injector's own header value comes with the line that holds it.
func TestAuthorization(t *testing.T) {
	d := acp.NewDecoder(acp.Options{})
	send := func(line, authorization string) {
		_, err := d.FromClient([]byte(line), authorization)
		require.NoError(t, err)
	}
	send(`{"id":1,"method":"session/new","params":{"mcpServers":[{"name":"kandev"}]}}`, "Bearer one")
	send(`{"id":2,"method":"session/load","params":{"sessionId":"two","mcpServers":[{"name":"kandev"}]}}`, "Bearer two")
	send(`{"id":3,"method":"session/resume","params":{"sessionId":"three","mcpServers":[{"name":"kandev"}]}}`, "")
	feed(t, d, `{"id":1,"result":{"sessionId":"one"}}`, `{"id":2,"result":null}`, `{"id":3,"result":{}}`)
	for session, want := range map[string]string{"one": "Bearer one", "two": "Bearer two", "three": ""} {
		o := fromAgent(t, d, offerIn(session, ``))
		assert.Equal(t, []pipeline.ServerList{{Servers: []pipeline.Server{{Name: "kandev"}}, Authorization: want}}, o.Request.Session.Lists)
	}
}
