package console

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"

	"github.com/kandev/assent/internal/demoagent"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/shadow"
)

// shadowWord is the demo's prompt that plays the acts of package shadow.
const shadowWord = "shadow"

// wantsShadow says whether the acts are asked for, and nothing else is.
func (o *Options) wantsShadow() bool {
	return o.Demo && len(o.Prompt) == 1 && strings.EqualFold(strings.TrimSpace(o.Prompt[0]), shadowWord)
}

// shadow plays the acts one after the other, each with an agent of its own.
func (o *Options) shadow(agent process.Command) error {
	if o.AutoApprove || o.Record != "" || o.Port != 0 || len(o.MCP) > 0 {
		return Usage("--prompt shadow starts agents of its own to show what is not approved", "leave --auto-approve, --record, --port and --mcp out")
	}
	books, err := openBooks(o)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals...)
	defer stop()
	store := pending.New(pending.Config{})
	defer store.Close()
	out := newOutlet(o.Stdout)
	defer context.AfterFunc(ctx, func() { out.hurry(); o.Stderr.Hurry() })()
	screen := newScreen(out, newLedger())
	screen.surface = o.shadowPolicy(screen, store)
	host, err := shadow.NewHost(shadow.Options{
		Pipelines: o.Pipelines, Dialects: o.Dialects, Store: store, Watcher: screen,
		Logger: o.Logger, Audit: books.audit, Telemetry: books.telemetry, Version: o.Version, Agent: agent,
	})
	if err == nil {
		err = playAll(ctx, host, screen)
	}
	o.tellDropped(screen)
	if err == nil {
		err = out.failure()
	}
	if ctx.Err() != nil {
		err = ErrInterrupted
	}
	return books.close(o, Explain(err))
}

// shadowPolicy answers what waits: nobody can follow four agents by typing.
func (o *Options) shadowPolicy(s *screen, store *pending.Store) surface {
	store.Attach(pending.Scope{})
	return o.policy(s, store, "")
}

// playAll plays each act, says how it ended, and sums up.
func playAll(ctx context.Context, host *shadow.Host, s *screen) error {
	var summary, broken []string
	for n, act := range demoagent.Acts() {
		s.line("act", "%d of %d  %s: %s", n+1, len(demoagent.Acts()), act, shadow.Tells(act))
		report, err := host.Play(ctx, act)
		if err != nil {
			return err
		}
		word := "held"
		if report.Check() != nil {
			word = "BROKEN"
			broken = append(broken, string(act))
		}
		s.line(word, "%s: %s", shadow.Net(act), report.Says())
		summary = append(summary, fmt.Sprintf("%-15s %-9s %-7s %s", act, shadow.Net(act), word, report.Says()))
	}
	s.block("summary", summary)
	if len(broken) > 0 {
		return errors.New("a net did not hold: " + strings.Join(broken, ", "))
	}
	return nil
}
