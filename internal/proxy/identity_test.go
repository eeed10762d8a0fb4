package proxy

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/pipeline/acp"
)

// recordings is real traffic: see its README.
const recordings = "../replay/testdata/recordings"

// recorded is one line of a recording.
type recorded struct {
	Header *struct {
		Agent string `json:"agent"`
	} `json:"header"`
	Dir   string         `json:"dir"`
	Frame jsontext.Value `json:"frame"`
	Raw   string         `json:"raw"`
}

func (r recorded) line() string {
	if r.Frame != nil {
		return string(r.Frame)
	}
	return r.Raw
}

func readRecording(t *testing.T, path string) (agent string, lines []recorded) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var r recorded
		if strings.TrimSpace(line) == "" {
			continue
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r, frame.Lenient), path)
		if r.Header != nil {
			agent = r.Header.Agent
		}
		if r.Dir != "" {
			lines = append(lines, r)
		}
	}
	return agent, lines
}

func eachRecording(t *testing.T, f func(t *testing.T, agent string, lines []recorded)) {
	count := 0
	require.NoError(t, filepath.WalkDir(recordings, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") || strings.HasSuffix(path, ".want.jsonl") {
			return err
		}
		count++
		name, _ := filepath.Rel(recordings, path)
		t.Run(name, func(t *testing.T) {
			agent, lines := readRecording(t, path)
			require.NotEmpty(t, lines)
			f(t, agent, lines)
		})
		return nil
	}))
	require.Greater(t, count, 50, "the recordings are there")
}

// Every line of every recording passes as it is, in both directions, whatever the
// line end and however it is cut.
func TestEveryRecordingPasses(t *testing.T) {
	for name, variant := range map[string]struct {
		end    string
		reader func(io.Reader) io.Reader
		glued  bool
	}{
		"line by line": {end: "\n"},
		"byte by byte": {end: "\n", reader: iotest.OneByteReader},
		"CRLF":         {end: "\r\n"},
		"glued":        {end: "\n", glued: true},
	} {
		t.Run(name, func(t *testing.T) {
			eachRecording(t, func(t *testing.T, agent string, lines []recorded) {
				w := newWire(t, agentID(agent), func(_ *Options, w *wire) {
					if variant.reader != nil {
						w.reader = variant.reader
					}
				})
				passesAsItIs(t, w, lines, variant.end, variant.glued)
			})
		})
	}
}

// books is what the test itself knows of open offers: the closed list has a line
// about the client's session/cancel.
type books struct {
	open map[string]string // session by id
	owed map[string]bool
}

func newBooks() *books { return &books{open: map[string]string{}, owed: map[string]bool{}} }

// agent notes an offer.
func (b *books) agent(line string) {
	var m struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Params struct {
			Session string `json:"sessionId"`
		} `json:"params"`
	}
	if json.Unmarshal([]byte(line), &m, frame.Lenient) == nil && m.Method == "session/request_permission" {
		b.open[string(m.ID)] = m.Params.Session
	}
}

// client is what the agent gets of a line: nothing of a late answer, and the
// answers to open offers behind a session/cancel.
func (b *books) client(line, end string) string {
	var m struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Result jsontext.Value `json:"result"`
		Params struct {
			Session string `json:"sessionId"`
		} `json:"params"`
	}
	if json.Unmarshal([]byte(line), &m, frame.Lenient) != nil {
		return line + end
	}
	id := string(m.ID)
	switch {
	case m.Method == "session/cancel":
		out := line + end
		for open, session := range b.open {
			if session == m.Params.Session {
				out += `{"jsonrpc":"2.0","id":` + open + `,"result":{"outcome":{"outcome":"cancelled"}}}` + "\n"
				delete(b.open, open)
				b.owed[open] = true
			}
		}
		return out
	case m.Method == "" && b.owed[id]:
		delete(b.owed, id)
		return ""
	case m.Method == "":
		delete(b.open, id)
	}
	return line + end
}

// sorted makes texts comparable where several answers come in any order.
func sorted(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	slices.Sort(lines)
	return lines
}

// passesAsItIs says what was recorded, one line after the other, or what follows
// in one direction at once.
func passesAsItIs(t *testing.T, w *wire, lines []recorded, end string, glued bool) {
	b := newBooks()
	for n := 0; n < len(lines); {
		text, want, dir := "", "", lines[n].Dir
		for first := true; n < len(lines) && lines[n].Dir == dir && (first || glued); n++ {
			text += lines[n].line() + end
			if dir == record.FromAgent {
				b.agent(lines[n].line())
				want += lines[n].line() + end
			} else {
				want += b.client(lines[n].line(), end)
			}
			first = false
		}
		if dir == record.FromAgent {
			assert.Equal(t, want, w.agentSays(text))
			continue
		}
		assert.Equal(t, sorted(want), sorted(withoutOwn(w, w.clientSays(text))))
	}
	assert.Empty(t, withoutOwn(w, w.agent.read()), "nothing else was said to the agent")
	assert.Empty(t, w.client.read(), "nothing else was said to the client")
}

// withoutOwn takes our own requests out of what the agent was told.
func withoutOwn(w *wire, text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, `"`+w.relay.modes.prefix) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// With an injected server only mcpServers of session requests differs.
func TestOnlyTheServerListDiffers(t *testing.T) {
	eachRecording(t, func(t *testing.T, agent string, lines []recorded) {
		w := newWire(t, agentID(agent), injecting("kandev"))
		changed, b := 0, newBooks()
		for _, l := range lines {
			line := l.line() + "\n"
			if l.Dir == record.FromAgent {
				b.agent(l.line())
				assert.Equal(t, line, w.agentSays(line))
				continue
			}
			got := withoutOwn(w, w.clientSays(line))
			if f, err := acp.Peek([]byte(l.line())); err == nil && f.Kind == acp.KindRequest && got != line {
				assert.Contains(t, []string{acp.MethodNew, acp.MethodLoad, acp.MethodResume, acp.MethodFork}, f.Method)
				assert.Equal(t, cutServers(t, line), cutServers(t, got))
				assert.Contains(t, got, `{"name":"kandev","type":"http","url":"http://localhost:`)
				changed++
				continue
			}
			assert.Equal(t, sorted(b.client(l.line(), "\n")), sorted(got))
		}
		opened := 0
		for _, l := range lines {
			if f, err := acp.Peek([]byte(l.line())); err == nil && l.Dir == record.FromClient && strings.HasPrefix(f.Method, "session/") && strings.Contains(l.line(), `"mcpServers"`) {
				opened++
			}
		}
		switch name := t.Name(); {
		case strings.Contains(name, "list-given-twice"):
		case strings.Contains(name, "/cline-"), strings.Contains(name, "/pi-"): // they take no server over HTTP
			assert.Zero(t, changed)
			assert.Contains(t, w.stderr.read(), "warning")
		default:
			assert.Equal(t, opened, changed, "every session got the injected server")
		}
	})
}

// cutServers takes the value of mcpServers out of a line.
func cutServers(t *testing.T, line string) string {
	list, _, err := findServers([]byte(strings.TrimRight(line, "\n")))
	require.NoError(t, err)
	return line[:list.from] + line[list.to:]
}

// With blanket approval no offer that can be read reaches the client, and its
// recorded answers reach nobody.
func TestBlanketApprovalAnswersHere(t *testing.T) {
	eachRecording(t, func(t *testing.T, agent string, lines []recorded) {
		w := newWire(t, agentID(agent), approving)
		for _, l := range lines {
			line := l.line() + "\n"
			f, err := acp.Peek([]byte(l.line()))
			require.NoError(t, err)
			_, _, answer := f.Outcome()
			switch {
			case l.Dir == record.FromAgent && f.Method == acp.MethodRequestPermission:
				assert.Empty(t, w.agentSays(line))
				answered := w.agent.until("}}}\n")
				assert.Contains(t, answered, `{"jsonrpc":"2.0","id":`+f.ID.String()+`,"result":{"outcome":{"outcome":"selected","optionId":`)
			case l.Dir == record.FromAgent:
				assert.Equal(t, line, w.agentSays(line))
			case answer:
				assert.Empty(t, withoutOwn(w, w.clientSays(line)))
			default:
				w.clientSays(line)
			}
		}
	})
}
