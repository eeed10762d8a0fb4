package soak

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline/acp"
)

// wire looks at every line between the host and one agent, in the order in which
// the decisions see them, and holds the answers against the offers. It reads the
// lines by itself: nothing of the host's own book-keeping is believed.
type wire struct {
	all *totals

	mu      sync.Mutex
	offers  map[string]*offer // not answered yet, by the exact text of the id
	taken   map[string]bool   // answered; dropped with the instance
	prompts map[string]string // the session of each turn under way, by our request's id
	seen    int               // offers so far
	ending  bool              // the host is stopping the agent
	cancels bool              // a session was cancelled
	alarms  []alarm
}

// alarm is somebody who waits for a number of offers.
type alarm struct {
	at      int
	reached chan struct{}
}

// offer is one permission request of the agent.
type offer struct {
	session string
	call    string
	options map[string]string // kinds, by id
	waits   bool              // the host said that it waits for a person
	owed    bool              // it waited when the host began to stop the agent
}

// subSession is what the demo agent's sub-agents add to the id of their session.
const subSession = "-sub"

func newWire(all *totals) *wire {
	return &wire{all: all, offers: map[string]*offer{}, taken: map[string]bool{}, prompts: map[string]string{}}
}

// frame is what has to be known of a line.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		SessionID string `json:"sessionId"`
		Options   []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
		ToolCall struct {
			ID string `json:"toolCallId"`
		} `json:"toolCall"`
	} `json:"params"`
}

// Agent sees a line of the agent.
func (w *wire) Agent(line []byte) error {
	if bytes.Contains(line, []byte(`"session/update"`)) {
		return nil
	}
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		w.all.violation("the agent sent a line that is no message")
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := string(f.ID)
	switch {
	case f.Method == "session/request_permission":
		w.asked(id, f)
	case f.Method == "$/cancel_request":
		w.all.add(countWithdrawn, 1)
	case f.Method == "":
		w.turnOver(id)
	}
	return nil
}

func (w *wire) asked(id string, f frame) {
	w.all.add(countOffers, 1)
	w.seen++
	w.ring(w.seen)
	if w.taken[id] || w.offers[id] != nil {
		w.all.violation("the agent used the id of a request twice")
		return
	}
	o := &offer{session: f.Params.SessionID, call: f.Params.ToolCall.ID, options: map[string]string{}}
	for _, option := range f.Params.Options {
		o.options[option.ID] = option.Kind
	}
	w.offers[id] = o
}

// turnOver is the answer to a request of ours. The demo agent waits for all its
// answers before it ends a turn, so none may be missing then.
func (w *wire) turnOver(id string) {
	session, ok := w.prompts[id]
	if !ok {
		return
	}
	delete(w.prompts, id)
	w.all.add(countTurns, 1)
	if w.ending { // it ends its turns when its input ends
		return
	}
	for _, o := range w.offers {
		if strings.TrimSuffix(o.session, subSession) == session {
			w.all.violation("a turn ended before each of its offers had an answer")
		}
	}
}

// Client sees a line to the agent, before it is written.
func (w *wire) Client(line []byte) error {
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		w.all.violation("a line to the agent is no message")
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch f.Method {
	case acp.MethodPrompt:
		w.prompts[string(f.ID)] = f.Params.SessionID
	case "session/cancel":
		w.cancels = true
		w.all.add(countCancels, 1)
	case "":
		w.answered(string(f.ID), line)
	}
	return nil
}

func (w *wire) answered(id string, line []byte) {
	o := w.offers[id]
	switch {
	case w.taken[id]:
		w.all.violation("an offer was answered twice")
		return
	case o == nil:
		w.all.violation("an answer is for no offer")
		return
	}
	delete(w.offers, id)
	w.taken[id] = true
	kind, err := readAnswer(line, o.options)
	if err != nil {
		w.all.violation(err.Error())
		return
	}
	w.all.answer(kind)
}

// readAnswer reads an answer strictly: exactly the members that ACP wants, and an
// option that was offered. It gives the option's kind, or "cancelled".
func readAnswer(line []byte, options map[string]string) (string, error) {
	var m, result, outcome map[string]json.RawMessage
	var kind, id string
	ok := members(line, &m, "id", "jsonrpc", "result") && string(m["jsonrpc"]) == `"2.0"` &&
		members(m["result"], &result, "outcome") && json.Unmarshal(result["outcome"], &outcome) == nil &&
		json.Unmarshal(outcome["outcome"], &kind) == nil
	switch {
	case !ok || !jsontext.Value(line).IsValid() || bytes.ContainsAny(line, "\r\n"): // no key is there twice
		return "", errMalformed
	case kind == "cancelled" && len(outcome) == 1:
		return kind, nil
	case kind != "selected" || len(outcome) != 2 || json.Unmarshal(outcome["optionId"], &id) != nil:
		return "", errMalformed
	}
	offered, ok := options[id]
	if !ok {
		return "", errNotOffered
	}
	return offered, nil
}

var (
	errMalformed  = errors.New("an answer is malformed")
	errNotOffered = errors.New("an answer selects an option that was not offered")
)

// members reads an object that has exactly the given members.
func members(value []byte, into *map[string]json.RawMessage, names ...string) bool {
	if json.Unmarshal(value, into) != nil {
		return false
	}
	return slices.Equal(slices.Sorted(maps.Keys(*into)), names)
}

// Hide implements [process.Recorder]; nothing is kept that would need it.
func (w *wire) Hide(string) {}

// waits is told that the host has an offer wait for a person.
func (w *wire) waits(session, call string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.offers {
		if o.session == session && o.call == call {
			o.waits = true
		}
	}
}

// stopping is told that the host is about to stop the agent: what waits by now is
// owed an answer.
func (w *wire) stopping() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ending = true
	for _, o := range w.offers {
		o.owed = o.waits
	}
}

// behaved says whether the agent was left to do all that it asked for, so far.
func (w *wire) behaved() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.cancels && !w.ending
}

// after is closed when so many offers were made, or none will be any more.
func (w *wire) after(n int) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := alarm{n, make(chan struct{})}
	w.alarms = append(w.alarms, a)
	w.ring(w.seen)
	return a.reached
}

// quiet lets nobody wait for offers any more.
func (w *wire) quiet() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ring(math.MaxInt)
}

func (w *wire) ring(n int) {
	w.alarms = slices.DeleteFunc(w.alarms, func(a alarm) bool {
		if a.at > n {
			return false
		}
		close(a.reached)
		return true
	})
}

// open is how many offers wait for an answer.
func (w *wire) open() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.offers)
}

// gone is for when the agent is. Offers may have no answer only if it did not live
// long enough to get one.
func (w *wire) gone(how end) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.add(countOrphans, len(w.offers))
	for _, o := range w.offers {
		switch {
		case how == inPeace:
			w.all.violation("an agent that was stopped after its turns left an offer without an answer")
		case how == stopped && o.owed:
			w.all.violation("an offer that waited when its agent was stopped got no answer")
		}
	}
	clear(w.offers)
	clear(w.taken)
}
