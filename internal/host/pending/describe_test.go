package pending

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
)

const optionsJSON = `"options":[{"optionId":"a","name":"Yes","kind":"allow_once"},{"optionId":"r","name":"No","kind":"reject_once"}]`

// lineOf is a permission request of protocol version 1 with this tool call.
func lineOf(toolCall string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c",` +
		toolCall + `},` + optionsJSON + `}}`
}

// The shapes are those of recorded agents.
func TestActionOfAgents(t *testing.T) {
	for name, test := range map[string]struct {
		toolCall string
		want     Action
	}{
		"Claude, a command": {
			`"name":"Bash","rawInput":{"command":"touch made","description":"touch a file"},"title":"touch made","kind":"execute","locations":[{"path":"/w/made"}]`,
			Action{Type: "execute", Command: "touch made", Path: "/w/made"},
		},
		"Claude, a file": {
			`"rawInput":{"file_path":"/w/x.txt","content":"hi\n"},"title":"Write x.txt","kind":"edit","content":[{"type":"diff","path":"/w/x.txt","oldText":null,"newText":"hi\n"}],"locations":[{"path":"/w/x.txt"}]`,
			Action{Type: "edit", Path: "/w/x.txt"},
		},
		"Claude, without locations": {
			`"rawInput":{"file_path":"/w/x.txt","content":"hi\n"},"title":"Write /w/x.txt","kind":"edit"`,
			Action{Type: "edit", Path: "/w/x.txt"},
		},
		"Claude, no kind": {`"title":"touch made","rawInput":{"command":"touch made"}`, Action{Command: "touch made"}},
		"Codex, words and a shell": {
			`"title":"touch x && id -u","kind":"execute","rawInput":{"command":["/bin/bash","-lc","touch x && id -u"],"cwd":"/w"}`,
			Action{Type: "execute", Command: "/bin/bash -lc 'touch x && id -u'", Path: "/w"},
		},
		"Codex, an elicitation": {
			`"title":"MCP tool call approval","kind":"execute","rawInput":{"serverName":"kandev","description":"Allow it?"}`,
			Action{Type: "execute", Title: "MCP tool call approval"},
		},
		"Copilot, a title that lies": {
			`"title":"create_task_kandev","kind":"execute","rawInput":{"command":"touch proof","commands":["touch proof"]}`,
			Action{Type: "execute", Command: "touch proof"},
		},
		"Copilot, a file": {
			`"title":"Create file","kind":"edit","rawInput":{"fileName":"/w/x.txt","diff":"x"}`,
			Action{Type: "edit", Path: "/w/x.txt"},
		},
		"Cline, several commands": {
			`"title":"run_commands: touch a","kind":"execute","rawInput":{"commands":["touch a","touch b"]}`,
			Action{Type: "execute", Command: "touch a; touch b"},
		},
		"Cline, arguments in the title": {`"title":"kandev__create_task: {\"title\":\"x\"}","kind":"other","rawInput":{"title":"x"}`, Action{Type: "other", Title: "kandev__create_task: …"}},
		"Qwen, the title is JSON":       {`"title":"{\"title\":\"lab task\"}","kind":"other","rawInput":{"title":"lab task"}`, Action{Type: "other"}},
		"Qwen, more in the title":       {`"title":"touch x (touch a file)","kind":"execute","rawInput":{"command":"touch x"}`, Action{Type: "execute", Command: "touch x"}},
		"OpenCode, a flat name":         {`"title":"kandev_list_tasks","kind":"other","rawInput":{"secret":"x"},"locations":[]`, Action{Type: "other", Title: "kandev_list_tasks"}},
		"OpenCode, a directory": {
			`"title":"id -u","kind":"other","rawInput":{"command":"id -u"},"locations":[{"path":"/usr"}]`,
			Action{Type: "other", Command: "id -u", Path: "/usr"},
		},
		"OpenCode, a fetch":    {`"title":"http://127.0.0.1:9/x","kind":"fetch","rawInput":{"url":"http://127.0.0.1:9/x?token=abc"}`, Action{Type: "fetch", Destination: "http://127.0.0.1:9/x?token=[hidden:3]"}},
		"Gemini, no arguments": {`"title":"touch x","kind":"execute","content":[]`, Action{Type: "execute", Command: "touch x"}},
		"Gemini, a server":     {`"title":"list_tasks (kandev MCP Server)","kind":"other"`, Action{Type: "other", Title: "list_tasks (kandev MCP Server)"}},

		"a secret in a title":      {`"title":"use ghp_0123456789abcdefghij","kind":"other"`, Action{Type: "other", Title: "use [hidden:24]"}},
		"a move":                   {`"kind":"move","rawInput":{"path":"/a","destination":"/b"}`, Action{Type: "move", Path: "/a", Destination: "/b"}},
		"several files":            {`"kind":"edit","content":[{"type":"diff","path":"/a","newText":""}],"locations":[{"path":"/a"},{"path":"/b"}]`, Action{Type: "edit", Path: "/a, /b"}},
		"nothing":                  {`"status":"pending"`, Action{}},
		"a kind of its own":        {`"kind":"write_\u202e token=abc"`, Action{Type: `write_\u202e token=[hidden:3]`}},
		"a title of another type":  {`"kind":"execute","title":7,"rawInput":"ls"`, Action{Type: "execute"}},
		"an escaped key":           {`"kind":"execute","rawInput":{"c\u006fmmand":"ls"}`, Action{Type: "execute", Command: "ls"}},
		"a command twice":          {`"kind":"execute","rawInput":{"command":"ls","command":"rm -rf x"}`, Action{Type: "execute", Command: "ls; rm -rf x"}},
		"a command of other types": {`"kind":"execute","title":"ls","rawInput":{"command":7,"commands":{}}`, Action{Type: "execute", Title: "ls"}},
		"control characters":       {`"kind":"execute","rawInput":{"command":"ls\u001b[2J\n\u202erm"}`, Action{Type: "execute", Command: `ls\x1b[2J\n\u202erm`}},
		"bad text in arguments":    {`"kind":"execute","rawInput":{"command":"ls \ud800 x"}`, Action{Type: "execute", Command: "ls \ufffd x"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := newStore(t), &wire{}
			key := register(t, s, decodedOffer(t, lineOf(test.toolCall), w))
			got, err := s.Get(key)
			assert.NoError(t, err)
			assert.Equal(t, test.want, got.Action)
		})
	}
}

// Of a tool that the pipeline knows exactly its name is shown, and nothing that
// the model wrote.
func TestActionOfANamedTool(t *testing.T) {
	s, w := newStore(t), &wire{}
	o := decodedOffer(t, lineOf(`"title":"ls","kind":"execute","rawInput":{"command":"ls"},"locations":[{"path":"/w"}]`), w)
	id, _ := pipeline.NewIdentity(pipeline.ClaimName("mcp__docs__get_page"))
	o.Result.Facts.Identity = id
	register(t, s, o)
	assert.Equal(t, Action{Type: "execute", Server: "docs", Tool: "get_page"}, s.List(Query{})[0].Action)
}

func TestActionWithoutALine(t *testing.T) {
	s, w := newStore(t), &wire{}
	register(t, s, offer("i", "s", "1", w))
	assert.Equal(t, Action{Type: "execute", Command: "ls -la"}, s.List(Query{})[0].Action)
}

func TestActionOfVersion2(t *testing.T) {
	for name, test := range map[string]struct {
		params string
		want   Action
	}{
		"a tool call": {
			`"title":"the prompt","subject":{"type":"tool_call","toolCall":{"toolCallId":"c","title":"t","kind":"edit","content":[{"type":"diff","changes":[{"operation":"add","path":"/w/x"}],"patch":{"format":"git_patch","text":"p"}}]}}`,
			Action{Type: "edit", Path: "/w/x"},
		},
		"a command":         {`"title":"Run a command","subject":{"type":"command","command":"ls","args":["-l"],"cwd":"/w","_meta":{}}`, Action{Type: "command", Command: "ls -l", Path: "/w"}},
		"without a type":    {`"title":"Something","subject":{}`, Action{Title: "Something"}},
		"a title with data": {`"title":"run {\"a\":1}","subject":{"type":"command"}`, Action{Type: "command"}},
		"an address":        {`"title":"Connect?","subject":{"type":"network","host":"evil.example"}`, Action{Type: "network", Destination: "evil.example"}},
		"only words":        {`"title":"Go on","description":"It needs more memory, is that right?","subject":{"type":"memory","n":1}`, Action{Type: "memory", Title: "Go on", Description: "It needs more memory, is that right?"}},
		"words with data":   {`"title":"Go on","description":"{\"n\":1}","subject":{"type":"memory"}`, Action{Type: "memory", Title: "Go on"}},
		"a call without a title": {
			`"title":"Run it","description":"the build","subject":{"type":"tool_call","toolCall":{"toolCallId":"c","kind":"execute"}}`,
			Action{Type: "execute", Title: "Run it", Description: "the build"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := newStore(t), &wire{}
			line := `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s",` + test.params + `,` + optionsJSON + `}}`
			register(t, s, decodedOffer(t, line, w))
			assert.Equal(t, test.want, s.List(Query{})[0].Action)
		})
	}
}

// A command that is too long to be a title's is still shown, cut.
func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("word ", 1<<18)
	for _, field := range []string{`"title":%q`, `"rawInput":{"command":%q}`, `"locations":[{"path":%q}]`} {
		s, w := newStore(t), &wire{}
		register(t, s, decodedOffer(t, lineOf(`"kind":"execute",`+fmt.Sprintf(field, long)), w))
		got := s.List(Query{})[0].Action
		assert.True(t, strings.HasPrefix(got.Command+got.Path, "word word"))
		assert.True(t, strings.HasSuffix(got.Command+got.Path, "…"))
		assert.LessOrEqual(t, len(got.Command), maxCommand)
		assert.LessOrEqual(t, len(got.Path), maxPath)
	}
}

// A line that does not fit its request does no harm.
func TestBrokenLines(t *testing.T) {
	good := lineOf(`"kind":"execute","rawInput":{"command":"ls"},"content":[{"type":"diff"}]`)
	for cut := range len(good) {
		s, w := newStore(t), &wire{}
		o := offer("i", "s", "1", w)
		o.Frame = read(good[:cut])
		key := register(t, s, o)
		assert.Equal(t, "execute", s.List(Query{})[0].Action.Type)
		_, err := s.Detail(key)
		assert.NoError(t, err)
	}
	for _, line := range []string{"null", "[]", `{"params":7}`, `{"params":{"toolCall":[]}}`, `{"params":{"subject":{"type":"tool_call"}}}`, "\xff"} {
		s, w := newStore(t), &wire{}
		o := offer("i", "s", "1", w)
		o.Frame = read(line)
		register(t, s, o)
	}
}
