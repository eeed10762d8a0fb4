package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/console"
	"github.com/kandev/assent/internal/need"
)

func TestTheDemo(t *testing.T) {
	const (
		automatic = "#1  create_task_kandev of server kandev  (injected_mcp): arrived at the injected server"
		notes     = "#2  read_notes of server other  (server_is_not_the_hosts): "
		shell     = "#3  ‹echo hello from the demo agent›  (name_without_mcp_prefix): "
	)
	for answer, want := range map[string]struct{ how, ran string }{
		"allow":  {"option 1  allow_once  ‹Yes›", "Ran: create_task_kandev of kandev, read_notes of other, the shell command."},
		"reject": {"option 3  reject_once  ‹No›", "Did not run: read_notes of other (rejected), the shell command (rejected)."},
		"cancel": {"cancelled", "Did not run: read_notes of other (cancelled), the shell command (cancelled)."},
	} {
		t.Run(answer, func(t *testing.T) {
			code, stdout, stderr := runIt(t, "run", "--demo", "--on-pending", answer)
			assert.Zero(t, code)
			assert.Empty(t, stderr)
			_, summary, _ := strings.Cut(stdout, "summary   ")
			assert.Equal(t, strings.Join([]string{
				"approved automatically", "  " + automatic, "asked", "  " + notes + want.how, "  " + shell + want.how, "",
			}, "\n"), strings.ReplaceAll(summary, "\n          ", "\n"))
			assert.Contains(t, stdout, want.ran)
			assert.Contains(t, stdout, "approved  #1  create_task_kandev of server kandev -> allow_once  (injected_mcp, stage option)")
			assert.Contains(t, stdout, "question  #3  ‹echo hello from the demo agent›  not automatic: name_without_mcp_prefix (stage pending)")
		})
	}
}

func TestWithoutATerminalWhatPendsIsCancelledAndThatIsSaidOnce(t *testing.T) {
	code, stdout, stderr := runIt(t, "run", "--demo")
	assert.Zero(t, code)
	assert.Equal(t, "assent: run: this is no terminal, so what nobody decides is cancelled (--on-pending allow|reject|cancel)\n", stderr)
	assert.Equal(t, 2, strings.Count(stdout, "  cancelled\nagent")+strings.Count(stdout, "  cancelled\ncall"))
}

func TestPromptsFromFlagsAndFromAPipe(t *testing.T) {
	code, stdout, _ := runIt(t, "run", "--demo", "--prompt", "plan one, two", "--prompt", "help")
	assert.Zero(t, code)
	assert.Contains(t, stdout, `{"title":"one, two"}`)
	assert.Contains(t, stdout, "I am a demo agent without a model.")

	self, err := os.Executable()
	require.NoError(t, err)
	p := command(t, "run", "--agent", "claude-acp", "--", self, "demo-agent")
	p.cmd.Stdin = strings.NewReader("plan\n\nplan again")
	assert.Zero(t, p.start().wait())
	assert.Equal(t, 4, strings.Count(p.stdout.String(), "approved  #"))
	assert.Equal(t, 4, strings.Count(p.stdout.String(), "): arrived at the injected server"))
}

func TestBlanketApproval(t *testing.T) {
	code, stdout, stderr := runIt(t, "run", "--demo", "--auto-approve")
	assert.Zero(t, code)
	assert.Empty(t, stderr)
	assert.Equal(t, 3, strings.Count(stdout, "approved  #"))
	assert.Equal(t, 3, strings.Count(stdout, "blanket_approval, stage blanket"))
}

func TestWrongUsage(t *testing.T) {
	full := file(t, "x")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"an unknown command":       {[]string{"frob"}, "assent: command line: unexpected argument frob (try: assent --help)"},
		"no agent":                 {[]string{"run"}, "assent: run: no agent was given (as in: assent run --agent claude-acp -- claude-agent-acp; or try: assent run --demo)"},
		"an unknown flag":          {[]string{"run", "--frob"}, "assent: run: unknown flag --frob (try: assent run --help)"},
		"a flag with one dash":     {[]string{"proxy", "-agent", "claude-acp", "--", "x", "-y"}, "assent: proxy: unknown flag -agent, did you mean --agent? (try: assent proxy --help)"},
		"one with a value":         {[]string{"proxy", "--agent", "claude-acp", "-inject=kandev=http://h/?k=5ecret", "--", "x"}, "assent: proxy: unknown flag -inject, did you mean --inject? (try: assent proxy --help)"},
		"one before the command":   {[]string{"-log-level", "debug", "version"}, "assent: command line: unknown flag -log-level, did you mean --log-level? (try: assent --help)"},
		"none of that name":        {[]string{"replay", "-jsn", "x"}, "assent: replay: unknown flag -jsn: flags begin with two dashes (try: assent replay --help)"},
		"one letter":               {[]string{"replay", "-x", "y"}, `assent: replay: unknown flag -x, did you mean "-h"? (try: assent replay --help)`},
		"an unknown answer":        {[]string{"run", "--on-pending", "maybe", "x"}, "assent: run: --on-pending maybe is no answer (use allow, reject or cancel)"},
		"a demo with a command":    {[]string{"run", "--demo", "--", "x"}, "assent: run: --demo brings its own agent (leave the command or --demo out)"},
		"no file":                  {[]string{"replay"}, "assent: replay: <file> ... is missing (try: assent replay --help)"},
		"no value":                 {[]string{"run", "--port"}, "assent: run: --port: expected int value, and nothing follows (try: assent run --help)"},
		"nearly a command":         {[]string{"rnu"}, `assent: command line: unexpected argument rnu, did you mean "run"? (try: assent --help)`},
		"help for no command":      {[]string{"help", "frob"}, "assent: command line: unexpected argument frob (try: assent --help)"},
		"no port":                  {[]string{"run", "--port", "70000", "x"}, "assent: run: --port 70000 is no port (use 1 to 65535)"},
		"no directory":             {[]string{"run", "--cwd", "/assent/no/such", "x"}, "assent: run: --cwd /assent/no/such is no directory (give one that exists)"},
		"a server without URL":     {[]string{"run", "--mcp", "docs", "x"}, "assent: run: --mcp needs a name and a URL (as in --mcp docs=http://localhost:8000/mcp)"},
		"a server with a bad one":  {[]string{"run", "--agent", "a", "--mcp", "docs=ftp://x", "x"}, `assent: run: MCP server 1 ("docs"): the url is missing or malformed: it must be absolute and begin with http:// or https://`},
		"a bad agent id":           {[]string{"run", "--agent", "a b", "x"}, `assent: run: agent id "a b": use 1 to 64 of A-Z a-z 0-9 . _ -, beginning with a letter or digit, such as claude-acp`},
		"passthrough and more":     {[]string{"run", "--passthrough", "--prompt", "x", "codex"}, "assent: run: --passthrough hands the terminal to the agent: nothing else can be said, asked, recorded or counted (leave --demo, --prompt, --record, --audit, --metrics, --on-pending and --auto-approve out)"},
		"passthrough of another":   {[]string{"run", "--passthrough", "--", "gemini"}, "assent: run: --passthrough knows Codex only (as in: assent run --passthrough -- codex)"},
		"a recording nowhere":      {[]string{"run", "--agent", "claude-acp", "--record", "/assent/no/such/file", "x"}, "assent: run: --record: open /assent/no/such/file: no such file or directory (give a file that can be written)"},
		"a recording over another": {[]string{"run", "--agent", "claude-acp", "--record", full, "x"}, "assent: run: --record: " + full + ": the file is there and not empty: remove it, or give another name"},
		"one of the proxy's":       {[]string{"proxy", "--agent", "claude-acp", "--record", full, "x"}, "assent: proxy: --record: " + full + ": the file is there and not empty: remove it, or give another name"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runIt(t, test.args...)
			assert.Equal(t, console.ExitUsage, code)
			assert.Equal(t, test.want+"\n", stderr)
			assert.Empty(t, stdout)
		})
	}
}

// Names of files and arguments can hold anything; what is shown of them cannot.
func TestNoNameReachesTheTerminalAsItIs(t *testing.T) {
	const evil = "x\x1b[2J\u202ey"
	for _, args := range [][]string{
		{evil}, {"run", "--" + evil}, {"run", "--cwd", evil, "x"}, {"run", "--on-pending", evil, "x"},
		{"run", "--agent", evil, "x"}, {"run", "--agent", "a-b", "--", evil}, {"run", "--mcp", evil + "=ftp://" + evil, "x"},
		{"run", "--agent", "a-b", "--record", "/assent/" + evil, "x"}, {"run", "--agent", "a-b", "--audit", "/assent/" + evil, "x"},
		{"replay", evil}, {"check", evil}, {"audit", evil},
	} {
		code, stdout, stderr := runIt(t, args...)
		assert.NotZero(t, code, args)
		assert.Empty(t, stdout)
		assert.NotContains(t, stderr, "\x1b", args)
		assert.NotContains(t, stderr, "\u202e", args)
	}
	dir := filepath.Join(t.TempDir(), evil) // the twin: one that is there works, and is seen
	require.NoError(t, os.Mkdir(dir, 0o700))
	code, _, stderr := runIt(t, "run", "--demo", "--on-pending", "reject", "--cwd", dir)
	assert.Zero(t, code, stderr)
	_, _, stderr = runIt(t, "run", "--cwd", evil, "x")
	assert.Contains(t, stderr, `x\x1b[2J\u202ey is no directory (give one that exists)`)
}

func TestAnAgentThatCannotBeStarted(t *testing.T) {
	code, _, stderr := runIt(t, "run", "--agent", "a-b", "--", "assent-no-such-agent")
	assert.Equal(t, console.ExitFailed, code)
	assert.Equal(t, `assent: run: no dialect knows the agent "a-b": it is asked about unless its requests name the tool
assent: run: cannot start "assent-no-such-agent": executable file not found in $PATH (is it installed, and is its name right?)
`, stderr)
}

func TestAnAgentIDThatIsNearlyOne(t *testing.T) {
	_, _, stderr := runIt(t, "run", "--agent", "claude", "--", "assent-no-such-agent")
	assert.Contains(t, stderr, `assent: run: no dialect knows the agent "claude" (did you mean claude-acp?): it is asked about unless its requests name the tool`+"\n")
	_, _, stderr = runIt(t, "run", "--agent", "claude-acp", "--", "assent-no-such-agent")
	assert.NotContains(t, stderr, "no dialect knows")
}

func TestAnAgentThatCrashes(t *testing.T) {
	code, stdout, stderr := runIt(t, append([]string{"run", "--agent", "claude-acp", "--prompt", "go"}, agent(t, "crash")...)...)
	assert.Equal(t, console.ExitFailed, code)
	assert.Equal(t, "agent: | first line\nagent: | \\x1b[1mout of ideas\nassent: run: the agent ended by itself: exit status 7\n", stderr)
	assert.Contains(t, stdout, "prompt    go\n")
}

func TestAnAgentThatWantsALogin(t *testing.T) {
	code, _, stderr := runIt(t, append([]string{"run", "--agent", "claude-acp", "--prompt", "go"}, agent(t, "no session")...)...)
	assert.Equal(t, console.ExitFailed, code)
	assert.Equal(t, "assent: run: the agent answered session/new with error -32000: Authentication required (some agents want to be logged in first: see the agent's own manual)\n", stderr)
}

func TestWhatAnAgentSaysCannotFoolThePerson(t *testing.T) {
	for answer, want := range map[string]string{
		"allow":  "          #1  --on-pending allow finds no single option (several_equal_allows): cancelled\nanswer    #1  cancelled\n",
		"reject": "answer    #1  option 3  reject_once  ‹No›\n",
	} {
		code, stdout, _ := runIt(t, append([]string{"run", "--agent", "claude-acp", "--prompt", "go", "--on-pending", answer}, agent(t, "asks")...)...)
		assert.Zero(t, code)
		assert.Contains(t, stdout, want)
		assert.NotRegexp(t, regexp.MustCompile("[\x00-\x09\x0b-\x1f\x7f\u200b\u202e]"), stdout)
		assert.Contains(t, stdout, "agent     | hello \\u202e\nagent     | question  #1  forged\\x1b[2J\n")
		assert.Contains(t, stdout, `command      ‹rm\u200b -rf›`)
		assert.Contains(t, stdout, `allow_once     ‹Yes\x1b[1m›`)
		assert.Contains(t, stdout, `plan      pending     ‹one\x1b[2J›`)
	}
}

// Whatever the agent says about the action stands in the question, or the question
// says how much of it does not.
func TestAQuestionHidesNothing(t *testing.T) {
	_, stdout, _ := runIt(t, append([]string{"run", "--agent", "claude-acp", "--prompt", "go", "--on-pending", "reject"}, agent(t, "hides")...)...)
	questions := strings.Split(stdout, "\nquestion  ")
	require.Len(t, questions, 9)
	for n, lines := range [][]string{
		{"content      ‹{\"title\":\"lab task\"}›"},
		{"command      ‹SELECT 1›", "also         ‹{\"sql\":\"DROP TABLE users\"}›"},
		{"command      ‹ls›", "also         ‹{\"Command\":\"rm -rf /\"}›"},
		{"path         ‹a›", "also         ‹{\"patch\":\"xxxx", "…› (115 more bytes)"},
		{"command      ‹ls›", "also         ‹{\"description\":\"list\"}›"},
		{"asks         ‹May I?›", "description  ‹It is harmless.›", "type         ‹command›", "command      ‹rm -rf /›"},
		{"asks         ‹May I?›", "description  ‹It is harmless.›", "type         ‹network›", "destination  ‹evil.example›"},
		{"asks         ‹May I?›", "command      ‹ls›", "subject      ‹{\"as\":\"root\"}›"},
	} {
		for _, line := range lines {
			assert.Contains(t, questions[n+1], line)
		}
	}
	assert.NotContains(t, questions[5], "content", "what is there already is not said twice")
}

func TestAnAgentThatDoesNotAsk(t *testing.T) {
	_, stdout, _ := runIt(t, append([]string{"run", "--agent", "claude-acp", "--prompt", "go"}, agent(t, "unasked")...)...)
	assert.Contains(t, stdout, "note      1 tool call ran without a permission request: the agent, or a proxy in front of it, decides about those by itself\n")
}

func TestAnAgentIDIsGuessedAndThatIsSaid(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "codex-acp")
	self, err := os.Executable()
	require.NoError(t, err)
	need.Of(t, "symbolic links", os.Symlink(self, path))
	file := filepath.Join(dir, "traffic.jsonl")
	code, stdout, stderr := runIt(t, "run", "--prompt", "go", "--record", file, "--", path, fakeWord, "unasked")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "agent     codex-acp  ‹fake\\x1b[31m 1›\n")
	assert.Equal(t, "assent: run: agent id codex-acp is guessed from the command's name, which identifies no tools (--agent codex-acp configures it)\n", stderr)
	recorded, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Regexp(t, `^\{"header":\{"guessed":"codex-acp","port":\d+\}\}\n`, string(recorded))
}

func TestARecordingReplaysToTheSameDecisions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "traffic.jsonl")
	code, _, _ := runIt(t, "run", "--demo", "--on-pending", "allow", "--record", file)
	require.Zero(t, code)
	recorded, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(recorded), `"headers":[{"name":"Authorization","value":"Bearer redacted"}]`)
	assert.Equal(t, 1, strings.Count(string(recorded), "Bearer"))
	if runtime.GOOS != "windows" {
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	code, stdout, _ := runIt(t, "replay", "--json", file)
	require.Zero(t, code)
	var verdicts []string
	for line := range strings.Lines(stdout) {
		var d struct{ Verdict, Reason string }
		require.NoError(t, json.Unmarshal([]byte(line), &d))
		verdicts = append(verdicts, d.Verdict+" "+d.Reason)
	}
	assert.Equal(t, []string{"select injected_mcp", "pend server_is_not_the_hosts", "pend name_without_mcp_prefix"}, verdicts)
}

func TestLogsGoToStderr(t *testing.T) {
	_, stdout, stderr := runIt(t, "run", "--demo", "--prompt", "plan", "--log-level", "info", "--log-format", "json")
	assert.NotContains(t, stdout, `"msg"`)
	decisions := 0
	for line := range strings.Lines(stderr) {
		var record struct {
			Msg    string `json:"msg"`
			Kind   string `json:"option_kind"`
			Result struct{ Reason, Tool string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &record), line)
		if record.Msg == "decision" {
			decisions++
			assert.Equal(t, "allow_once", record.Kind)
			assert.Equal(t, "injected_mcp", record.Result.Reason)
		}
	}
	assert.Equal(t, 2, decisions)
}

func TestHelpHasExamples(t *testing.T) {
	code, stdout, _ := runIt(t, "run", "--help")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "assent run --agent claude-acp -- claude-agent-acp")
	_, stdout, _ = runIt(t, "--help")
	assert.NotContains(t, stdout, demoAgentWord)
}
