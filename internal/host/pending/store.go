package pending

import (
	"container/heap"
	"crypto/rand"
	"hash/maphash"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// Config of a [Store]. The zero value is good: offers wait for as long as there
// is somebody who could see them.
type Config struct {
	// Unseen is how long an offer waits while no surface was ever attached that
	// could show it. 0 means [DefaultUnseen]; below zero it waits for ever.
	Unseen time.Duration
	// Expiry of offers that bring none; by default there is none.
	Expiry Expiry
	// MaxOpen and MaxOpenPerInstance bound how many offers wait; 0 means the
	// defaults. What does not fit is answered "cancelled".
	MaxOpen, MaxOpenPerInstance int
	// Tombstones is about how many ended offers are remembered, so that a late
	// answer is told what happened; 0 means [DefaultTombstones].
	Tombstones int
	// MaxDetail bounds what is kept for [Store.Detail] of one offer, and
	// MaxDetails of all offers together, in bytes; 0 means the defaults.
	MaxDetail, MaxDetails int
}

// Defaults of [Config].
const (
	DefaultUnseen             = 5 * time.Second
	DefaultMaxOpen            = 1 << 17
	DefaultMaxOpenPerInstance = 4096
	DefaultTombstones         = 8192
	DefaultMaxDetail          = 256 << 10
	DefaultMaxDetails         = 64 << 20
)

func (c Config) withDefaults() Config {
	def := func(value *int, otherwise int) {
		if *value <= 0 {
			*value = otherwise
		}
	}
	def(&c.MaxOpen, DefaultMaxOpen)
	def(&c.MaxOpenPerInstance, DefaultMaxOpenPerInstance)
	def(&c.Tombstones, DefaultTombstones)
	def(&c.MaxDetail, DefaultMaxDetail)
	def(&c.MaxDetails, DefaultMaxDetails)
	if c.Unseen == 0 {
		c.Unseen = DefaultUnseen
	}
	return c
}

// Store holds the open offers of all instances. It is safe for concurrent use
// and has no goroutine of its own, only one timer.
type Store struct {
	config  Config
	prefix  string // of the request ids: no other store has it
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
	attached   int

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
		prefix:    strings.ToLower(rand.Text()[:13]) + "-", // 65 random bits
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

// NextID is the request id of an offer that does not wait, for the records of it.
// Nothing can be answered by it.
func (s *Store) NextID() RequestID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.id(s.last)
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
		o.Verdict, o.OptionID, o.OptionKind = pipeline.Select, chosen.ID, knownKind(chosen.Kind)
		t.chose, t.option = true, maphash.String(s.seed, chosen.ID)
	}
	t.seq, t.tuple = e.seq, s.tuple(e.instance.hash, o.Key.Session)
	s.ended.put(t)
	if len(s.watchers) > 0 {
		s.tell(Event{Kind: Closed, Snapshot: e.snapshot(o.Key.Request), Outcome: *o})
	}
}

func (s *Store) tuple(instance uint64, session string) uint64 {
	return instance*0x9e3779b97f4a7c15 + maphash.String(s.seed, session)
}

// id is the request id of a sequence number.
func (s *Store) id(seq uint64) RequestID {
	var b strings.Builder
	b.Grow(len(s.prefix) + 8)
	s.writeID(&b, seq)
	return RequestID(b.String())
}

func (s *Store) writeID(b *strings.Builder, seq uint64) {
	var digits [20]byte
	b.WriteString(s.prefix)
	b.Write(strconv.AppendUint(digits[:0], seq, 10))
}

// sequence reads a request id of this store. There is one way to write each.
func (s *Store) sequence(id RequestID) (uint64, bool) {
	digits, ok := strings.CutPrefix(string(id), s.prefix)
	if !ok || digits == "" || len(digits) > maxDigits || digits[0] == '0' {
		return 0, false
	}
	var seq uint64
	for i := range len(digits) {
		c := digits[i] - '0'
		if c > 9 {
			return 0, false
		}
		seq = seq*10 + uint64(c)
	}
	return seq, true
}

// maxDigits are as many as fit without an overflow; no store lives that long.
const maxDigits = 19
