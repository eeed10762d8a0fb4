package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/kandev/assent/internal/host/process"
)

// hurry lets nothing that the end needs wait for ever: output that nobody reads is
// dropped, and when even that does not help the agent is killed.
func (h *host) hurry() {
	h.out.hurry()
	h.options.Stderr.Hurry()
	time.AfterFunc(lastResort, func() {
		h.manager.Kill()
		os.Exit(ExitInterrupted)
	})
}

// stop stops the agent; a signal meanwhile kills it.
func (h *host) stop() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopped := make(chan struct{})
	go func() { h.manager.Stop(ctx); close(stopped) }()
	select {
	case <-stopped:
	case <-h.signals.told:
		cancel()
		<-stopped
	}
}

// finish sums up, and says what went wrong.
func (h *host) finish(err error) error {
	whole := true
	if h.session != nil {
		whole = h.ledger.summary(h.screen)
		h.screen.warnUnasked()
	}
	h.options.tellDropped(h.screen)
	if h.recording != nil {
		if failure := h.recording.Close(); failure != nil && err == nil {
			err = Failed(fmt.Errorf("--record: the recording is not complete: %w", failure), "")
		}
	}
	if err == nil && h.options.Demo && !whole {
		err = errors.New("a call that was approved did not arrive at the injected server")
	}
	if err == nil {
		err = h.out.failure() // what a person did not see was not shown
	}
	if h.signals.final.Load() {
		err = ErrInterrupted
	}
	h.showStderr(err)
	return Explain(err)
}

// showStderr shows how the agent's stderr ended, if the agent is what failed.
func (h *host) showStderr(err error) {
	text := ""
	if exit, ok := errors.AsType[*process.ExitError](err); ok {
		text = exit.Stderr
	} else if handshake, ok := errors.AsType[*process.HandshakeError](err); ok {
		text = handshake.Stderr
	}
	if text == "" {
		return
	}
	for l := range strings.SplitSeq(text, "\n") {
		writeLine(h.options.Stderr, "agent: | "+l)
	}
}
