package pending

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// The model of the store is a list of what was registered. It is as simple as
// can be, so that it is plain what is right: one offer, one delivered answer.

type modelOffer struct {
	key      Key
	rpc      string
	options  []pipeline.Option
	wire     wire
	opened   time.Time
	expires  time.Duration // 0: never
	reject   bool
	ended    pipeline.Reason // empty: open
	refused  bool
	answered Answer
}

type model struct {
	s      *Store
	events <-chan Event
	offers []*modelOffer
	seen   bool // a surface was attached
	gone   map[InstanceID]bool
	opened int // events that were read
	closed int
}

const (
	modelUnseen = 20 * time.Second
	modelOpen   = 12
)

func newModel() *model {
	s := New(Config{Unseen: modelUnseen, MaxOpenPerInstance: modelOpen, Tombstones: 1 << 12})
	events, _ := s.Watch(1 << 12)
	return &model{s: s, events: events, gone: map[InstanceID]bool{}}
}

// Few names, so that tuples, JSON-RPC ids and call ids meet all the time.
func modelInstance(n int) InstanceID { return InstanceID(fmt.Sprint("i", n%3)) }
func modelSession(n int) string      { return fmt.Sprint("s", n%2) }
func modelRPC(n int) string          { return [...]string{"0", `"0"`, "1"}[n%3] }
func modelOptions(n int) []pipeline.Option {
	return [...][]pipeline.Option{usual, allowOnly, fourOnce, {{ID: "deny", Kind: pipeline.AllowOnce}, {ID: "allow", Kind: pipeline.RejectOnce}}}[n%4]
}
func modelAnswer(n int) Answer {
	return [...]Answer{Allow(), Deny(), Select("allow-once"), Select("allow"), Select("a"), Select("2"), Select("nope"), Cancel()}[n%8]
}

func (m *model) open() []*modelOffer {
	return slices.DeleteFunc(slices.Clone(m.offers), func(o *modelOffer) bool { return o.ended != "" })
}

func (m *model) openOf(in InstanceID) int {
	return len(slices.DeleteFunc(m.open(), func(o *modelOffer) bool { return o.key.Instance != in }))
}

func (m *model) register(n int, expires time.Duration, reject bool) error {
	o := &modelOffer{
		key: Key{Instance: modelInstance(n), Session: modelSession(n / 3)}, rpc: modelRPC(n / 6), options: modelOptions(n / 18),
		opened: time.Now(), expires: expires, reject: reject,
	}
	var want error
	switch in := o.key.Instance; {
	case m.gone[in]:
		o.ended, want = ReasonInstanceGone, ErrStale
	case m.openOf(in) >= modelOpen:
		o.ended, want = ReasonTooManyOpen, ErrTooManyOpen
	}
	o.refused = want != nil
	offered := offer(o.key.Instance, o.key.Session, o.rpc, &o.wire, o.options...)
	offered.Expiry = Expiry{After: expires, Reject: reject}
	id, err := m.s.Register(offered)
	o.key.Request = id
	m.offers = append(m.offers, o)
	if !errors.Is(err, want) || slices.ContainsFunc(m.offers[:len(m.offers)-1], func(p *modelOffer) bool { return id != "" && p.key.Request == id }) {
		return fmt.Errorf("register: id %q, %w instead of %v", id, err, want)
	}
	return nil
}

// can says what an answer would select: an option's id, or "" for cancelled.
func (o *modelOffer) can(a Answer) (string, bool) {
	count, id := 0, ""
	for _, opt := range o.options {
		switch {
		case a.kind == answerOption && opt.ID == a.option,
			a.kind == answerAllow && opt.Kind == pipeline.AllowOnce,
			a.kind == answerDeny && opt.Kind == pipeline.RejectOnce:
			count++
			id = opt.ID
		}
	}
	return id, count == 1 || a.kind == answerDeny && count == 0 || a.kind == answerCancel
}

// resolve lets several people answer one offer at once, with the right key or a
// mixed one.
func (m *model) resolve(n, mix int, answers []int) error {
	if len(m.offers) == 0 {
		return nil
	}
	o := m.offers[n%len(m.offers)]
	if o.refused {
		return nil
	}
	key, wrong := o.key, mix%4 == 3
	if wrong {
		key.Session += "x"
	}
	wasOpen := o.ended == ""
	errs := make([]error, len(answers))
	var all sync.WaitGroup
	for i, a := range answers {
		all.Go(func() { errs[i] = m.s.Resolve(key, modelAnswer(a), someone) })
	}
	all.Wait()
	won := -1
	possible := false
	for i, a := range answers {
		_, can := o.can(modelAnswer(a))
		possible = possible || can
		if err := m.judge(o, errs[i], can, wasOpen, wrong); err != nil {
			return err
		}
		if errs[i] == nil {
			if won >= 0 {
				return errors.New("two answers won")
			}
			won = i
		}
	}
	if (won >= 0) != (wasOpen && possible && !wrong) {
		return fmt.Errorf("answer %d won; open %v, possible %v, wrong key %v: %v", won, wasOpen, possible, wrong, errs)
	}
	if won >= 0 {
		o.answered = modelAnswer(answers[won])
		o.ended = [...]pipeline.Reason{"", ReasonSelected, ReasonAllowed, ReasonDenied, ReasonCancelled}[o.answered.kind]
	}
	return nil
}

// judge checks the error of one answer.
func (m *model) judge(o *modelOffer, err error, can, wasOpen, wrong bool) error {
	var allowed []Code
	switch {
	case wrong:
		allowed = []Code{CodeMismatch}
	case wasOpen && can:
		allowed = []Code{"", CodeAlreadyResolved}
	case wasOpen:
		allowed = []Code{CodeOptionNotOffered, CodeOptionRequired, CodeAlreadyResolved}
	default:
		switch o.ended {
		case ReasonSelected, ReasonAllowed, ReasonDenied, ReasonCancelled:
			allowed = []Code{CodeAlreadyResolved}
		case ReasonExpired, ReasonNoSurface:
			allowed = []Code{CodeExpired}
		case ReasonWithdrawn:
			allowed = []Code{CodeWithdrawn}
		default:
			allowed = []Code{CodeStale}
		}
	}
	var e Error
	errors.As(err, &e)
	if !slices.Contains(allowed, e.Code) || err != nil && e.Code == "" {
		return fmt.Errorf("offer that ended %q: %v, want one of %q", o.ended, err, allowed)
	}
	return nil
}

// end ends open offers as the store does it, and compares how many there were.
func (m *model) end(reason pipeline.Reason, got int, which func(*modelOffer) bool) error {
	for _, o := range m.open() {
		if which(o) {
			o.ended = reason
			got--
		}
	}
	if got != 0 {
		return fmt.Errorf("%s: %d too many or too few", reason, got)
	}
	return nil
}

func (m *model) cancel(n int) error {
	in, session := modelInstance(n), modelSession(n/3)
	return m.end(ReasonSessionCancelled, m.s.CancelSession(in, session), func(o *modelOffer) bool {
		return o.key.Instance == in && o.key.Session == session
	})
}

func (m *model) withdraw(n int) error {
	in, id := modelInstance(n), modelRPC(n/3)
	return m.end(ReasonWithdrawn, m.s.Withdraw(in, acp.NewID(id)), func(o *modelOffer) bool {
		return o.key.Instance == in && o.rpc == id
	})
}

// drop ends an instance. One is always left to go on with.
func (m *model) drop(n int) error {
	in := modelInstance(n % 2)
	m.gone[in] = true
	return m.end(ReasonInstanceGone, m.s.DropInstance(in), func(o *modelOffer) bool { return o.key.Instance == in })
}

func (m *model) attach() error {
	m.seen = true
	m.s.Attach(Scope{})
	return nil
}

// tick ends what is due.
func (m *model) tick() {
	for _, o := range m.open() {
		switch age := time.Since(o.opened); {
		case o.expires > 0 && age >= o.expires && (m.seen || o.expires <= modelUnseen):
			o.ended = ReasonExpired
		case !m.seen && age >= modelUnseen:
			o.ended = ReasonNoSurface
		}
	}
}

// check compares the whole store with the model.
func (m *model) check() error {
	var want []Key
	for _, o := range m.offers {
		sent := o.wire.sent()
		if o.ended == "" {
			want = append(want, o.key)
			if len(sent) != 0 {
				return fmt.Errorf("an open offer was answered: %v", sent)
			}
			continue
		}
		if len(sent) != 1 {
			return fmt.Errorf("offer that ended %q has %d answers", o.ended, len(sent))
		}
		if err := o.checkAnswer(sent[0]); err != nil {
			return err
		}
	}
	if got := listed(m.s); !slices.Equal(want, got) || m.s.Len() != len(want) {
		return fmt.Errorf("listed %v, want %v", got, want)
	}
	return m.checkEvents(len(want))
}

func (o *modelOffer) checkAnswer(got Outcome) error {
	option := ""
	switch {
	case o.answered != Answer{}:
		option, _ = o.can(o.answered)
	case o.ended == ReasonExpired && o.reject:
		if id, can := o.can(Deny()); can {
			option = id
		}
	}
	verdict, index := pipeline.Cancel, -1
	if option != "" {
		verdict = pipeline.Select
		index = slices.IndexFunc(o.options, func(opt pipeline.Option) bool { return opt.ID == option })
	}
	if got.Key != o.key || got.Reason != o.ended || got.Verdict != verdict || got.OptionID != option || got.Option != index {
		return fmt.Errorf("offer that ended %q with %q got %+v", o.ended, option, got)
	}
	return nil
}

// checkEvents counts: as many offers were opened and not closed as there are.
func (m *model) checkEvents(open int) error {
	for len(m.events) > 0 {
		switch ev := <-m.events; ev.Kind {
		case Opened:
			m.opened++
		case Closed:
			m.closed++
		default:
			return errors.New("lagged")
		}
	}
	if m.opened-m.closed != open {
		return fmt.Errorf("events: %d opened, %d closed, %d open", m.opened, m.closed, open)
	}
	return nil
}

func (m *model) finish() error {
	m.s.Close()
	return m.end(ReasonClosed, len(m.open()), func(*modelOffer) bool { return true })
}
