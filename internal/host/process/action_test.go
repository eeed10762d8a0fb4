package process

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// actionOf reads an offer as the manager does.
func actionOf(t *testing.T, toolCall string) Action {
	t.Helper()
	return actionOfLine(t, `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":`+toolCall+`,"options":[{"optionId":"a"}]}}`)
}

func actionOfLine(t *testing.T, line string) Action {
	t.Helper()
	m, err := acp.NewDecoder(acp.Options{}).FromAgent([]byte(line))
	require.NoError(t, err)
	require.NotNil(t, m.Offer)
	var id pipeline.Identity
	if name, ok := m.Offer.Request.Call.Name.Value(); ok {
		id, _ = pipeline.NewIdentity(pipeline.ClaimName(name))
	}
	return offerAction(onDemand(m.Line)(), &m.Offer.Request, id)
}

// actionCase is a tool call and what a person is to be shown of it.
type actionCase struct {
	call string
	want Action
}

func TestActionsOfRealFrames(t *testing.T) {
	checkActions(t, map[string]actionCase{
		"claude-agent-acp, shell": {
			`{"toolCallId":"t","name":"Bash","rawInput":{"command":"touch x","description":"touch a file"},"title":"touch x","kind":"execute","content":[{"type":"content","content":{"type":"text","text":"touch a file"}}],"locations":[{"path":"/w/x"}]}`,
			Action{Type: "execute", Title: "touch x", Command: "touch x", Paths: []string{"/w/x"}, Arguments: `{"command":"touch x","description":"touch a file"}`, Rest: `{"description":"touch a file"}`, Content: "touch a file"},
		},
		"claude-agent-acp, write": {
			`{"toolCallId":"t","rawInput":{"file_path":"/w/a","content":"hi\n"},"title":"Write a","kind":"edit","content":[{"type":"diff","path":"/w/a","oldText":null,"newText":"hi\nho\n"}],"locations":[{"path":"/w/a"}]}`,
			Action{Type: "edit", Title: "Write a", Paths: []string{"/w/a"}, Arguments: `{"file_path":"/w/a","content":"hi\n"}`, Rest: `{"content":"hi\n"}`, Diff: "file /w/a\n+ hi\n+ ho"},
		},
		"an MCP tool: its arguments are no command": {
			`{"toolCallId":"t","name":"mcp__other__run","title":"mcp__other__run","kind":"other","rawInput":{"command":"harmless","path":"/x","url":"http://x"}}`,
			Action{Type: "other", Title: "mcp__other__run", Server: "other", Tool: "run", Arguments: `{"command":"harmless","path":"/x","url":"http://x"}`, Rest: `{"command":"harmless","path":"/x","url":"http://x"}`},
		},
		"zed-codex-acp: a list of arguments": {
			`{"toolCallId":"t","title":"x","kind":"execute","rawInput":{"command":["/bin/bash","-lc","touch x"],"cwd":"/w"}}`,
			Action{Type: "execute", Title: "x", Command: "/bin/bash -lc 'touch x'", Paths: []string{"/w"}, Arguments: `{"command":["/bin/bash","-lc","touch x"],"cwd":"/w"}`},
		},
		"cline: a list of commands": {
			`{"toolCallId":"t","kind":"execute","rawInput":{"commands":["touch x"]}}`,
			Action{Type: "execute", Command: "touch x", Arguments: `{"commands":["touch x"]}`},
		},
		"copilot: a file and its diff": {
			`{"toolCallId":"t","kind":"edit","rawInput":{"fileName":"/w/a","diff":"+hello"},"locations":[{"path":"/w/b"}]}`,
			Action{Type: "edit", Paths: []string{"/w/a", "/w/b"}, Arguments: `{"fileName":"/w/a","diff":"+hello"}`, Rest: `{"diff":"+hello"}`},
		},
		"a fetch": {
			`{"toolCallId":"t","kind":"fetch","rawInput":{"url":"https://example.org/","prompt":"read"}}`,
			Action{Type: "fetch", Destination: "https://example.org/", Arguments: `{"url":"https://example.org/","prompt":"read"}`, Rest: `{"prompt":"read"}`},
		},
		"gemini: the arguments stand in the content alone": {
			`{"toolCallId":"t","status":"pending","title":"create_task_kandev (kandev MCP Server)","content":[{"type":"content","content":{"type":"text","text":"{\"title\":\"lab task\"}"}}],"locations":[],"kind":"other"}`,
			Action{Type: "other", Title: "create_task_kandev (kandev MCP Server)", Content: `{"title":"lab task"}`},
		},
	})
}

func TestActionsOfOddFrames(t *testing.T) {
	checkActions(t, map[string]actionCase{
		"two commands are both shown": {
			`{"toolCallId":"t","rawInput":{"command":"ls","cmd":"rm -rf /"}}`,
			Action{Command: "ls\nrm -rf /", Arguments: `{"command":"ls","cmd":"rm -rf /"}`},
		},
		"a key twice: both are shown": {
			`{"toolCallId":"t","rawInput":{"command":"ls","command":"rm"}}`,
			Action{Command: "ls\nrm", Arguments: `{"command":"ls","command":"rm"}`},
		},
		"an escaped key": {
			`{"toolCallId":"t","rawInput":{"comm\u0061nd":"rm"}}`,
			Action{Command: "rm", Arguments: `{"comm\u0061nd":"rm"}`},
		},
		"wrong types": {
			`{"toolCallId":"t","title":7,"kind":[],"rawInput":{"command":7,"url":{},"path":[1,"/a"]},"locations":{"path":"/x"},"content":"x"}`,
			Action{Paths: []string{"/a"}, Arguments: `{"command":7,"url":{},"path":[1,"/a"]}`, Rest: `{"command":7,"url":{},"path":[1,"/a"]}`},
		},
		"a command, and what else there is": {
			`{"toolCallId":"t","rawInput":{"command":"SELECT 1","sql":"DROP TABLE users","timeout":null}}`,
			Action{Command: "SELECT 1", Arguments: `{"command":"SELECT 1","sql":"DROP TABLE users","timeout":null}`, Rest: `{"sql":"DROP TABLE users"}`},
		},
		"a key that is nearly one that is known": {
			`{"toolCallId":"t","rawInput":{"Command":"rm -rf /","command":"ls"}}`,
			Action{Command: "ls", Arguments: `{"Command":"rm -rf /","command":"ls"}`, Rest: `{"Command":"rm -rf /"}`},
		},
		"a patch, and content of an unknown type": {
			`{"toolCallId":"t","content":[{"type":"diff","changes":[{"path":"/a"}],"patch":{"text":"@@\n+x"}},{"type":"content","content":{"type":"resource","uri":"x"}}]}`,
			Action{Paths: []string{"/a"}, Diff: "@@\n+x", Content: `{"type":"resource","uri":"x"}`},
		},
		"no input": {`{"toolCallId":"t","rawInput":null}`, Action{}},
		"input that is no object": {
			`{"toolCallId":"t","rawInput":["rm"]}`, Action{Arguments: `["rm"]`, Rest: `["rm"]`},
		},
	})
}

func checkActions(t *testing.T, cases map[string]actionCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, actionOf(t, test.call))
		})
	}
}

func TestActionsOfVersion2(t *testing.T) {
	v2 := `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","title":"x","description":"y","subject":%,"options":[{"optionId":"a"}]}}`
	a := actionOfLine(t, strings.Replace(v2, "%", `{"type":"tool_call","toolCall":{"toolCallId":"t","kind":"execute","rawInput":{"command":"ls"}}}`, 1))
	assert.Equal(t, Action{Prompt: "x", Description: "y", Type: "execute", Command: "ls", Arguments: `{"command":"ls"}`}, a)
	a = actionOfLine(t, strings.Replace(v2, "%", `{"type":"command","command":"make","args":["x"],"cwd":"/w","_meta":{"s":1}}`, 1))
	assert.Equal(t, Action{Prompt: "x", Description: "y", Type: "command", Command: "make x", Paths: []string{"/w"}}, a)
	a = actionOfLine(t, strings.Replace(v2, "%", `{"type":"network","host":"evil.example"}`, 1))
	assert.Equal(t, Action{Prompt: "x", Description: "y", Type: "network", Destination: "evil.example"}, a)
}

func TestTheTitleMayComeFromAnEarlierUpdate(t *testing.T) {
	d := acp.NewDecoder(acp.Options{})
	_, err := d.FromAgent([]byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"mcp.other.run","kind":"other"}}}`))
	require.NoError(t, err)
	m, err := d.FromAgent([]byte(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"a"}]}}`))
	require.NoError(t, err)
	assert.Equal(t, Action{Type: "other", Title: "mcp.other.run"}, offerAction(onDemand(m.Line)(), &m.Offer.Request, pipeline.Identity{}))
}

func TestLongTextsAreCutAndSaySo(t *testing.T) {
	long := strings.Repeat(`\u00e9`, 20<<10)
	a := actionOf(t, `{"toolCallId":"t","rawInput":{"command":"`+long+`; rm -rf /"}}`)
	assert.True(t, a.Cut)
	assert.LessOrEqual(t, len(a.Command), frame.MaxText)
	assert.True(t, strings.HasPrefix(a.Command, "éé"))
	assert.LessOrEqual(t, len(a.Arguments), maxArguments)
	assert.False(t, actionOf(t, `{"toolCallId":"t","rawInput":{"command":"ls"}}`).Cut)

	paths := strings.TrimSuffix(strings.Repeat(`{"path":"/%"},`, 20), ",")
	for n := range 20 {
		paths = strings.Replace(paths, "%", strings.Repeat("x", n+1), 1)
	}
	a = actionOf(t, `{"toolCallId":"t","locations":[`+paths+`]}`)
	assert.Len(t, a.Paths, MaxPaths)
	assert.Equal(t, 20-MaxPaths, a.MorePaths)
}

func TestL31_LongArgumentsAreReadInBoundedMemory(t *testing.T) {
	line := `{"toolCallId":"t","rawInput":{"content":"` + strings.Repeat("x", 12<<20) + `","command":"ls"}}`
	a := actionOf(t, line)
	assert.Equal(t, "ls", a.Command)
	assert.Len(t, a.Arguments, maxArguments)
}

func TestAnyLineCanBeRead(t *testing.T) {
	whole := `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[{"content":"x","status":"done"},7],"content":[{"type":"diff","path":"p","newText":"n"}],"toolCall":{"rawInput":{"command":["\ud83d\ude80"]}}}}}`
	rapid.Check(t, func(t *rapid.T) {
		line := []byte(whole)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
			line[at] = rapid.SampledFrom([]byte(`{}[]",:\u0x1`+"\xff")).Draw(t, "byte")
		}
		line = line[:rapid.IntRange(0, len(line)).Draw(t, "length")]
		v := Update{Line: line}.View()
		for _, s := range append([]string{v.Text, v.Kind, v.Action.Diff, v.Action.Command, v.Action.Arguments}, v.Action.Paths...) {
			if !utf8.ValidString(s) {
				t.Fatalf("%q", s)
			}
		}
		cancelledID(line)
	})
}

func TestViews(t *testing.T) {
	view := func(update string) View {
		return Update{Line: []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + update + `}}`)}.View()
	}
	assert.Equal(t, View{Session: "s", Kind: "tool_call", ToolCall: "t", Status: "pending", Action: Action{Title: "ls", Type: "execute", Command: "ls -l", Arguments: `{"command":"ls -l"}`}},
		view(`{"sessionUpdate":"tool_call","toolCallId":"t","title":"ls","kind":"execute","status":"pending","rawInput":{"command":"ls -l"}}`))
	assert.Equal(t, View{Session: "s", Kind: "agent_message_chunk", Text: "hi"}, view(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}`))
	assert.Equal(t, View{Session: "s", Kind: "plan", Plan: []frame.PlanEntry{{Text: "one", Status: "pending"}}}, view(`{"sessionUpdate":"plan","entries":[{"content":"one","status":"pending","priority":1}]}`))
	assert.Equal(t, View{}, Update{Line: []byte("{")}.View())
}

func TestAFrameIsReadOnce(t *testing.T) {
	read := onDemand([]byte(`{"params":{"toolCall":{"title":"x"}}}`))
	assert.Equal(t, "x", read().Title)
	assert.Same(t, read(), read())
}

func TestNobodyWatches(t *testing.T) {
	var w Watcher = nobody{}
	w.Updated(context.Background(), Update{})
	w.Decided(context.Background(), Decided{})
	w.Answered(context.Background(), Answered{})
}
