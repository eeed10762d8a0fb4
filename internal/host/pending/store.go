package pending

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kandev/assent/pipeline"
)

// Store holds the open offers of all instances. It is safe for concurrent use
// and has no goroutine of its own, only one timer.
type Store struct {
	config  Config
	ids     mixer // of request ids
	epoch   time.Time
	seed    maphash.Seed
	details atomic.Int64 // bytes kept for Detail

	mu        sync.Mutex
	last      uint64
	open      index
	all       list
	instances map[InstanceID]*instance
	gone      graveyard
	ended     tombstones
	watchers  map[*watcher]struct{}
	closed    bool

	scopes     map[Scope]struct{} // where a surface was ever attached
	everywhere bool               // one was attached that can show everything

	due      dueHeap
	timer    *time.Timer
	armed    bool
	armedFor int64
	firing   sync.WaitGroup
}

// New makes an empty store.
func New(c Config) *Store {
	c = c.withDefaults()
	return &Store{
		config:    c,
		ids:       newMixer(),
		epoch:     time.Now(),
		seed:      maphash.MakeSeed(),
		all:       list{by: byAge},
		instances: map[InstanceID]*instance{},
		gone:      newGraveyard(),
		ended:     newTombstones(c.Tombstones),
		scopes:    map[Scope]struct{}{},
		watchers:  map[*watcher]struct{}{},
	}
}

// Register adds an offer that pends and returns its request id. An offer that
// cannot wait is answered "cancelled" at once, through its Deliver like any
// other, and the [Error] says why. Only with [ErrDecided] and [ErrIncomplete],
// which are mistakes of the caller, Deliver is not called.
func (s *Store) Register(o Offer) (RequestID, error) {
	switch {
	case o.Instance == "" || o.Request == nil || o.Deliver == nil:
		return "", ErrIncomplete
	case o.Result.Decision.Verdict != pipeline.Pend:
		return "", ErrDecided
	}
	rec, src, ok := describe(&o, s.config.MaxDetail)
	if !ok {
		return "", refuse(&o, Error{Code: CodeTooLarge, Reason: ReasonTooLarge})
	}
	return s.add(&o, rec, s.hold(src))
}

// add is Register for an offer that has been described.
func (s *Store) add(o *Offer, rec record, detail string) (RequestID, error) {
	e := &entry{record: rec, at: time.Now(), deliver: o.Deliver, detail: detail, place: -1}
	expiry := o.Expiry
	if expiry.After == 0 {
		expiry = s.config.Expiry
	}
	if expiry.After > 0 {
		e.expires, e.reject = s.since(e.at.Add(expiry.After)), expiry.Reject
	}
	s.mu.Lock()
	in, err := s.room(o.Instance)
	if err != nil {
		s.mu.Unlock()
		s.release(detail)
		return "", refuse(o, err.(Error))
	}
	s.last++
	e.seq, e.instance = s.last, in
	in.count++
	s.open.put(e)
	s.all.push(e)
	in.open.push(e)
	s.schedule(e)
	s.arm()
	id := s.id(e.seq)
	if len(s.watchers) > 0 {
		s.tell(Event{Kind: Opened, Snapshot: e.snapshot(id)})
	}
	s.mu.Unlock()
	return id, nil
}

// room finds the instance of a new offer, or says why the offer cannot wait.
func (s *Store) room(id InstanceID) (*instance, error) {
	in := s.instances[id]
	switch {
	case s.closed:
		return nil, Error{Code: CodeClosed, Reason: ReasonClosed}
	case in == nil && s.gone.has(id):
		return nil, Error{Code: CodeStale, Reason: ReasonInstanceGone}
	case s.open.count >= s.config.MaxOpen, in != nil && in.count >= s.config.MaxOpenPerInstance:
		return nil, Error{Code: CodeTooManyOpen, Reason: ReasonTooManyOpen}
	case in == nil:
		in = &instance{id: id, hash: maphash.String(s.seed, string(id)), open: list{by: byInstance}}
		s.instances[id] = in
	}
	return in, nil
}

// refuse answers an offer that never waited.
func refuse(o *Offer, err Error) error {
	_ = o.Deliver(Outcome{
		Key:     Key{Instance: o.Instance, Session: o.Request.SessionID},
		Verdict: pipeline.Cancel, Option: cancelled, Reason: err.Reason,
	})
	return err
}

// Resolve answers one offer for a person. It wins at most once per offer; then
// it returns after the answer was delivered. The error is an [Error]: after
// [ErrOptionNotOffered], [ErrOptionRequired] and [ErrMismatch] nothing has
// changed, and the others say what became of the offer.
func (s *Store) Resolve(key Key, a Answer, by Responder) error {
	s.mu.Lock()
	e, err := s.find(key, a)
	if err != nil {
		s.mu.Unlock()
		return err
	}
	option, reason, err := e.choose(a)
	if err != nil {
		s.mu.Unlock()
		return err
	}
	d := delivery{outcome: Outcome{Key: key, Option: option, Reason: reason, By: by}}
	s.finish(e, tombstone{end: endAnswered, answer: a.kind}, &d)
	s.mu.Unlock()
	if d.deliver(d.outcome) == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.ended.get(e.seq); t != nil {
		t.end = endNotDelivered
	}
	return Error{Code: CodeStale, Reason: ReasonNotDelivered}
}

// find is the open offer with exactly this key, or what became of it.
func (s *Store) find(key Key, a Answer) (*entry, error) {
	seq, ok := s.sequence(key.Request)
	if !ok {
		return nil, ErrNotFound
	}
	if e := s.open.get(seq); e != nil {
		if e.instance.id != key.Instance || e.field(fieldSession) != key.Session {
			return nil, ErrMismatch
		}
		return e, nil
	}
	t := s.ended.get(seq)
	switch {
	case t == nil:
		return nil, ErrNotFound
	case t.tuple != s.tuple(maphash.String(s.seed, string(key.Instance)), key.Session):
		return nil, ErrMismatch
	}
	return nil, t.error(a, maphash.String(s.seed, a.option))
}

func (s *Store) tuple(instance uint64, session string) uint64 {
	return instance*0x9e3779b97f4a7c15 + maphash.String(s.seed, session)
}
