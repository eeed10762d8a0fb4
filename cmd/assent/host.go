package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/record"
)

// host runs one agent and talks with the person.
type host struct {
	app      *app
	command  *runCommand
	launch   process.Launch
	manager  *process.Manager
	store    *pending.Store
	screen   *screen
	ledger   *ledger
	terminal *terminal // nil when nobody is asked
	record   *record.Writer
	books    books

	instance *process.Instance
	session  *process.Session

	prompts []string       // what is still to be said
	typing  bool           // prompts are typed
	typed   <-chan line    // what is typed; nil when nothing is
	out     *outlet        // where the screen writes
	signals *stopper       // set by run
	turn    <-chan turnEnd // the end of the turn under way; nil without one
}

// maxOpen bounds the questions that are open at once. Nobody answers more of them,
// and each costs memory. One list of the store holds them all.
const maxOpen = pending.MaxList

// turnEnd is how a turn ended.
type turnEnd struct {
	reason process.StopReason
	err    error
}

// line is a line of the person, or the end.
type line struct {
	text string
	at   time.Time // when it was read
	end  bool
}

func newHost(a *app, c *runCommand, l process.Launch, prompts []string) (*host, error) {
	pipelines, set, err := composeHost()
	if err != nil {
		return nil, err
	}
	h := &host{app: a, command: c, launch: l, store: pending.New(pending.Config{MaxOpen: maxOpen}), ledger: newLedger(), prompts: prompts, typing: len(prompts) == 0, out: newOutlet(a.stdout)}
	h.screen = newScreen(h.out, h.ledger)
	h.screen.surface = h.newSurface()
	h.launch.Endpoint.Observer = h.ledger
	h.launch.Recorder = c.recorder(func(w *record.Writer) { h.record = w })
	if h.typing || isTerminal(a) {
		h.typed = typedLines(a.stdin)
	}
	if _, ok := set.For(config.InstanceConfig{Agent: l.Config.Agent}.PipelineInstance()); !ok && l.Config.Agent != "" {
		a.say(fmt.Sprintf("no dialect knows the agent %q: it is asked about unless its requests name the tool", l.Config.Agent))
	}
	if h.books, err = openBooks(a, c.Audit); err != nil {
		return nil, err
	}
	h.manager, err = process.NewManager(process.Options{
		Pipelines: pipelines, Dialects: set, Store: h.store, Watcher: h.screen, Logger: a.logger, Version: hostVersion(),
		Audit: h.books.audit, Telemetry: h.books.telemetry,
	})
	return h, err
}

// newSurface asks in the terminal, if there is one and nothing else was said.
func (h *host) newSurface() surface {
	h.store.Attach(pending.Scope{}) // for as long as the store
	if h.command.OnPending == "" && isTerminal(h.app) {
		h.terminal = newTerminal(h.screen, h.store, func() { discardTyped(h.app.stdin) })
		return h.terminal
	}
	return h.command.policy(h.app, h.screen, h.store, "this is no terminal, so ")
}

// typedLines reads the person's lines. The goroutine stays with the process: a
// terminal cannot be told to stop reading.
func typedLines(in *os.File) <-chan line {
	lines := make(chan line)
	go func() {
		r := bufio.NewReader(in)
		for {
			text, err := r.ReadString('\n')
			if text = strings.TrimSpace(text); text != "" {
				lines <- line{text: text, at: time.Now()}
			}
			if err != nil {
				lines <- line{end: true}
				return
			}
		}
	}()
	return lines
}

// run starts the agent, talks until there is nothing more to say, and stops it.
func (h *host) run() error {
	h.signals = listen(h.hurry)
	defer h.signals.close()
	err := h.start()
	if err == nil {
		h.introduce()
		err = h.talk()
		h.stop()
	}
	h.store.Close()
	return h.finish(h.books.close(h.app, err))
}

// hurry lets nothing that the end needs wait for ever: output that nobody reads is
// dropped, and when even that does not help the agent is killed.
func (h *host) hurry() {
	h.out.hurry()
	time.AfterFunc(lastResort, func() {
		h.manager.Kill()
		os.Exit(exitInterrupted)
	})
}

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
			return errInterrupted
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
		h.app.say("warning: " + w.String())
	}
	if h.typing && isTerminal(h.app) {
		h.screen.line("", "type what the agent is to do; Ctrl-D ends")
	}
}

// talk says what there is to say and handles what comes, one thing at a time.
func (h *host) talk() error {
	for {
		if h.turn == nil && len(h.prompts) > 0 {
			h.say(h.prompts[0])
			h.prompts = h.prompts[1:]
		}
		if h.turn == nil && (!h.typing || h.typed == nil) && !h.ledger.asking() {
			return nil
		}
		if done, err := h.next(); done {
			return err
		}
	}
}

// next handles the next thing that happens. It says whether that was the last.
func (h *host) next() (done bool, err error) {
	typed := h.typed
	if h.turn != nil && h.terminal == nil { // lines of a pipe wait for their turn
		typed = nil
	}
	select {
	case l := <-typed:
		h.heard(l)
	case end := <-h.turn:
		stopped := h.signals.count.Swap(0) > 0
		h.turn = nil
		if end.err != nil {
			return true, end.err
		}
		h.screen.line("turn", "over: %s", word(string(end.reason), stopWords))
		if stopped && !h.typing {
			return true, errInterrupted
		}
	case <-h.ledger.changed:
	case <-h.out.broken:
		return true, h.out.failure()
	case final := <-h.signals.told:
		return h.interrupted(final)
	case <-h.instance.Done():
		return true, h.instance.Err()
	}
	return false, nil
}

// heard takes a typed line: an answer, or a prompt.
func (h *host) heard(l line) {
	working := h.turn != nil
	switch {
	case l.end:
		h.typed = nil
		if h.terminal != nil {
			h.terminal.close()
		}
	case h.terminal != nil && h.terminal.Answer(l, working):
	case working:
		h.screen.line("", "the agent is working: wait for the end of its turn, or cancel it with Ctrl-C")
	default:
		h.say(l.text)
	}
}

// say begins a turn.
func (h *host) say(text string) {
	h.screen.line("prompt", "%s", display.Line(text, maxShown))
	turn := make(chan turnEnd, 1)
	h.turn = turn
	h.signals.count.Store(0)
	go func() {
		reason, err := h.session.Prompt(context.Background(), text)
		turn <- turnEnd{reason, err}
	}()
}

// interrupted cancels the turn the first time and ends everything the second.
func (h *host) interrupted(final bool) (done bool, err error) {
	if final {
		return true, errInterrupted
	}
	if h.turn == nil && !h.ledger.asking() {
		h.app.say("Ctrl-C again stops the agent")
		return false, nil
	}
	h.app.say("cancelling; Ctrl-C again stops the agent")
	_ = h.session.Cancel() // it fails only when the agent has ended, which comes next
	h.cancelOthers()
	return false, nil
}

// cancelOthers cancels the sessions that the agent made by itself, for what it calls
// sub-agents, as far as they ask for something.
func (h *host) cancelOthers() {
	done := map[string]bool{h.session.ID(): true}
	for _, offer := range h.store.List(pending.Query{Scope: pending.Scope{Instance: h.instance.ID()}}) {
		if session := offer.Key.Session; !done[session] {
			done[session] = true
			_ = h.instance.CancelSession(session) // it fails only when the agent has ended
		}
	}
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
	if h.record != nil {
		if failure := h.record.Close(); failure != nil && err == nil {
			err = failed(fmt.Errorf("--record: the recording is not complete: %w", failure), "")
		}
	}
	if err == nil && h.command.Demo && !whole {
		err = errors.New("a call that was approved did not arrive at the injected server")
	}
	if err == nil {
		err = h.out.failure() // what a person did not see was not shown
	}
	if h.signals.final.Load() {
		err = errInterrupted
	}
	h.showStderr(err)
	return explain(err)
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
		writeLine(h.app.stderr, "agent: | "+l)
	}
}
