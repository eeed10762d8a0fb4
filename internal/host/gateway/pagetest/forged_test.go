package pagetest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leakSession lets the demo agent's input through and leaves its session/new in the data
// folder. A real agent keeps the secret in it for itself.
func leakSession() error {
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	lines := bufio.NewReader(os.Stdin)
	os.Stdin = out
	name := filepath.Join(os.Getenv(dataVariable), "session-"+strconv.Itoa(os.Getpid()))
	go func() {
		defer func() { _ = in.Close() }()
		for {
			line, err := lines.ReadBytes('\n')
			if bytes.Contains(line, []byte(`"session/new"`)) {
				_ = os.WriteFile(name, line, 0o600)
			}
			if _, failed := in.Write(line); failed != nil || err != nil {
				return
			}
		}
	}()
	return nil
}

// way is one to an MCP server.
type way struct{ url, authorization string }

// stolen is the way to the MCP server of the agent that works in a folder.
func (d *daemon) stolen(folder string) way {
	d.Helper()
	names, err := filepath.Glob(filepath.Join(d.dir, "session-*"))
	require.NoError(d, err)
	for _, name := range names {
		line, err := os.ReadFile(name)
		require.NoError(d, err)
		var m struct {
			Params struct {
				Folder  string `json:"cwd"`
				Servers []struct {
					URL     string `json:"url"`
					Headers []struct {
						Value string `json:"value"`
					} `json:"headers"`
				} `json:"mcpServers"`
			} `json:"params"`
		}
		require.NoError(d, json.Unmarshal(line, &m))
		if m.Params.Folder == folder {
			server := m.Params.Servers[0]
			return way{server.URL, server.Headers[0].Value}
		}
	}
	require.Fail(d, "no agent works in the folder")
	return way{}
}

// RoundTrip adds the header.
func (w way) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", w.authorization)
	return http.DefaultTransport.RoundTrip(r)
}

// stop calls the tool that stops a task, and gives what the caller is told.
func (w way) stop(d *daemon, task string) string {
	d.Helper()
	defer http.DefaultClient.CloseIdleConnections()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(d.Context(), &mcp.StreamableClientTransport{
		Endpoint: w.url, HTTPClient: &http.Client{Transport: w}, DisableStandaloneSSE: true, MaxRetries: -1,
	}, nil)
	require.NoError(d, err)
	defer func() { _ = s.Close() }()
	result, err := s.CallTool(d.Context(), &mcp.CallToolParams{Name: "stop_task_kandev", Arguments: map[string]any{"task": task}})
	if err != nil {
		return err.Error()
	}
	require.Len(d, result.Content, 1)
	text, ok := result.Content[0].(*mcp.TextContent)
	require.True(d, ok)
	assert.True(d, result.IsError, text.Text)
	return text.Text
}

// raw sends one request over a socket of its own: its result, or the code of its error.
func (d *daemon) raw(action, payload string) (result jsontext.Value, code string) {
	d.Helper()
	conn, _, err := websocket.Dial(d.Context(), "ws://"+d.listen+"/ws", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + d.secret()}},
	})
	require.NoError(d, err)
	defer func() { _ = conn.CloseNow() }()
	request := fmt.Sprintf(`{"id":1,"action":%q,"payload":%s}`, action, payload)
	require.NoError(d, conn.Write(d.Context(), websocket.MessageText, []byte(request)))
	_, reader, err := conn.Reader(d.Context())
	require.NoError(d, err)
	text, err := io.ReadAll(reader)
	require.NoError(d, err)
	var m struct {
		Result jsontext.Value `json:"result"`
		Error  struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	require.NoError(d, json.Unmarshal(text, &m))
	return m.Result, m.Error.Code
}

// secret is the token of the page.
func (d *daemon) secret() string {
	_, secret, _ := strings.Cut(d.page, "#token=")
	return secret
}

// family gives the ids of the only task without a parent and of its first child.
func (d *daemon) family() (parent, child string) {
	d.Helper()
	result, code := d.raw("task.list", "{}")
	require.Empty(d, code)
	var list struct {
		Tasks []task `json:"tasks"`
	}
	require.NoError(d, json.Unmarshal(result, &list))
	require.Len(d, list.Tasks, 2)
	parent, child = list.Tasks[0].ID, list.Tasks[1].ID
	require.Equal(d, parent, list.Tasks[1].Parent)
	return parent, child
}

// forgedStops tries to stop the child of the family from the raw socket, from a sibling
// and from the external endpoint. Selector is where the page shows the sibling's state.
func (d *daemon) forgedStops(w *window, selector string) {
	d.Helper()
	parent, child := d.family()
	_, code := d.raw("mcp.stop_task", fmt.Sprintf(`{"task":%q,"sender_task_id":%q}`, child, parent))
	assert.Equal(d, "forbidden", code, "from the raw socket")

	folder := d.TempDir()
	_, code = d.raw("task.start", fmt.Sprintf(`{"title":"Sibling","prompt":"hello","parent":%q,"directory":%q}`, parent, folder))
	require.Empty(d, code)
	w.shows(selector, "idle")
	sibling := d.stolen(folder)
	assert.Equal(d, sibling.stop(d, "task-nothing"), sibling.stop(d, child), "a sibling is told the same as of an unknown task")
	assert.Contains(d, sibling.stop(d, child), "not_found")

	external := way{"http://" + d.listen + "/mcp", "Bearer " + d.secret()}
	assert.Contains(d, external.stop(d, child), "unknown tool", "from the external endpoint")
}
