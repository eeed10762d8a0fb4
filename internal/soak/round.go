package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/process"
)

// Bounds of a round, from one up to these.
const (
	maxSessions = 3
	maxTurns    = 3
	maxBurst    = 300
)

// end is how a round ends.
type end int

const (
	inPeace end = iota // stopped after its turns
	stopped            // stopped in the middle of them
	killed             // with SIGKILL, from outside
)

// round is the life of one agent.
type round struct {
	soak     *soak
	random   *rand.Rand
	wire     *wire
	instance *process.Instance
	end      end
	burst    int // requests of one turn
}

// play starts an agent, gives it something to do, disturbs it, and ends it.
func (s *soak) play(random *rand.Rand) {
	r := &round{soak: s, random: random, wire: newWire(s.totals), burst: 1 + random.IntN(maxBurst)}
	r.end = []end{inPeace, inPeace, stopped, killed, killed}[random.IntN(5)]
	instance, err := s.manager.Start(context.Background(), process.Launch{
		Command: s.options.Agent, Config: config.Config{Agent: "claude-acp"},
		Endpoint: &endpoint.Options{},
		Recorder: func(config.InstanceConfig) (process.Recorder, error) { return r.wire, nil },
	})
	if err != nil {
		s.totals.violation("an agent did not start: " + err.Error())
		return
	}
	s.totals.add(countStarts, 1)
	r.instance = instance
	s.register(instance.ID(), r.wire)
	r.live()
	<-instance.Done()
	r.wire.gone(r.end)
	s.forget(instance.ID())
	s.totals.add([]string{countPeace, countStops, countKills}[r.end], 1)
}

// live lets the agent work until its end.
func (r *round) live() {
	var sessions []*process.Session
	for range 1 + r.random.IntN(maxSessions) {
		session, err := r.instance.NewSession(context.Background(), os.TempDir())
		if err != nil {
			r.soak.totals.violation("a session was not made: " + err.Error())
			break
		}
		sessions = append(sessions, session)
	}
	turns := 1 + r.random.IntN(maxTurns)
	expected := max(1, len(sessions)*turns*r.burst)
	disturbed := r.disturb(sessions, expected)
	var working sync.WaitGroup
	for _, session := range sessions {
		working.Go(func() {
			for range turns {
				// Its error says that the agent is gone, which is no surprise here.
				if _, err := session.Prompt(context.Background(), fmt.Sprintf("burst %d", r.burst)); err != nil {
					return
				}
			}
		})
	}
	working.Wait()
	r.wire.quiet() // what has not happened by now will not
	<-disturbed
	if r.end == inPeace {
		if n := r.wire.open(); n > 0 {
			r.soak.totals.violation("offers are open although every turn is over")
		}
		r.instance.Stop(context.Background())
	}
}

// disturb does, each at a moment of its own, what a round has in store: sessions
// are cancelled, and the agent is stopped or killed. The channel is closed when
// all of it is done.
func (r *round) disturb(sessions []*process.Session, expected int) <-chan struct{} {
	var all sync.WaitGroup
	at := func(what func()) {
		reached := r.wire.after(r.random.IntN(expected))
		all.Go(func() { <-reached; what() })
	}
	for range r.random.IntN(3) {
		if len(sessions) > 0 {
			session := sessions[r.random.IntN(len(sessions))]
			at(func() { _ = session.Cancel() }) // the agent may be gone
		}
	}
	switch r.end {
	case stopped:
		at(func() { r.wire.stopping(); r.instance.Stop(context.Background()) })
	case killed:
		at(func() { r.soak.pids.kill(r.instance.ID()) })
	}
	done := make(chan struct{})
	go func() { defer close(done); all.Wait() }()
	return done
}
