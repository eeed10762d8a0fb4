package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// mainVariable makes the test binary the program itself.
const mainVariable = "ASSENT_TEST_MAIN"

// fakeWord makes it one of the agents below.
const fakeWord = "fake-agent"

func TestMain(m *testing.M) {
	switch {
	case strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "codex":
		fakeCodex()
	case len(os.Args) > 2 && os.Args[1] == fakeWord:
		play := fakeAgents[os.Args[2]]
		if play == nil {
			play = hostileAgents[os.Args[2]]
		}
		play(bufio.NewReader(os.Stdin))
	case os.Getenv(mainVariable) != "":
		main()
	default:
		goleak.VerifyTestMain(m)
	}
}

// patience is how long a test waits for what has to come.
const patience = 30 * time.Second

// program is a running assent.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout *output
	stderr *output
	shown  chan struct{} // closed when a terminal has everything; nil without one
}

// command prepares the program with the given arguments.
func command(t *testing.T, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p := &program{t: t, cmd: exec.Command(self, args...), stdout: newOutput(), stderr: newOutput()}
	p.cmd.Env = append(os.Environ(), mainVariable+"=1", "GORACE=atexit_sleep_ms=0")
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	p.cmd.Dir = t.TempDir()
	t.Cleanup(func() {
		if p.cmd.Process != nil && p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	})
	return p
}

// agent is the command line of a fake agent.
func agent(t *testing.T, name string) []string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return []string{"--", self, fakeWord, name}
}

func (p *program) start() *program {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Start())
	return p
}

// wait gives the exit code.
func (p *program) wait() int {
	p.t.Helper()
	timer := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// runIt runs the program to its end.
func runIt(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := command(t, args...).start()
	code = p.wait()
	return code, p.stdout.String(), p.stderr.String()
}

// output keeps what a program writes, and lets a test wait for it.
type output struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	more chan struct{}
}

func newOutput() *output { return &output{more: make(chan struct{}, 1)} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(p)
	select {
	case o.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// until waits until the text is there.
func (o *output) until(t *testing.T, text string) { t.Helper(); o.times(t, 1, text) }

// times waits until the text is there so many times.
func (o *output) times(t *testing.T, n int, text string) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for strings.Count(o.String(), text) < n {
		select {
		case <-o.more:
		case <-timer.C:
			require.FailNow(t, "it did not come: "+text, o.String())
		}
	}
}

// fakeAgents are scripts; one that returns exits with status 0.
var fakeAgents = map[string]func(*bufio.Reader){
	"crash": func(in *bufio.Reader) {
		talk(in, func(string) bool {
			fmt.Fprintln(os.Stderr, "first line\n\x1b[1mout of ideas")
			os.Exit(7)
			return false
		})
	},
	"no session": func(in *bufio.Reader) {
		fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}}}}`)
		skip(in, 2)
		fmt.Println(`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}`)
		skip(in, 1)
	},
	"asks": func(in *bufio.Reader) { talk(in, asks) },
	"waits": func(in *bufio.Reader) {
		talk(in, func(id string) bool {
			say("working")
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return false
				}
				if strings.Contains(line, "session/cancel") {
					fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`+"\n", id)
					return false
				}
			}
		})
	},
	"deaf": func(in *bufio.Reader) {
		talk(in, func(string) bool { say("working"); _, _ = io.Copy(io.Discard, in); return false })
	},
	"unasked": func(in *bufio.Reader) {
		talk(in, func(string) bool {
			update(`{"sessionUpdate":"tool_call","toolCallId":"t","title":"rm","kind":"execute","status":"completed"}`)
			return true
		})
	},
}

func skip(in *bufio.Reader, lines int) {
	for range lines {
		_, _ = in.ReadString('\n')
	}
}

// talk shakes hands and answers prompts; turn says whether the turn is over.
func talk(in *bufio.Reader, turn func(id string) bool) {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var got struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal([]byte(line), &got)
		result := ""
		switch got.Method {
		case "initialize":
			result = `{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"agentInfo":{"name":"fake\u001b[31m","version":"1"}}`
		case "session/new":
			result = `{"sessionId":"s"}`
		case "session/prompt":
			if turn(string(got.ID)) {
				result = `{"stopReason":"end_turn"}`
			}
		default:
			say(strings.TrimSpace(line))
		}
		if result != "" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", got.ID, result)
		}
	}
}

func update(u string) {
	fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}`+"\n", u)
}

func say(text string) {
	quoted, _ := json.Marshal(text)
	update(fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, quoted))
}

// asks sends an offer with twin allows and hostile texts.
func asks(string) bool {
	update(`{"sessionUpdate":"plan","entries":[{"content":"one\u001b[2J","status":"pending"}]}`)
	say("hello \u202e\nquestion  #1  forged\x1b[2J")
	fmt.Println(`{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t\u0007","title":"rm\u001b]0;x\u0007","kind":"execute","rawInput":{"command":"rm\u200b -rf"}},"options":[` +
		`{"optionId":"1","name":"Yes\u001b[1m","kind":"allow_once"},{"optionId":"2","name":"Yes too","kind":"allow_once"},{"optionId":"3","name":"No","kind":"reject_once"}]}}`)
	return true
}

// fakeCodex writes what it was given to the file that CODEX_OUT names, after it
// has listed the injected server's tools with the secret from its environment.
func fakeCodex() {
	url := ""
	for _, arg := range os.Args[1:] {
		if rest, ok := strings.CutPrefix(arg, "mcp_servers.kandev.url="); ok {
			url = strings.Trim(rest, `"`)
		}
	}
	req, _ := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	req.Header.Set("Authorization", "Bearer "+os.Getenv("ASSENT_MCP_TOKEN"))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	status := "unreachable"
	if response, err := http.DefaultClient.Do(req); err == nil {
		status = response.Status
	}
	seen, _ := json.Marshal(map[string]any{"args": os.Args[1:], "status": status, "token": os.Getenv("ASSENT_MCP_TOKEN")})
	_ = os.WriteFile(os.Getenv("CODEX_OUT"), seen, 0o600)
	if path := os.Getenv("CODEX_STAYS"); path != "" {
		pipe, _ := os.OpenFile(path, os.O_WRONLY, 0)
		_, _ = fmt.Fprintln(pipe, "alive")
		time.Sleep(time.Hour)
	}
	in, _ := io.ReadAll(os.Stdin)
	fmt.Printf("codex read %q\n", in)
	if filepath.Base(os.Getenv("CODEX_OUT")) == "fail" {
		os.Exit(5)
	}
}
