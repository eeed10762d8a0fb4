package acp

import (
	"errors"
	"sync"

	"github.com/kandev/assent/pipeline"
)

// Options say what a [Decoder] needs to know of its agent instance.
type Options struct {
	// Reserved is the injected server's name; empty means
	// [pipeline.DefaultReservedName].
	Reserved string
	// Dialect of the instance's configured agent, or nil. Of it only the optional
	// interfaces [pipeline.Observer] and [pipeline.StartupWatcher] are used.
	Dialect any
	// Placeholder is what stands for the injected entry's Authorization value in
	// a recording; an entry with exactly this header counts as one without.
	Placeholder string
	// EverySession, when set, is the server list of every session, whatever the
	// client's frames say. Case files use it.
	EverySession *pipeline.ServerList
}

// Decoder follows one agent connection. It is safe for concurrent use, but each
// direction's lines must come in order, and a client line before it is written.
type Decoder struct {
	options  Options
	every    []pipeline.ServerList
	observer pipeline.Observer
	startup  pipeline.StartupWatcher

	mu       sync.Mutex
	calls    tracker
	sessions sessions
	nameSeen bool
}

// NewDecoder makes a decoder for one connection.
func NewDecoder(o Options) *Decoder {
	if o.Reserved == "" {
		o.Reserved = pipeline.DefaultReservedName
	}
	d := &Decoder{options: o, calls: newTracker(), sessions: newSessions()}
	if o.EverySession != nil {
		d.every = []pipeline.ServerList{*o.EverySession}
	}
	d.observer, _ = o.Dialect.(pipeline.Observer)
	d.startup, _ = o.Dialect.(pipeline.StartupWatcher)
	return d
}

// Message is one line of the agent.
type Message struct {
	Frame
	// Offer is set for a permission request that wants an answer. One without an
	// id, or with an id that cannot be answered, has none.
	Offer *Offer
	// ToolCall is set for an update that may be about a tool call. Any other one is
	// not, however it is read.
	ToolCall bool
	// Replayed is set for an update of a tool call that repeats the history of a
	// session whose session/load is not answered yet: nothing happens now.
	Replayed bool
	// Alarmed are the sessions whose startup alarm this line has raised, each of
	// them once per connection.
	Alarmed []string
}

// FromAgent takes one line of the agent. The error is [ErrBlank], [ErrNoise] or
// [ErrBatch]; none of them is fatal. The message points into the line, the offer
// does not.
func (d *Decoder) FromAgent(line []byte) (Message, error) {
	if f, ok := quickFrame(line); ok {
		if o := (&Offer{ID: f.ID}); quickOffer(f, &o.Request) {
			return Message{Frame: f, Offer: d.complete(o)}, nil
		}
	}
	f, err := Peek(line)
	if err != nil {
		return Message{}, err
	}
	m := Message{Frame: f}
	switch {
	case f.Kind == KindResponse:
		d.mu.Lock()
		err = d.sessions.response(f)
		d.mu.Unlock()
	case f.Method == MethodRequestPermission:
		var o *Offer
		if o, err = d.offer(f); f.Kind == KindRequest {
			m.Offer = o
		}
	case f.Method == MethodUpdate && f.toolCall:
		m.ToolCall = true
		err = d.update(&m)
	}
	return m, err
}

// FromClient takes one line of the client, before it is written to the agent.
// Authorization is the value of the Authorization header that the injector put
// into its own entry in this very line, empty for none.
func (d *Decoder) FromClient(line []byte, authorization string) (Frame, error) {
	f, err := Peek(line)
	if err != nil {
		return Frame{}, err
	}
	switch f.Method {
	case MethodNew, MethodLoad, MethodResume, MethodFork:
		r := readSessionRequest(f, d.options.Placeholder)
		r.list.Authorization = authorization
		d.mu.Lock()
		d.sessions.request(f, r)
		d.mu.Unlock()
	default:
		if ids, lists := namedIn(f); len(ids) > 1 || len(ids) == 1 && (f.repeated || lists > 1) {
			d.mu.Lock()
			d.sessions.doubt(ids)
			d.mu.Unlock()
		}
	}
	return f, nil
}

func (d *Decoder) offer(f Frame) (*Offer, error) {
	o := &Offer{ID: f.ID}
	err := readOffer(f, &o.Request)
	switch {
	case errors.Is(err, ErrNoise):
		return nil, err
	case err != nil:
		d.mu.Lock()
		d.nameSeen = d.nameSeen || carriesName(f)
		d.mu.Unlock()
		return &Offer{ID: f.ID, Reason: ReasonUnreadable}, nil
	}
	return d.complete(o), nil
}

// complete joins a decoded offer with what is known of its call and session.
func (d *Decoder) complete(o *Offer) *Offer {
	if len(o.Request.Options) == 0 {
		o.Reason = ReasonNoOptions
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	named := o.Request.Call.Name.State() != pipeline.TextAbsent
	d.calls.join(&o.Request)
	o.Request.Session = d.sessions.snapshot(o.Request.SessionID, d.every)
	o.Request.Session.NameSeen = d.nameSeen
	d.nameSeen = d.nameSeen || named
	return o
}

// carriesName says whether a tool call that an unreadable offer may be about has
// a programmatic name.
func carriesName(f Frame) (carries bool) {
	call := func(toolCall []byte) {
		members(toolCall, "name", func(name []byte) { carries = carries || string(name) != "null" })
	}
	members(f.Line, "params", func(params []byte) {
		members(params, "toolCall", call)
		members(params, "subject", func(subject []byte) { members(subject, "toolCall", call) })
	})
	return carries
}

func (d *Decoder) update(m *Message) error {
	u, err := readUpdate(m.Frame, d.observer != nil)
	if errors.Is(err, ErrNoise) {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err != nil:
		d.contradict(m)
	case !u.toolCall:
	default:
		d.watchStartup(m, u.session, &u.seen)
		if m.Replayed = d.sessions.replaying(u.session); !m.Replayed {
			d.calls.update(u, d.observer)
		}
	}
	return nil
}

// watchStartup raises the startup alarm of a session where an update says so.
func (d *Decoder) watchStartup(m *Message, session string, u *pipeline.ToolCallUpdate) {
	if d.startup != nil && d.startup.StartupFailed(u, d.options.Reserved) && d.sessions.alarm(session) {
		m.Alarmed = append(m.Alarmed, session)
	}
}

// contradict handles an update that can be read in more than one way: every call
// that it may be about becomes contradictory.
func (d *Decoder) contradict(m *Message) {
	targets, ok := readTargets(m.Frame)
	if !ok {
		d.sessions.distrustAll()
	}
	for _, t := range targets {
		u := pipeline.ToolCallUpdate{ID: t.call, Status: statusFailed}
		d.watchStartup(m, t.session, &u)
		if d.sessions.replaying(t.session) {
			m.Replayed = true
			continue
		}
		d.calls.contradict(t)
	}
}
