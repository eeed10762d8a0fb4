package pending

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kandev/assent/internal/ratio"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// plainStore is what a host does without this package: a map behind a mutex, and
// a channel for each request. It knows one way to end and one way to fail.
type plainStore struct {
	mu   sync.Mutex
	last uint64
	open map[string]*plainRequest
}

type plainRequest struct {
	session string
	options []pipeline.Option
	opened  time.Time // any list of waiting requests says since when
	answer  chan int
}

func (s *plainStore) register(session string, options []pipeline.Option) (string, *plainRequest) {
	r := &plainRequest{session: session, options: options, opened: time.Now(), answer: make(chan int, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	id := "request-" + strconv.FormatUint(s.last, 10)
	s.open[id] = r
	return id, r
}

func (s *plainStore) resolve(session, id, option string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.open[id]
	if r == nil || r.session != session {
		return false
	}
	for i := range r.options {
		if r.options[i].ID == option {
			delete(s.open, id)
			r.answer <- i
			return true
		}
	}
	return false
}

const benchInstances = 50

func benchOffer(n int, deliver func(Outcome) error) Offer {
	return Offer{
		Instance: InstanceID("instance-" + strconv.Itoa(n%benchInstances)),
		ID:       acp.NewID(strconv.Itoa(n)),
		Request: &pipeline.Request{
			SessionID: fmt.Sprintf("5e551017-0000-4000-8000-%012d", n%benchInstances),
			Call:      pipeline.ToolCall{ID: "call", Title: pipeline.NewText("go test ./..."), Kind: pipeline.NewText("execute")},
			Options: []pipeline.Option{
				{ID: "allow-once", Kind: pipeline.AllowOnce, Label: "Yes"},
				{ID: "allow-always", Kind: pipeline.AllowAlways, Label: "Yes, and don't ask again"},
				{ID: "reject", Kind: pipeline.RejectOnce, Label: "No"},
			},
		},
		Result:  pipeline.Result{Decision: pipeline.Decision{Reason: "nobody_approved"}, Stage: "pending"},
		Deliver: deliver,
	}
}

func roomyStore() *Store {
	s := New(Config{MaxOpenPerInstance: 1 << 20, MaxOpen: 1 << 20})
	s.Attach(Scope{})
	return s
}

// BenchmarkRatioRegisterResolve compares the two stores at their work: an offer comes,
// an answer finds it, the answer gets to whoever writes it. Both are handed what
// a person will see, as no plain store makes it.
func BenchmarkRatioRegisterResolve(b *testing.B) {
	for _, open := range []int{100, 10_000, 100_000} {
		subject, reference := registerResolve(b, open), plainRegisterResolve(b, open)
		ratio.Run(b, ratio.Figure{
			Name: fmt.Sprintf("pending_register_resolve_%d", open), Limit: 1.2, Subject: subject, Reference: reference,
		})
	}
}

func registerResolve(b *testing.B, open int) func(n int) {
	s := roomyStore()
	answered := 0
	var offers [benchInstances]Offer
	var records [benchInstances]record
	for i := range offers {
		offers[i] = benchOffer(i, func(o Outcome) error { answered += o.Option; return nil })
		records[i], _, _ = describe(&offers[i], DefaultMaxDetail)
	}
	add := func(i int) Key {
		o := &offers[i%benchInstances]
		id, err := s.add(o, records[i%benchInstances], "")
		if err != nil {
			b.Fatal(err)
		}
		return Key{Instance: o.Instance, Session: o.Request.SessionID, Request: id}
	}
	for i := range open {
		add(i)
	}
	return func(n int) {
		for i := range n {
			if err := s.Resolve(add(i), Select("reject"), Responder{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func plainRegisterResolve(b *testing.B, open int) func(n int) {
	plain := &plainStore{open: map[string]*plainRequest{}}
	answered, ended := 0, make(chan struct{})
	var offers [benchInstances]Offer
	for i := range offers {
		offers[i] = benchOffer(i, nil)
	}
	for i := range open {
		o := &offers[i%benchInstances]
		plain.register(o.Request.SessionID, o.Request.Options)
	}
	return func(n int) {
		for i := range n {
			o := &offers[i%benchInstances]
			id, r := plain.register(o.Request.SessionID, o.Request.Options)
			if !plain.resolve(o.Request.SessionID, id, "reject") {
				b.Fatal("not found")
			}
			select { // whoever waits also hears of the end of the session
			case option := <-r.answer:
				answered += option
			case <-ended:
				b.Fatal("no answer")
			}
		}
	}
}

// BenchmarkRatioMemory reports what an open offer holds beyond its text.
func BenchmarkRatioMemory(b *testing.B) {
	ratio.Value(b, "pending_bytes_per_open_offer", bytesPerOffer(100_000, benchFrame), 256)
}

// BenchmarkRatioList compares a page of snapshots with a copy of as many structs.
func BenchmarkRatioList(b *testing.B) {
	s := roomyStore()
	for i := range 100_000 {
		if _, err := s.Register(benchOffer(i, func(Outcome) error { return nil })); err != nil {
			b.Fatal(err)
		}
	}
	page := s.List(Query{})
	var out []Snapshot
	ratio.Run(b, ratio.Figure{
		Name: "pending_list_1000_of_100000", Limit: 3,
		Subject: func(n int) {
			for range n {
				out = s.List(Query{After: 50_000})
			}
		},
		Reference: func(n int) {
			for range n {
				out = append([]Snapshot(nil), page...)
			}
		},
	})
	_ = out
}
