package gateway

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/coder/websocket"

	"github.com/kandev/assent/internal/host/dispatch"
)

// Event is something that watching clients are told.
type Event struct {
	Name    string // such as "offer.opened"
	Task    string // the task that it is about; empty for none
	Payload any
	// MaySee says who is told, in place of [Options.MaySee]; nil for that. It is for what
	// cannot be asked any more when the event reaches a client.
	MaySee func(p dispatch.Person, watched string) bool
	// Only says who is told, of those who may see the task; nil for all of them. It is
	// asked as [Options.MaySee] is.
	Only func(dispatch.Person) bool
}

// event is one that is encoded, once for all clients: `{"event":…,"seq":` and
// `,"payload":…}`. The number between them is the client's own.
type event struct {
	task       string
	maySee     func(p dispatch.Person, watched string) bool
	only       func(dispatch.Person) bool
	head, rest []byte
}

// appendTo writes the event with a client's number.
func (e *event) appendTo(b []byte, seq uint64) []byte {
	b = append(b, e.head...)
	b = strconv.AppendUint(b, seq, 10)
	return append(b, e.rest...)
}

func (e Event) encode() (*event, error) {
	name, err := dispatch.Encode(e.Name)
	if err != nil {
		return nil, fmt.Errorf("gateway: an event's name: %w", err)
	}
	payload, err := dispatch.Encode(e.Payload)
	if err != nil { // its text could quote the payload
		return nil, fmt.Errorf("gateway: event %q cannot be written as JSON (%T)", e.Name, err)
	}
	return &event{
		task: e.Task, maySee: e.MaySee, only: e.Only,
		head: fmt.Appendf(nil, `{"event":%s,"seq":`, name),
		rest: fmt.Appendf(nil, `,"payload":%s}`, payload),
	}, nil
}

// hub hands events to subscriptions.
type hub struct {
	maySee func(p dispatch.Person, watched, task string) bool

	mu            sync.Mutex // also keeps events in order
	subscriptions map[*subscription]bool
}

func newHub(maySee func(p dispatch.Person, watched, task string) bool) *hub {
	return &hub{maySee: maySee, subscriptions: map[*subscription]bool{}}
}

func (h *hub) publish(e Event) error {
	encoded, err := e.encode()
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subscriptions {
		s.offer(encoded)
	}
	return nil
}

// subscription is what one client watches. It holds events back until the client has
// got the state that they change.
type subscription struct {
	hub    *hub
	person dispatch.Person
	out    *outbox

	// Guarded by the hub's mutex.
	live    bool
	watched string
	held    []*event
}

// subscribe begins to hold events back for a client.
func (h *hub) subscribe(p dispatch.Person, out *outbox) *subscription {
	s := &subscription{hub: h, person: p, out: out}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subscriptions[s] = true
	return s
}

func (s *subscription) offer(e *event) {
	switch {
	case !s.live && len(s.held) >= s.out.maxMessages/2:
		s.out.end(websocket.StatusPolicyViolation, slowReader)
	case !s.live:
		s.held = append(s.held, e)
	case s.told(e):
		s.out.put(outgoing{event: e})
	}
}

// told says whether the client is told of an event.
func (s *subscription) told(e *event) bool {
	if e.maySee != nil {
		return e.maySee(s.person, s.watched) && (e.only == nil || e.only(s.person))
	}
	return s.hub.maySee(s.person, s.watched, e.task) && (e.only == nil || e.only(s.person))
}

// begin sends the state, then what was held back, then events as they come. The
// subscription before it, which may be nil, ends.
func (s *subscription) begin(state []byte, watched string, before *subscription) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.subscriptions, before)
	s.live, s.watched = true, watched
	messages := []outgoing{{reply: state}}
	for _, e := range s.held {
		if s.told(e) {
			messages = append(messages, outgoing{event: e})
		}
	}
	s.held = nil
	s.out.put(messages...)
}

// end forgets a subscription; nil is fine.
func (s *subscription) end() {
	if s == nil {
		return
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.hub.subscriptions, s)
}
