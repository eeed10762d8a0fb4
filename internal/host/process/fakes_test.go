package process

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/demoagent"
)

// fakeVariable makes the test binary one of the agents below.
const fakeVariable = "ASSENT_TEST_AGENT"

func TestMain(m *testing.M) {
	if name := os.Getenv(fakeVariable); name != "" {
		if name == "demo" {
			os.Exit(demoagent.Main())
		}
		fakes[name](&fake{in: bufio.NewReader(os.Stdin)})
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// fake is a scripted agent: the far end of the connection, in a real process.
type fake struct {
	in   *bufio.Reader
	last string // the line that was read last
}

// agentFrame is what a fake agent needs of a line.
type agentFrame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		SessionID string `json:"sessionId"`
		Prompt    []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	} `json:"params"`
}

// recv reads a line; at the end of the input the agent ends.
func (f *fake) recv() agentFrame {
	line, err := f.in.ReadString('\n')
	if err != nil {
		os.Exit(0)
	}
	f.last = strings.TrimSpace(line)
	var got agentFrame
	_ = json.Unmarshal([]byte(line), &got)
	return got
}

// send writes a line.
func (f *fake) send(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// result answers a request.
func (f *fake) result(to agentFrame, result string) {
	f.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to.ID, result)
}

const capabilities = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true},"sessionCapabilities":{"resume":{},"fork":{}}},"agentInfo":{"name":"fake","version":"1"}}`

// handshake answers initialize.
func (f *fake) handshake() { f.result(f.recv(), capabilities) }

// session shakes hands and makes the session "s1".
func (f *fake) session() {
	f.handshake()
	f.result(f.recv(), `{"sessionId":"s1"}`)
}

// prompt waits for a prompt.
func (f *fake) prompt() agentFrame {
	for {
		if got := f.recv(); got.Method == "session/prompt" {
			return got
		}
	}
}

// turn ends a turn.
func (f *fake) turn(p agentFrame) { f.result(p, `{"stopReason":"end_turn"}`) }

const threeOptions = `[{"optionId":"a","name":"Allow","kind":"allow_once"},{"optionId":"w","name":"Always","kind":"allow_always"},{"optionId":"r","name":"Reject","kind":"reject_once"}]`

// offer asks for an ordinary tool.
func (f *fake) offer(id, session, call string) {
	f.send(`{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":%q,"title":"ls","kind":"execute","rawInput":{"command":"ls"}},"options":%s}}`,
		id, session, call, threeOptions)
}

// say sends a message of the agent.
func (f *fake) say(text string) {
	quoted, _ := json.Marshal(text)
	f.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}}}`, quoted)
}

// fakes are the scripts. A script that returns exits with status 0.
var fakes = map[string]func(*fake){
	"dies at start": func(*fake) {
		fmt.Fprint(os.Stderr, "\x1b[31mno such licence\u202e\n")
		os.Exit(3)
	},
	"never answers": func(f *fake) {
		fmt.Fprintln(os.Stderr, "please log in first")
		_, _ = io.Copy(io.Discard, f.in)
	},
	"answers with garbage":  func(f *fake) { f.result(f.recv(), `["what?"]`); f.recv() },
	"answers with an error": func(f *fake) { refuse(f.recv(), "no, \x1b[2J"); f.recv() },
	"another version":       func(f *fake) { f.result(f.recv(), `{"protocolVersion":7}`); f.recv() },
	"prints banners": func(f *fake) {
		fmt.Print("Welcome!\r\n\r\n  \n42\n\"text\"\n{broken\n")
		f.session()
		fmt.Print("\xff\xfe progress 10%\n")
		f.turn(f.prompt())
		f.recv()
	},
	"begins quietly": func(f *fake) {
		f.handshake()
		f.result(f.recv(), `{"sessionId":"s1","modes":{"currentModeId":"auto","availableModes":[{"id":"default"}]}}`)
		told := f.recv()
		f.result(told, `{}`)
		p := f.recv()
		f.say(told.Method + ", then " + p.Method)
		f.turn(p)
		f.recv()
	},
	"says its environment": func(f *fake) {
		f.session()
		p := f.prompt()
		f.say(os.Getenv("INITIAL_AGENT_MODE") + " " + os.Getenv("DISABLE_MCP_CONFIG_FILTERING"))
		f.turn(p)
		f.recv()
	},
	"refuses sessions":  func(f *fake) { f.handshake(); f.recv(); refuseEcho(f); f.recv() },
	"nameless session":  func(f *fake) { f.handshake(); f.result(f.recv(), `{}`); f.recv() },
	"one id for all":    func(f *fake) { f.session(); f.result(f.recv(), `{"sessionId":"s1"}`); f.recv() },
	"no capabilities":   func(f *fake) { f.result(f.recv(), `{"protocolVersion":1}`); f.echoSessions() },
	"exits mid-turn":    exitsMidTurn,
	"closes its output": func(f *fake) { f.session(); f.prompt(); _ = os.Stdout.Close(); ignoreSignals(); select {} },
	"floods":            floods,
	"last words": func(f *fake) {
		f.session()
		for n := range 100 { // what fits into a socket
			f.say(fmt.Sprint(n))
		}
	},
	"asks by words":        asksByWords,
	"ignores its stdin":    func(f *fake) { f.session(); time.Sleep(time.Minute) },
	"ignores SIGTERM":      func(f *fake) { ignoreSignals(); f.session(); f.say("deaf"); time.Sleep(time.Minute) },
	"leaves a child":       leavesAChild,
	"the child":            func(*fake) { ignoreSignals(); time.Sleep(time.Minute) },
	"never reads answers":  neverReadsAnswers,
	"loads":                loads,
	"ends with its stderr": func(f *fake) { f.session(); fmt.Fprintln(os.Stderr, strings.Repeat("x", 5<<20)+"\nthe end"); f.recv() },
}

func refuse(to agentFrame, message string) {
	quoted, _ := json.Marshal(message)
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%s,"data":{"x":1}}}`+"\n", to.ID, quoted)
}

// refuseEcho refuses the request that was read last and quotes it in full.
func refuseEcho(f *fake) {
	var got agentFrame
	_ = json.Unmarshal([]byte(f.last), &got)
	refuse(got, "cannot: "+f.last)
}

// echoSessions answers session requests with the request itself as its id.
func (f *fake) echoSessions() {
	for n := 1; ; n++ {
		got := f.recv()
		f.say(f.last)
		f.result(got, fmt.Sprintf(`{"sessionId":"s%d"}`, n))
	}
}

func ignoreSignals() { signal.Ignore(syscall.SIGTERM, os.Interrupt) }

func exitsMidTurn(f *fake) {
	f.session()
	f.prompt()
	f.offer("1", "s1", "c1")
	f.recv() // the test says when
	fmt.Fprintln(os.Stderr, "panic: out of ideas")
	os.Exit(7)
}

const flood = 10_000

func floods(f *fake) {
	f.session()
	p := f.prompt()
	w := bufio.NewWriter(os.Stdout)
	for n := range flood {
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d"}}}}`+"\n", n)
	}
	_ = w.Flush()
	f.turn(p)
	f.recv()
}

// asksByWords sends the lines that a prompt consists of, word by word where a
// word is short for something, and then echoes whatever comes in.
func asksByWords(f *fake) {
	f.session()
	for {
		got := f.recv()
		switch got.Method {
		case "session/new", "session/load", "session/resume":
			f.result(got, `{"sessionId":"s2"}`)
			continue
		case "session/prompt":
		default:
			f.say(f.last)
			continue
		}
		for line := range strings.SplitSeq(got.Params.Prompt[0].Text, "\n") {
			switch word, rest, _ := strings.Cut(line, " "); word {
			case "offer": // offer <id> <session> <call>
				parts := strings.Fields(rest)
				f.offer(parts[0], parts[1], parts[2])
			case "end":
				f.turn(got)
			default:
				f.send("%s", line)
			}
		}
	}
}

func leavesAChild(f *fake) {
	f.session()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), fakeVariable+"=the child")
	child.Stdout, child.Stdin = os.Stdout, os.Stdin // it holds them open
	if err := child.Start(); err != nil {
		os.Exit(9)
	}
	f.say(fmt.Sprint(child.Process.Pid))
	f.recv()
}

// neverReadsAnswers asks for methods that nobody has and reads no answer.
func neverReadsAnswers(f *fake) {
	f.session()
	f.prompt()
	for n := 0; ; n++ {
		if _, err := fmt.Printf(`{"jsonrpc":"2.0","id":%d,"method":"fs/read_text_file","params":{}}`+"\n", n); err != nil {
			os.Exit(0)
		}
	}
}

// loads answers the second session request when the test says so, with an error
// the first time.
func loads(f *fake) {
	f.session()
	for n := 0; ; {
		got := f.recv()
		switch {
		case got.Method == "session/load" && n == 0:
			n++
			refuse(got, "not now")
		case strings.HasPrefix(got.Method, "session/") && got.Method != "session/prompt":
			f.result(got, `{"sessionId":"s2"}`)
		default:
			f.turn(got)
		}
	}
}
