package acp

import (
	"container/list"

	"github.com/kandev/assent/pipeline"
)

// Bounds of the tracker. A call that has ended is kept as its id alone, so that
// an update that comes late still feeds nothing.
const (
	maxCalls = 2048      // running calls of one session
	maxEnded = 4096      // ended calls of one session
	maxBytes = 256 << 20 // of all sessions, about
	callCost = 512       // bytes of a call without its texts and metadata, about
)

// tracker holds the earlier part of each effective tool call: what the updates
// of the same session and tool call id said. An offer feeds nothing.
type tracker struct {
	sessions map[string]*callSession
	recent   *list.List          // session ids, the least recently used first
	dropped  map[string]struct{} // sessions that lost all their calls to the bound
	lostAll  bool                // so many that they are not told apart any more
	bytes    int
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
	bytes  int
}

type call struct {
	name, title, kind pipeline.Text
	meta              pipeline.Meta
	facts             pipeline.DialectFacts
	contradictory     bool
	place             *list.Element
	bytes             int
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
	_, dropped := t.dropped[id]
	s := &callSession{
		calls: map[string]*call{}, order: list.New(),
		ended: map[string]*list.Element{}, past: list.New(),
		lost: dropped || t.lostAll, forgot: dropped || t.lostAll,
		place: t.recent.PushBack(id),
	}
	t.sessions[id] = s
	t.grow(s, callCost+len(id))
	return s
}

// grow accounts for memory of a session; shrink must follow.
func (t *tracker) grow(s *callSession, bytes int) {
	s.bytes += bytes
	t.bytes += bytes
}

// shrink forgets the sessions that were not used for the longest time, and at
// last the oldest calls of the one in use, until the bound is kept.
func (t *tracker) shrink(current *callSession) {
	for t.bytes > maxBytes {
		oldest := t.recent.Front()
		if oldest != current.place {
			id := t.recent.Remove(oldest).(string)
			t.bytes -= t.sessions[id].bytes
			delete(t.sessions, id)
			if t.lostAll = t.lostAll || len(t.dropped) >= maxEnded; !t.lostAll {
				t.dropped[id] = struct{}{}
			}
			continue
		}
		if current.order.Len() == 0 {
			return
		}
		t.lose(current)
	}
}

// lose drops the oldest running call of a session.
func (t *tracker) lose(s *callSession) {
	id := s.order.Remove(s.order.Front()).(string)
	t.grow(s, -s.calls[id].bytes)
	delete(s.calls, id)
	s.lost = true
}

// update takes one update of a tool call.
func (t *tracker) update(u *update, observer pipeline.Observer) {
	s := t.session(u.session)
	defer t.shrink(s)
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
		c = t.begin(s, u.seen.ID)
	case c == nil && (s.forgot || s.ended[u.seen.ID] != nil):
		return
	case c == nil:
		c = t.begin(s, u.seen.ID)
	}
	c.merge(u)
	cost := u.cost
	if observer != nil {
		if c.facts = observer.Observe(&u.seen, facts); c.facts != facts {
			cost += len(c.facts.Server) + len(c.facts.Tool)
		}
	}
	c.bytes += cost // what it replaces is counted until the call ends
	t.grow(s, cost)
	if u.ended() {
		t.end(s, u.seen.ID)
	}
}

// begin starts a call anew and makes room for it.
func (t *tracker) begin(s *callSession, id string) *call {
	if e := s.ended[id]; e != nil {
		s.past.Remove(e)
		delete(s.ended, id)
		t.grow(s, -callCost-len(id))
	}
	if old := s.calls[id]; old != nil {
		s.order.Remove(old.place)
		t.grow(s, -old.bytes)
	} else if len(s.calls) >= maxCalls {
		t.lose(s)
	}
	c := &call{place: s.order.PushBack(id), bytes: callCost + len(id)}
	s.calls[id] = c
	t.grow(s, c.bytes)
	return c
}

// end forgets everything of a call but that it is over; also a contradiction.
func (t *tracker) end(s *callSession, id string) {
	c := s.calls[id]
	s.order.Remove(c.place)
	delete(s.calls, id)
	t.grow(s, callCost+len(id)-c.bytes)
	if s.past.Len() >= maxEnded {
		first := s.past.Remove(s.past.Front()).(string)
		delete(s.ended, first)
		t.grow(s, -callCost-len(first))
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
	defer t.shrink(s)
	if len(target.call) > pipeline.MaxText {
		s.lost = true
		return
	}
	c := s.calls[target.call]
	if c == nil {
		c = t.begin(s, target.call)
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
