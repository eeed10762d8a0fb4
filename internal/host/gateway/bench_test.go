package gateway

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/ratio"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// plainServer is what coder/websocket needs at least: it accepts, and hands each
// connection to a function.
func plainServer(b *testing.B, serve func(context.Context, *websocket.Conn)) (url string) {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		serve(ctx, conn)
	})}
	running.Go(func() { _ = server.Serve(listener) })
	b.Cleanup(func() { cancel(); _ = server.Close(); running.Wait() })
	return "ws://" + listener.Addr().String()
}

// benchDial connects a client that ends with the benchmark.
func benchDial(b *testing.B, url string, header http.Header) *websocket.Conn {
	b.Helper()
	conn, answer, err := websocket.Dial(context.Background(), url, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		b.Fatal(err, answer)
	}
	b.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

func roundTrip(b *testing.B, conn *websocket.Conn, message []byte) []byte {
	if err := conn.Write(context.Background(), websocket.MessageText, message); err != nil {
		b.Fatal(err)
	}
	_, reply, err := conn.Read(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	return reply
}

var unlimited = func(o *Options) { o.Limits.Rate, o.Limits.Burst = 1e12, 1e12 }

type answered struct {
	Answered bool `json:"answered"`
}

// resolving registers permission.resolve over a real store.
func (s *stand) resolving(b *testing.B, store *pending.Store) {
	type resolve struct {
		Session string `json:"session"`
		Request string `json:"request"`
		Answer  string `json:"answer"`
	}
	schema, err := jsonschema.For[resolve](nil)
	if err != nil {
		b.Fatal(err)
	}
	err = s.d.Register(dispatch.Action{
		Name: "permission.resolve", Doc: "Answers an offer.", Schema: schema, Scope: dispatch.ScopeAnswer,
		Handler: func(_ context.Context, o dispatch.Origin, payload jsontext.Value) (any, error) {
			var ask resolve
			if err := json.Unmarshal(payload, &ask); err != nil {
				return nil, err
			}
			key := pending.Key{Instance: "i", Session: ask.Session, Request: pending.RequestID(ask.Request)}
			if err := store.Resolve(key, pending.Select(ask.Answer), pending.Responder{}); err != nil {
				return nil, err
			}
			return answered{true}, nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRatioResolve compares the answer to an offer of a real store, over the
// WebSocket and through the dispatcher, with an echo of the same message: the medians
// of the round trips.
func BenchmarkRatioResolve(b *testing.B) {
	store := pending.New(pending.Config{Unseen: -1})
	b.Cleanup(store.Close)
	s := begin(b, unlimited)
	s.resolving(b, store)
	own := benchDial(b, "ws://"+s.host+"/ws", http.Header{"Authorization": {"Bearer s3cret"}})
	echo := benchDial(b, plainServer(b, func(ctx context.Context, conn *websocket.Conn) {
		for {
			kind, message, err := conn.Read(ctx)
			if err != nil || conn.Write(ctx, kind, message) != nil {
				return
			}
		}
	}), nil)
	const form = `{"id":"1","action":"permission.resolve","payload":{"session":"s","request":%q,"answer":"allow"}}`
	offer := pending.Offer{
		Instance: "i", ID: acp.NewID("1"), Deliver: func(pending.Outcome) error { return nil },
		Result:  pipeline.Result{Decision: pipeline.Decision{Verdict: pipeline.Pend, Reason: "nobody_approved"}, Stage: "pending"},
		Request: &pipeline.Request{SessionID: "s", Options: []pipeline.Option{{ID: "allow", Kind: pipeline.AllowOnce, Label: "Yes"}}},
	}
	const trips = 10_000
	took, reference := make([]time.Duration, 0, trips), make([]time.Duration, 0, trips)
	for range trips { // in turns, so that both see the same machine
		id, err := store.Register(offer)
		if err != nil {
			b.Fatal(err)
		}
		message := fmt.Appendf(nil, form, id)
		began := time.Now()
		reply := roundTrip(b, own, message)
		took = append(took, time.Since(began))
		if !bytes.HasSuffix(reply, []byte(`"result":{"answered":true}}`)) {
			b.Fatalf("%s", reply)
		}
		began = time.Now()
		roundTrip(b, echo, message)
		reference = append(reference, time.Since(began))
	}
	slices.Sort(took)
	slices.Sort(reference)
	ratio.Value(b, "gateway_resolve_round_trip_p50", float64(took[trips/2])/float64(reference[trips/2]), 1.5)
}

const benchClients = 1000

// crowd are many clients, each of which reads all the time.
type crowd struct {
	got     sync.WaitGroup // messages that are awaited
	reading sync.WaitGroup
	conns   []*websocket.Conn
}

func (c *crowd) join(conn *websocket.Conn) {
	c.conns = append(c.conns, conn)
	c.reading.Go(func() {
		for {
			if _, _, err := conn.Read(context.Background()); err != nil {
				return
			}
			c.got.Done()
		}
	})
}

func (c *crowd) leave() {
	for _, conn := range c.conns {
		_ = conn.CloseNow()
	}
	c.reading.Wait()
}

// BenchmarkRatioBroadcast compares the time until the last of a thousand watching
// clients has a card with a loop that writes the same bytes to as many connections.
func BenchmarkRatioBroadcast(b *testing.B) {
	s := begin(b, unlimited)
	s.watching(b, nil)
	var own, plain crowd
	defer plain.leave()
	defer own.leave()
	var mu sync.Mutex
	var accepted []*websocket.Conn
	var connected sync.WaitGroup
	connected.Add(benchClients)
	url := plainServer(b, func(ctx context.Context, conn *websocket.Conn) {
		mu.Lock()
		accepted = append(accepted, conn)
		mu.Unlock()
		connected.Done()
		_, _, _ = conn.Read(ctx)
	})
	for i := range benchClients {
		name := fmt.Sprintf("desk-%d", i/maxOfToken)
		s.people.add(name, dispatch.Person{Name: name, Scopes: everything})
		conn := benchDial(b, "ws://"+s.host+"/ws", http.Header{"Authorization": {"Bearer " + name}})
		roundTrip(b, conn, []byte(watchAll))
		own.join(conn)
		plain.join(benchDial(b, url, nil))
	}
	connected.Wait()
	card := Event{Name: "offer.opened", Task: "t1", Payload: map[string]string{"action": strings.Repeat("x", 800)}}
	encoded, err := card.encode()
	if err != nil {
		b.Fatal(err)
	}
	bytesOfCard := encoded.appendTo(nil, 100)
	ratio.Run(b, ratio.Figure{
		Name: "gateway_broadcast_1000", Limit: 1.5,
		Subject: func(n int) {
			for range n {
				own.got.Add(benchClients)
				if err := s.Publish(card); err != nil {
					b.Fatal(err)
				}
				own.got.Wait()
			}
		},
		Reference: func(n int) {
			for range n {
				plain.got.Add(benchClients)
				for _, conn := range accepted {
					if err := conn.Write(context.Background(), websocket.MessageText, bytesOfCard); err != nil {
						b.Fatal(err)
					}
				}
				plain.got.Wait()
			}
		},
	})
}
