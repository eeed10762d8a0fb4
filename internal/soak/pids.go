package soak

import (
	"context"
	"log/slog"
	"os"
	"sync"

	"github.com/kandev/assent/internal/host/process"
)

// pids reads the process ids of the agents from the manager's log, as a person
// who is about to kill one would. It counts records of errors, too: a soak has
// none.
type pids struct {
	all *totals

	mu   sync.Mutex
	byID map[process.InstanceID]int
}

// handler is a log handler with the attributes that it was given.
type handler struct {
	*pids
	instance process.InstanceID
}

// Enabled implements [slog.Handler].
func (handler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle implements [slog.Handler].
func (h handler) Handle(_ context.Context, r slog.Record) error {
	about := ""
	r.Attrs(func(a slog.Attr) bool {
		about = a.Key
		if a.Key == "pid" {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.byID[h.instance] = int(a.Value.Int64())
		}
		return true
	})
	if r.Level >= slog.LevelError && about != "net" { // of a net the watcher hears
		h.all.violation("the host logged an error: " + r.Message)
	}
	return nil
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		if a.Key == "instance" {
			h.instance = process.InstanceID(a.Value.String())
		}
	}
	return h
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(string) slog.Handler { return h }

// kill kills the process of an instance from outside.
func (p *pids) kill(id process.InstanceID) {
	p.mu.Lock()
	pid := p.byID[id]
	p.mu.Unlock()
	if pid == 0 {
		p.all.violation("the log does not tell the process id of an agent")
		return
	}
	if agent, err := os.FindProcess(pid); err == nil {
		_ = agent.Kill() // it may be gone already
	}
}

// forget drops an instance that is over.
func (p *pids) forget(id process.InstanceID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byID, id)
}
