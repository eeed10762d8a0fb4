package demoagent

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/kandev/assent/pipeline/acp"
)

// turn is the work on one prompt.
type turn struct {
	agent   *agent
	session *session
	ctx     context.Context // ends when the turn is cancelled
	cancel  context.CancelFunc
	// withdrawn is closed when the prompt itself was withdrawn: then the client
	// does not know that it has to answer what the turn asks.
	withdrawn chan struct{}
	// For the summary: what ran, what ran and failed, what did not run.
	ran, failed, not []string
}

// startTurn works on a prompt beside everything else.
func (a *agent) startTurn(id acp.ID, s *session, said string) {
	t := &turn{agent: a, session: s, withdrawn: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(a.ctx)
	if !s.begin(t) {
		t.cancel()
		a.peer.respond(id, nil, &rpcError{codeInvalidRequest, "the session is busy: wait for the end of its turn, or cancel it"})
		return
	}
	withdraw := sync.OnceFunc(func() { close(t.withdrawn); t.cancel() })
	if !a.begin(id, withdraw) {
		t.cancel()
		s.done()
		return
	}
	a.work.Go(func() {
		defer t.cancel()
		t.run(said)
		result := promptResult{StopReason: stopEndTurn}
		if t.ctx.Err() != nil {
			result.StopReason = stopCancelled
		}
		s.done()
		a.finish(id, result, nil)
	})
}

func (t *turn) run(said string) {
	t.hear(said)
	orders, unknown := parse(said)
	if len(unknown) > 0 || len(orders) == 0 {
		t.say(t.puzzled(unknown))
		return
	}
	for _, o := range orders {
		for _, step := range o.command.steps {
			if t.ctx.Err() == nil {
				step(t, o.text)
			}
		}
	}
	t.summarise()
}

func (t *turn) puzzled(unknown []string) string {
	if len(unknown) == 0 {
		return Help()
	}
	return fmt.Sprintf("I do not understand %q, so I did nothing.\n%s", clip(unknown[0]), Help())
}

// clip shortens a text for a message about it.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// hear remembers the prompt; its sender knows it already.
func (t *turn) hear(said string) {
	raw, err := json.Marshal(chunk{Update: updateUserText, Content: text(said)})
	if err == nil {
		t.session.remember(raw)
	}
}

// say streams a message, line by line.
func (t *turn) say(message string) {
	id := t.agent.number("msg_demo")
	for part := range strings.SplitAfterSeq(message, "\n") {
		t.session.update(t.agent.peer, chunk{Update: updateAgentText, Content: text(part), MessageID: id})
	}
}

func (t *turn) summarise() {
	var lines []string
	for _, part := range []struct {
		title string
		calls []string
	}{{"Ran", t.ran}, {"Failed", t.failed}, {"Did not run", t.not}} {
		if len(part.calls) > 0 {
			lines = append(lines, part.title+": "+strings.Join(part.calls, ", ")+".")
		}
	}
	if t.ctx.Err() != nil {
		lines = append(lines, "The turn was cancelled.")
	}
	if len(lines) > 0 {
		t.say(strings.Join(lines, "\n"))
	}
}

func (t *turn) skipped(what, why string) { t.not = append(t.not, what+" ("+why+")") }
