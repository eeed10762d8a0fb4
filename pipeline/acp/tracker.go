package acp

import (
	"container/list"

	"github.com/kandev/assent/pipeline"
)

// Bounds of the tracker. A call that has ended is kept as its id alone, so that
// an update that comes late still feeds nothing.
const (
	maxCalls    = 2048 // running calls of one session
	maxEnded    = 4096 // ended calls of one session
	maxSessions = 64   // sessions that have calls
)

// tracker holds the earlier part of each effective tool call: what the updates
// of the same session and tool call id said. An offer feeds nothing.
type tracker struct {
	sessions map[string]*callSession
	recent   *list.List          // session ids, the least recently used first
	dropped  map[string]struct{} // sessions that lost all their calls to the bound
	lostAll  bool                // so many that they are not told apart any more
}

type callSession struct {
	calls map[string]*call
	order *list.List // ids of running calls, oldest first
	ended map[string]*list.Element
	past  *list.List // ids of ended calls, oldest first
	// lost: an entry fell to the bound, so nothing earlier is joined any more.
	lost bool
	// forgot: an ended call fell to the bound, so only tool_call begins a call.
	forgot bool
	place  *list.Element
}

type call struct {
	name, title, kind pipeline.Text
	meta              pipeline.Meta
	facts             pipeline.DialectFacts
	contradictory     bool
	place             *list.Element
}

func newTracker() tracker {
	return tracker{sessions: map[string]*callSession{}, recent: list.New(), dropped: map[string]struct{}{}}
}

// session finds or makes the entry of a session.
func (t *tracker) session(id string) *callSession {
	if s := t.sessions[id]; s != nil {
		t.recent.MoveToBack(s.place)
		return s
	}
	if len(t.sessions) >= maxSessions {
		oldest := t.recent.Remove(t.recent.Front()).(string)
		delete(t.sessions, oldest)
		if t.lostAll = t.lostAll || len(t.dropped) >= maxEnded; !t.lostAll {
			t.dropped[oldest] = struct{}{}
		}
	}
	_, dropped := t.dropped[id]
	s := &callSession{
		calls: map[string]*call{}, order: list.New(),
		ended: map[string]*list.Element{}, past: list.New(),
		lost: dropped || t.lostAll, forgot: dropped || t.lostAll,
		place: t.recent.PushBack(id),
	}
	t.sessions[id] = s
	return s
}

// update takes one update of a tool call.
func (t *tracker) update(u *update, observer pipeline.Observer) {
	s := t.session(u.session)
	if u.untracked {
		s.lost = true
		return
	}
	c := s.calls[u.seen.ID]
	var facts pipeline.DialectFacts
	if c != nil {
		facts = c.facts
	}
	switch {
	case u.seen.Start:
		c = s.begin(u.seen.ID)
	case c == nil && (s.forgot || s.ended[u.seen.ID] != nil):
		return
	case c == nil:
		c = s.begin(u.seen.ID)
	}
	c.merge(u)
	if observer != nil {
		c.facts = observer.Observe(&u.seen, facts)
	}
	if u.ended() {
		s.end(u.seen.ID)
	}
}

// begin starts a call anew and makes room for it.
func (s *callSession) begin(id string) *call {
	if e := s.ended[id]; e != nil {
		s.past.Remove(e)
		delete(s.ended, id)
	}
	if old := s.calls[id]; old != nil {
		s.order.Remove(old.place)
	} else if len(s.calls) >= maxCalls {
		delete(s.calls, s.order.Remove(s.order.Front()).(string))
		s.lost = true
	}
	c := &call{place: s.order.PushBack(id)}
	s.calls[id] = c
	return c
}

// end forgets everything of a call but that it is over; also a contradiction.
func (s *callSession) end(id string) {
	s.order.Remove(s.calls[id].place)
	delete(s.calls, id)
	if s.past.Len() >= maxEnded {
		delete(s.ended, s.past.Remove(s.past.Front()).(string))
		s.forgot = true
	}
	s.ended[id] = s.past.PushBack(id)
}

// merge lets the members that the update has replace what was there. Two names
// that differ are a contradiction.
func (c *call) merge(u *update) {
	if u.name.State() != pipeline.TextAbsent {
		if c.name.State() != pipeline.TextAbsent && !sameText(c.name, u.name) {
			c.contradictory = true
		}
		c.name = u.name
	}
	if u.title.State() != pipeline.TextAbsent {
		c.title = u.title
	}
	if u.kind.State() != pipeline.TextAbsent {
		c.kind = u.kind
	}
	if u.seen.Meta.Given() {
		c.meta = u.seen.Meta
	}
}

// sameText says whether two texts are known to be equal.
func sameText(a, b pipeline.Text) bool { return a == b && a.State() == pipeline.TextGiven }

// contradict marks a call whose update can be read in more than one way.
func (t *tracker) contradict(target target) {
	s := t.session(target.session)
	if len(target.call) > pipeline.MaxText {
		s.lost = true
		return
	}
	c := s.calls[target.call]
	if c == nil {
		c = s.begin(target.call)
	}
	c.contradictory = true
}

// join completes a request's tool call with what earlier updates said.
func (t *tracker) join(req *pipeline.Request) {
	call := &req.Call
	call.Meta = call.OwnMeta
	s := t.sessions[req.SessionID]
	if s == nil || call.OtherSubject {
		return
	}
	c := s.calls[call.ID]
	if c == nil {
		return
	}
	call.Contradictory = c.contradictory
	if own := call.Name.State() != pipeline.TextAbsent; own && c.name.State() != pipeline.TextAbsent && !sameText(call.Name, c.name) {
		call.Contradictory = true
	}
	if s.lost {
		return
	}
	call.Facts = c.facts
	if call.Name.State() == pipeline.TextAbsent {
		call.Name = c.name
	}
	if call.Title.State() == pipeline.TextAbsent {
		call.Title = c.title
	}
	if call.Kind.State() == pipeline.TextAbsent {
		call.Kind = c.kind
	}
	if !call.OwnMeta.Given() {
		call.Meta = c.meta
	}
}
