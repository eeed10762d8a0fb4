package proxy

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/kandev/assent/internal/agents"
	"github.com/kandev/assent/pipeline/acp"
)

// modes makes the requests of our own. It is for the goroutine that reads the agent.
type modes struct {
	launch agents.Launch
	prefix string              // of our ids: no client can have chosen it
	sent   map[string]struct{} // the ids whose answers are to come
	count  int
}

func newModes(l agents.Launch) *modes {
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	return &modes{launch: l, prefix: "assent-" + hex.EncodeToString(random) + "-", sent: map[string]struct{}{}}
}

// maxOwn bounds the requests of ours that have no answer.
const maxOwn = 256

// request is the line that puts a session into the mode in which the agent asks;
// nil when there is no need.
func (m *modes) request(f acp.Frame, session string) []byte {
	method, params, ok := m.launch.ModeRequest(f.Result(), session)
	if !ok || len(m.sent) >= maxOwn {
		return nil
	}
	return m.line(method, params)
}

func (m *modes) line(method string, params map[string]string) []byte {
	m.count++
	id := m.prefix + strconv.Itoa(m.count)
	line, err := json.Marshal(struct {
		Version string            `json:"jsonrpc"`
		ID      string            `json:"id"`
		Method  string            `json:"method"`
		Params  map[string]string `json:"params"`
	}{"2.0", id, method, params}, json.Deterministic(true))
	if err != nil { // the session's id is no text
		return nil
	}
	m.sent[acp.NewID(strconv.Quote(id)).Key()] = struct{}{}
	return line
}

// answered says whether an answer is to a request of ours.
func (m *modes) answered(key string) bool {
	_, ours := m.sent[key]
	delete(m.sent, key)
	return ours
}
