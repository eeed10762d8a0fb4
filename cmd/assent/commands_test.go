package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/console"
)

const (
	// offerFrame asks about a tool of the injected server.
	offerFrame = `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c\u001b","name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}`

	traffic = `{"header":{"agent":"claude-acp","port":41001}}
{"dir":"client->agent","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[{"type":"http","name":"kandev","url":"http://localhost:41001/mcp","headers":[{"name":"Authorization","value":"Bearer redacted"}]}]}}}
{"dir":"agent->client","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}
{"dir":"agent->client","frame":` + offerFrame + "}\n"

	explained = `    select by option: injected_mcp (tool list_tasks of server kandev)
      blanket      continue  no_blanket_approval
      identity     continue  qualified_name
      dialect      continue  claude_name_stands
      provenance   continue  server_is_injected
      option       select    injected_mcp
`
	replayed = `offer 1: select  option/injected_mcp  tool list_tasks of kandev  option "yes" (allow_once)  call "c\x1b"  id 7` + "\n"
	decision = `"id":7,"session":"s","tool_call":"c\u001b","verdict":"select","option":"yes","kind":"allow_once","stage":"option","reason":"injected_mcp","server":"kandev","tool":"list_tasks"`
)

// file is an input file with the given content.
func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// goodCase is a case file of one case.
var goodCase = `{"id":"one","why":"it is the host's own","instance":{"agent":"claude-acp","port":41001,"injected":true},` +
	`"lines":[{"dir":"agent->client","raw":` + strconv.Quote(offerFrame) + `}],"want":[{"id":7,"verdict":["select"],"option":"yes"}]}` + "\n"

// everyOutput is each command that prints something.
func everyOutput(t *testing.T) [][]string {
	t.Helper()
	return [][]string{
		{"run", "--demo", "--prompt", "plan"}, {"replay", file(t, traffic)}, {"check", file(t, goodCase)}, {"audit", auditFile(t)},
		{"version"}, {"--help"}, {"help", "run"},
	}
}

func TestReplayAndCheck(t *testing.T) {
	badCase := strings.Replace(goodCase, `["select"]`, `["pend","cancel"]`, 1)
	for name, test := range map[string]struct {
		args           []string
		input          string
		code           int
		stdout, stderr string // FILE stands for the input file's name
	}{
		"a recording": {[]string{"replay"}, traffic, console.ExitGood,
			replayed, ""},
		"a recording, explained": {[]string{"replay", "--explain"}, traffic, console.ExitGood,
			replayed + explained, ""},
		"a recording in JSON": {[]string{"replay", "--json"}, traffic, console.ExitGood, "{" + decision + `,"offer":1}` + "\n", ""},
		"a recording in JSON, explained": {[]string{"replay", "--json", "--explain", "--auto-approve"}, traffic, console.ExitGood,
			"{" + strings.NewReplacer(`"stage":"option"`, `"stage":"blanket"`, "injected_mcp", "blanket_approval", `"kandev"`, "null", `"list_tasks"`, "null").Replace(decision) +
				`,"offer":1,"trace":[{"stage":"blanket","verdict":"select","reason":"blanket_approval"}]}` + "\n", ""},
		"flags win over the header": {[]string{"replay", "--port", "41002"}, traffic, console.ExitGood,
			`offer 1: pend    pending/reserved_entry_address  tool list_tasks of kandev  call "c\x1b"  id 7` + "\n", ""},
		"an agent that nobody knows": {[]string{"replay", "--agent", "cladue-acp"}, traffic, console.ExitGood,
			replayed,
			`assent: replay: no dialect knows the agent "cladue-acp" (did you mean claude-acp?): it is asked about unless its requests name the tool` + "\n"},
		"a recording that is cut": {[]string{"replay"}, traffic[:len(traffic)-20], console.ExitUsage, "",
			`assent: replay: FILE:4: this line is cut in the middle: expected {"dir":"agent->client"|"client->agent","frame":{…}} or "raw":"…"` + "\n"},
		"offers are counted, whatever their ids": {[]string{"replay"}, traffic + `{"dir":"agent->client","frame":` + strings.Replace(offerFrame, `"id":7`, `"id":0`, 1) + "}\n",
			console.ExitGood, replayed + strings.NewReplacer("offer 1", "offer 2", "id 7", "id 0").Replace(replayed), ""},
		"no port": {[]string{"replay", "--port", "70000"}, traffic, console.ExitUsage, "", "assent: replay: --port 70000 is no port (use 1 to 65535)\n"},

		"a case": {[]string{"check"}, goodCase, console.ExitGood, "1 passed, 0 failed\n", ""},
		"a case that fails": {[]string{"check"}, goodCase + badCase, console.ExitFailed,
			`FAIL one: it is the host's own: verdict select, wanted ["pend","cancel"]` + "\n" + explained + "1 passed, 1 failed\n", "assent: check: 1 of 2 cases failed\n"},
		"a case in JSON": {[]string{"check", "--json"}, goodCase, console.ExitGood, `{"case":"one","ok":true,` + decision + "}\n1 passed, 0 failed\n", ""},
		"a case that fails, in JSON": {[]string{"check", "--json"}, badCase, console.ExitFailed,
			`{"case":"one","ok":false,"problem":"verdict select, wanted [\"pend\",\"cancel\"]",` + decision + "}\n0 passed, 1 failed\n", "assent: check: 1 of 1 cases failed\n"},
		"no case":        {[]string{"check"}, "\n", console.ExitUsage, "", "assent: check: there is no case in the given files\n"},
		"a case of none": {[]string{"check"}, "[]", console.ExitUsage, "", `assent: check: FILE:1: this line is no JSON object of the expected form: expected {"id":"…","instance":{…},"lines":[…],"want":[…]}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			input := file(t, test.input)
			code, stdout, stderr := runIt(t, append(test.args, input)...)
			assert.Equal(t, test.code, code)
			assert.Equal(t, test.stdout, stdout)
			assert.Equal(t, test.stderr, strings.ReplaceAll(stderr, input, "FILE"))
		})
	}
}

func TestAFileThatIsNotThere(t *testing.T) {
	for _, command := range []string{"replay", "check"} {
		code, stdout, stderr := runIt(t, command, "/assent/no/such/file")
		assert.Equal(t, console.ExitUsage, code)
		assert.Empty(t, stdout)
		assert.Equal(t, "assent: "+command+": /assent/no/such/file: no such file or directory\n", stderr)
	}
}

func TestVersion(t *testing.T) {
	code, stdout, stderr := runIt(t, "version")
	assert.Zero(t, code)
	assert.Empty(t, stderr)
	assert.Regexp(t, `^assent \S+\ncommit \S+\n`+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH+"\n", stdout)
	for _, tested := range dialects.Tested() {
		assert.Contains(t, stdout, tested.Package+" "+tested.Version+"\n")
	}
}

// What people type first means what they expect.
func TestHelpAndVersionInEveryForm(t *testing.T) {
	_, help, _ := runIt(t, "--help")
	require.Contains(t, help, "Usage: assent <command> [flags]")
	_, helpRun, _ := runIt(t, "run", "--help")
	_, version, _ := runIt(t, "version")
	for args, want := range map[string]string{
		"help": help, "-h": help, "help run": helpRun, "run -h": helpRun, "help --log-level debug run": helpRun, "--version": version,
	} {
		code, stdout, stderr := runIt(t, strings.Fields(args)...)
		assert.Zero(t, code, args)
		assert.Equal(t, want, stdout, args)
		assert.Empty(t, stderr, args)
	}
	code, stdout, stderr := runIt(t)
	assert.Equal(t, console.ExitUsage, code, "nothing was asked for")
	assert.Empty(t, stdout)
	assert.Equal(t, help, stderr)
}

func TestEveryHelpHasAnExample(t *testing.T) {
	for _, command := range []string{"run", "serve", "token", "replay", "check", "audit", "version"} {
		code, stdout, _ := runIt(t, command, "--help")
		assert.Zero(t, code)
		assert.Regexp(t, `Examples?:\s+assent `+command, stdout)
	}
}
