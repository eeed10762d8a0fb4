package proxy

import (
	"bytes"
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline/acp"
)

// Whatever a session request looks like: if it can be changed the result is strictly
// good JSON with the entry as the last one of its list, and without that list it is
// the client's own bytes.
func FuzzInject(f *testing.F) {
	for _, seed := range []string{
		`{"params":{"mcpServers":[]}}`, `{"params":{"mcpServers":null}}` + "\r\n", `{"params":{ }}`, `{"params":{"mcpServers":[{"name":"kandev"},7,{"name":"k\u0061ndev"}]},"x":1}`,
		`{"params":{"mcpServers":[],"mcpServers":[]}}`, `{"params":[]}`, `{}`, `x`, "", `{"params":{"a":{"mcpServers":[1]},"mcp\u0053ervers" : [ ] }}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	const name = `{"name":"kandev","type":"http"}`
	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		out, replaced, err := inject(line, []jsontext.Value{jsontext.Value(name)}, []string{"kandev"})
		require.Equal(t, before, line, "the line itself stays")
		if err != nil {
			require.Nil(t, out)
			return
		}
		require.True(t, jsontext.Value(bytes.TrimRight(out, "\r\n")).IsValid())
		text, old := bytes.TrimRight(out, "\r\n"), bytes.TrimRight(line, "\r\n")
		require.Equal(t, line[len(old):], out[len(text):], "the end stays")
		list, _, err := findServers(text)
		require.NoError(t, err)
		var elements []string
		eachElement(text, list, func(v span) { elements = append(elements, string(text[v.from:v.to])) })
		require.NotEmpty(t, elements)
		require.Equal(t, name, elements[len(elements)-1])
		kept, gone, err := keepServers(text, list, []string{"kandev"})
		require.NoError(t, err)
		require.Len(t, gone, 1, "no other entry has the name")
		require.Len(t, kept, len(elements)-1)

		was, end, err := findServers(old)
		require.NoError(t, err)
		if was == (span{}) { // a member behind the others
			require.Empty(t, replaced)
			require.True(t, bytes.HasPrefix(text, old[:end]))
			require.True(t, bytes.HasSuffix(text, old[end:]))
			return
		}
		require.Equal(t, string(old[:was.from]), string(text[:list.from]))
		require.Equal(t, string(old[was.to:]), string(text[list.to:]))
	})
}

// Whatever a side says: the other one gets the line as it is or not at all, and the
// relay lives.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		offerLine("1", "s", "mcp__kandev__run"), offerLine(`"\ud800"`, "s", ""), selectedLine("1", "once"), cancelOf("s"), requestLine("1", "session/new", `{"mcpServers":[]}`),
		resultLine("1", `{"sessionId":"s"}`), resultLine("0", modesV1("s", "auto", "default")), endOf("s", "call-1"), "[]\n", "noise\n", "\n", "{}\n", `{"id":{},"method":"session/request_permission"}` + "\n",
	} {
		f.Add([]byte(seed), []byte(seed))
	}
	pipelines, set := hostPipelines(f)
	f.Fuzz(func(t *testing.T, agentLine, clientLine []byte) {
		o := Options{ToClient: newSide(), Stderr: newSide(), Agent: "claude-acp", Pipelines: pipelines, Dialects: set, AutoApprove: true}
		r, err := newRelay(t.Context(), o)
		require.NoError(t, err)
		agent := newSide()
		r.agent = newToAgent(agent, nil)
		for range 2 {
			before := bytes.Clone(agentLine)
			r.takeAgent(context.Background(), agentLine)
			require.Equal(t, before, agentLine)
			r.takeClient(clientLine)
		}
		r.agent.end()
		whole := bytes.TrimSuffix(clientLine, []byte{'\n'})
		got := agent.read()
		if f, err := acp.Peek(clientLine); err == nil && f.Kind != acp.KindResponse && !bytes.ContainsRune(whole, '\n') {
			assert.Contains(t, got, string(clientLine))
		}
	})
}
