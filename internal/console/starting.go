package console

import (
	"context"
	"strings"

	"github.com/kandev/assent/internal/display"
)

// start starts the agent and a session, until it is done or the person stops it.
func (h *host) start() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := make(chan error, 1)
	go func() {
		var err error
		if h.instance, err = h.manager.Start(ctx, h.launch); err == nil {
			h.session, err = h.instance.NewSession(ctx, h.launch.Command.Dir)
		}
		started <- err
	}()
	for {
		select {
		case err := <-started:
			if err != nil && h.instance != nil {
				h.stop()
			}
			return err
		case <-h.signals.told:
			h.signals.end()
			cancel()
			<-started
			h.manager.Stop(ctx)
			return ErrInterrupted
		case l := <-h.typedEarly():
			h.heardEarly(l)
		}
	}
}

// typedEarly is what is typed while the agent starts: some agents ask before there
// is a session, and wait for the answer. Lines of a pipe are prompts and wait.
func (h *host) typedEarly() <-chan line {
	if h.terminal == nil {
		return nil
	}
	return h.typed
}

// heardEarly takes a line that was typed while the agent starts: an answer, or a
// prompt for later.
func (h *host) heardEarly(l line) {
	switch {
	case l.end:
		h.typed = nil
		h.terminal.close()
	case h.terminal.Answer(l, false):
	case h.typing:
		h.prompts = append(h.prompts, l.text)
	default:
		h.screen.line("", "the agent is starting: wait until it has done what it was told")
	}
}

// introduce says what runs.
func (h *host) introduce() {
	ic := h.instance.Config()
	name := strings.TrimSpace(h.instance.AgentName() + " " + h.instance.AgentVersion())
	if name != "" {
		name = quote(name, 2*maxShownID)
	}
	h.screen.line("agent", "%s  %s", orElse(ic.Agent, "unknown"), name)
	for _, s := range ic.MCPServers {
		if s.Name != ic.ReservedName {
			h.screen.line("server", "%s  yours, always asked about", display.Line(s.Name, maxShownID))
		}
	}
	if transport := h.session.Injected(); transport != "" {
		h.screen.line("server", "%s  injected, %s on port %d", ic.ReservedName, transport, ic.Port)
	}
	for _, w := range append(ic.Warnings, h.session.Warnings()...) {
		h.options.say("warning: " + w.String())
	}
	if h.typing && h.options.isTerminal() {
		h.screen.line("", "type what the agent is to do; Ctrl-D ends")
	}
}
