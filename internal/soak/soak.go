// Package soak runs the demo agent at full speed, in real child processes, for
// minutes: people answer at random and at the same time, sessions are cancelled,
// requests are taken back, agents are stopped and killed. It reads the wire by
// itself and checks that each offer got exactly one well-formed answer, and that
// the host's memory stays flat.
package soak

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/stages"
)

// Options of a run.
type Options struct {
	// Agent is the demo agent.
	Agent process.Command
	// For is how long it runs.
	For time.Duration
	// Agents is how many run at a time.
	Agents int
	// Seed of everything random. The order of events is the scheduler's all the
	// same, so a seed does not repeat a run.
	Seed uint64
	// Report is where the figures go.
	Report io.Writer
}

// checkpoints is how often the memory is looked at.
const checkpoints = 10

type soak struct {
	options Options
	totals  *totals
	manager *process.Manager
	store   *pending.Store
	pids    *pids

	mu    sync.Mutex
	wires map[process.InstanceID]*wire
}

// Run runs and reports. It is true when nothing was violated; an error says that
// it could not run, or not to its end.
func Run(ctx context.Context, o Options) (bool, error) {
	s := &soak{options: o, totals: newTotals(), store: pending.New(pending.Config{}), wires: map[process.InstanceID]*wire{}}
	s.pids = &pids{all: s.totals, byID: map[process.InstanceID]int{}}
	if err := s.compose(); err != nil {
		return false, err
	}
	dismiss := s.crowd()
	begun := time.Now()
	var points []checkpoint
	for leg := range checkpoints {
		s.leg(ctx, begun.Add(o.For*time.Duration(leg+1)/checkpoints), uint64(leg))
		points = append(points, take(time.Since(begun)))
		if ctx.Err() != nil {
			break
		}
	}
	s.manager.Stop(context.Background())
	dismiss()
	s.store.Close()
	took := time.Since(begun)
	s.totals.balance()
	if err := flat(points); err != nil && ctx.Err() == nil {
		s.totals.violation(err.Error())
	}
	_, _ = fmt.Fprintf(o.Report, "soak: %s, %d agents at a time, seed %d\n", took.Round(time.Second), o.Agents, o.Seed)
	s.totals.print(o.Report, took)
	printMemory(o.Report, points)
	return !s.totals.broken(), context.Cause(ctx)
}

// leg plays rounds until a time, and waits until no agent runs.
func (s *soak) leg(ctx context.Context, until time.Time, number uint64) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	var playing sync.WaitGroup
	for n := range s.options.Agents {
		random := rand.New(rand.NewPCG(s.options.Seed, number<<8|uint64(n)))
		playing.Go(func() {
			for ctx.Err() == nil {
				s.play(random)
			}
		})
	}
	playing.Wait()
}

// compose makes the host.
func (s *soak) compose() error {
	set, err := dialects.Index(dialects.All())
	if err != nil {
		return err
	}
	factory, err := stages.NewPipelineFactory(stages.HostOrder(), append(stages.Builtin(set), stages.WitnessFactory()))
	if err != nil {
		return err
	}
	s.manager, err = process.NewManager(process.Options{
		Pipelines: factory, Dialects: set, Store: s.store, Watcher: watcher{s}, Version: "soak",
		Logger: slog.New(handler{pids: s.pids}),
	})
	return err
}

// register makes the wire of an instance known to the watcher.
func (s *soak) register(id process.InstanceID, w *wire) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wires[id] = w
}

func (s *soak) forget(id process.InstanceID) {
	s.pids.forget(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.wires, id)
}

func (s *soak) wireOf(id process.InstanceID) *wire {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wires[id]
}
