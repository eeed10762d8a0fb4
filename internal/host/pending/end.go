package pending

import (
	"container/heap"
	"hash/maphash"
	"time"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// CancelSession answers every open offer of a session "cancelled" and says how
// many there were. No other session is touched.
func (s *Store) CancelSession(id InstanceID, session string) int {
	return s.endWhere(id, endSession, func(e *entry) bool { return e.field(fieldSession) == session })
}

// Withdraw answers the open offers of an instance with this JSON-RPC id
// "cancelled"; there are several only if the agent used one id twice. Ids are
// compared in their exact text: 7 and "7" are two.
func (s *Store) Withdraw(id InstanceID, request acp.ID) int {
	return s.endWhere(id, endWithdrawn, func(e *entry) bool { return e.field(fieldID) == request.String() })
}

// DropInstance ends every open offer of an agent that is gone. Its late offers
// are refused from now on, and no other instance is touched.
func (s *Store) DropInstance(id InstanceID) int {
	return s.endWhere(id, endInstance, func(*entry) bool { return true })
}

// endWhere walks the offers of one instance. Their number is bounded, so no
// index by session or JSON-RPC id is worth its memory.
func (s *Store) endWhere(id InstanceID, how ending, which func(*entry) bool) int {
	s.mu.Lock()
	var ended []delivery
	if in := s.instances[id]; in != nil {
		for e := in.open.head; e != nil; {
			next := in.open.after(e)
			if which(e) {
				ended = append(ended, s.end(e, how, cancelled))
			}
			e = next
		}
	}
	if how == endInstance {
		delete(s.instances, id)
		s.gone.add(id)
		s.forgetScopes(id)
	}
	s.mu.Unlock()
	deliverAll(ended)
	return len(ended)
}

// Close answers every open offer "cancelled", closes the channels of all readers
// and waits for what the timer is doing. Later offers are cancelled at once.
func (s *Store) Close() {
	s.mu.Lock()
	var ended []delivery
	s.closed = true
	for e := s.all.head; e != nil; {
		next := s.all.after(e)
		ended = append(ended, s.end(e, endClosed, cancelled))
		e = next
	}
	if s.timer != nil && s.timer.Stop() {
		s.firing.Done()
	}
	for w := range s.watchers {
		close(w.events)
	}
	clear(s.watchers)
	s.mu.Unlock()
	deliverAll(ended)
	s.firing.Wait()
}

// delivery is an answer that somebody won and has to deliver.
type delivery struct {
	deliver func(Outcome) error
	outcome Outcome
}

// deliverAll delivers to agents of which nobody waits to hear whether they could
// be reached: an agent that cannot be reached has lost its offers anyway.
func deliverAll(ended []delivery) {
	for _, d := range ended {
		_ = d.deliver(d.outcome)
	}
}

// end ends an offer that nobody answered. The option is an index or [cancelled].
func (s *Store) end(e *entry, how ending, option int) delivery {
	d := delivery{outcome: Outcome{
		Key:    Key{Instance: e.instance.id, Session: e.field(fieldSession), Request: s.id(e.seq)},
		Option: option, Reason: endings[how].reason,
	}}
	s.finish(e, tombstone{end: how}, &d)
	return d
}

// finish takes an offer out of everything and completes the outcome. It is the
// only way out, so whoever calls it has won.
func (s *Store) finish(e *entry, t tombstone, d *delivery) {
	s.open.remove(e)
	s.all.remove(e)
	e.instance.open.remove(e)
	e.instance.count--
	if e.place >= 0 {
		heap.Remove(&s.due, int(e.place))
	}
	s.release(e.detail)

	o := &d.outcome
	d.deliver = e.deliver
	o.Sequence, o.Waited, o.Verdict = e.seq, time.Since(e.at), pipeline.Cancel
	if o.Option >= 0 {
		chosen := e.optionList().At(o.Option)
		o.Verdict, o.OptionID, o.OptionKind = pipeline.Select, chosen.ID, pipeline.KnownKind(chosen.Kind)
		t.chose, t.option = true, maphash.String(s.seed, chosen.ID)
	}
	t.seq, t.tuple = e.seq, s.tuple(e.instance.hash, o.Key.Session)
	s.ended.put(t)
	if len(s.watchers) > 0 {
		s.tell(Event{Kind: Closed, Snapshot: e.snapshot(o.Key.Request), Outcome: *o})
	}
}
