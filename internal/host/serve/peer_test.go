package serve

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/task"
)

// message is what comes over the socket: a reply or an event.
type message struct {
	ID      string         `json:"id"`
	Action  string         `json:"action"`
	Result  jsontext.Value `json:"result"`
	Error   *wireError     `json:"error"`
	Event   string         `json:"event"`
	Seq     uint64         `json:"seq"`
	Payload jsontext.Value `json:"payload"`
}

type wireError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// peer is a client of the socket.
type peer struct {
	t    testing.TB
	conn *websocket.Conn
	ctx  context.Context

	mu      sync.Mutex
	number  int
	replies map[string]chan message
	events  []message
	changed chan struct{} // closed when an event has come
	gone    chan struct{} // closed when the connection is over
}

// dial connects with a token.
func dial(t testing.TB, url, secret string) *peer {
	t.Helper()
	p, err := tryDial(t, url, secret)
	require.NoError(t, err)
	return p
}

func tryDial(t testing.TB, url, secret string) (*peer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	conn, _, err := websocket.Dial(ctx, strings.Replace(url, "http", "ws", 1)+"ws", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + secret}},
	})
	if err != nil {
		cancel()
		return nil, err
	}
	conn.SetReadLimit(-1)
	p := &peer{t: t, conn: conn, ctx: ctx, replies: map[string]chan message{}, changed: make(chan struct{}), gone: make(chan struct{})}
	go func() { defer close(p.gone); p.read() }()
	t.Cleanup(func() { _ = conn.CloseNow(); cancel(); <-p.gone })
	return p, nil
}

func (r *rig) dial(secret string) *peer {
	r.t.Helper()
	return dial(r.t, r.URL(), secret)
}

// read sorts what comes.
func (p *peer) read() {
	for {
		_, raw, err := p.conn.Read(p.ctx)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(raw, &m) != nil {
			continue
		}
		p.mu.Lock()
		if m.Event != "" {
			p.events = append(p.events, m)
			close(p.changed)
			p.changed = make(chan struct{})
		} else if c := p.replies[m.ID]; c != nil {
			c <- m
			delete(p.replies, m.ID)
		}
		p.mu.Unlock()
	}
}

// call sends a request and waits for its reply; false when the connection broke.
func (p *peer) call(action, payload string) (message, bool) {
	p.mu.Lock()
	p.number++
	id := fmt.Sprint(p.number)
	c := make(chan message, 1)
	p.replies[id] = c
	p.mu.Unlock()
	text := fmt.Sprintf(`{"id":%q,"action":%q,"payload":%s}`, id, action, payload)
	if p.conn.Write(p.ctx, websocket.MessageText, []byte(text)) != nil {
		return message{}, false
	}
	select {
	case m := <-c:
		return m, true
	case <-p.gone:
		return message{}, false
	case <-time.After(patience):
		return message{}, false
	}
}

// ask is call for what has to succeed; into may be nil.
func (p *peer) ask(action, payload string, into any) {
	p.t.Helper()
	m, ok := p.call(action, payload)
	require.True(p.t, ok, "%s was not answered", action)
	require.Nil(p.t, m.Error, "%s: %+v", action, m.Error)
	if into != nil {
		require.NoError(p.t, json.Unmarshal(m.Result, into))
	}
}

// refused is call for what has to fail, and gives the code.
func (p *peer) refused(action, payload string) string {
	p.t.Helper()
	m, ok := p.call(action, payload)
	require.True(p.t, ok, "%s was not answered", action)
	require.NotNil(p.t, m.Error, "%s was not refused", action)
	return m.Error.Code
}

// watch begins to watch.
func (p *peer) watch() (s watched) {
	p.t.Helper()
	p.ask("state.watch", "{}", &s)
	return s
}

// watched is the state as a client reads it.
type watched struct {
	Server    string      `json:"server"`
	Tasks     []wireTask  `json:"tasks"`
	Offers    []wireOffer `json:"offers"`
	Questions []struct {
		ID   string `json:"id"`
		Text string `json:"text"`
		Task string `json:"task"`
	} `json:"questions"`
	Decisions []struct {
		Tool string `json:"tool"`
	} `json:"decisions"`
	Instances []struct {
		ID    string `json:"id"`
		Task  string `json:"task"`
		State string `json:"state"`
	} `json:"instances"`
}

type wireTask struct {
	ID      task.ID    `json:"id"`
	Parent  task.ID    `json:"parent"`
	Title   string     `json:"title"`
	State   task.State `json:"state"`
	Summary string     `json:"summary"`
	Session string     `json:"session"`
	Note    string     `json:"note"`
}

type wireOffer struct {
	Session string `json:"session"`
	Request string `json:"request"`
	Task    string `json:"task"`
	Action  struct {
		Command string `json:"command"`
		Title   string `json:"title"`
		Tool    string `json:"tool"`
	} `json:"action"`
	Reason  string `json:"reason"`
	Options []struct {
		ID    string `json:"id"`
		Kind  string `json:"kind"`
		Reach string `json:"reach"`
	} `json:"options"`
	Trace []struct {
		Stage string `json:"stage"`
	} `json:"trace"`
}

func (o wireOffer) resolve(answer string) string {
	return fmt.Sprintf(`{"session":%q,"request":%q,"answer":%s}`, o.Session, o.Request, answer)
}

// until waits for an event that fits and gives it.
func until[P any](p *peer, event string, fits func(P) bool) P {
	p.t.Helper()
	deadline := time.After(patience)
	for seen := 0; ; {
		p.mu.Lock()
		events, changed := p.events[seen:], p.changed
		seen = len(p.events)
		p.mu.Unlock()
		for _, m := range events {
			var payload P
			if m.Event == event && json.Unmarshal(m.Payload, &payload) == nil && fits(payload) {
				return payload
			}
		}
		select {
		case <-changed:
		case <-deadline:
			require.Fail(p.t, "the event did not come", event)
		}
	}
}

type taskEvent struct {
	Task wireTask `json:"task"`
}

type offerEvent struct {
	Offer wireOffer `json:"offer"`
}

type closedEvent struct {
	Request string `json:"request"`
	Outcome string `json:"outcome"`
	Verdict string `json:"verdict"`
	Kind    string `json:"kind"`
	By      struct {
		Name    string `json:"name"`
		Surface string `json:"surface"`
	} `json:"by"`
}

type textEvent struct {
	Task task.ID `json:"task"`
	Text string  `json:"text"`
	From string  `json:"from"`
}

// settles waits until a task is in a state.
func (p *peer) settles(id task.ID, state task.State) wireTask {
	p.t.Helper()
	return until(p, "task.changed", func(e taskEvent) bool { return e.Task.ID == id && e.Task.State == state }).Task
}

// opens waits for an offer of a task.
func (p *peer) opens(id task.ID) wireOffer {
	p.t.Helper()
	return until(p, "offer.opened", func(e offerEvent) bool { return e.Offer.Task == string(id) }).Offer
}

// closes waits until an offer is over.
func (p *peer) closes(o wireOffer) closedEvent {
	p.t.Helper()
	return until(p, "offer.closed", func(e closedEvent) bool { return e.Request == o.Request })
}

// says waits until a task's agent has said something.
func (p *peer) says(id task.ID, what string) {
	p.t.Helper()
	until(p, "task.text", func(e textEvent) bool { return e.Task == id && e.From != fromPrompt && strings.Contains(e.Text, what) })
}

// heard are the names of all events so far.
func (p *peer) heard() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.events {
		names = append(names, m.Event)
	}
	return names
}

// start starts a task.
func (p *peer) start(title, prompt string) wireTask {
	p.t.Helper()
	var t wireTask
	p.ask("task.start", fmt.Sprintf(`{"title":%q,"prompt":%q}`, title, prompt), &t)
	return t
}
