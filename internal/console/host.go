package console

import (
	"bufio"
	"context"
	"os"
	"strings"
	"time"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/record"
)

// host runs one agent and talks with the person.
type host struct {
	options   *Options
	launch    process.Launch
	manager   *process.Manager
	store     *pending.Store
	screen    *screen
	ledger    *ledger
	terminal  *terminal // nil when nobody is asked
	recording *record.Writer
	books     books

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

func newHost(o *Options, l process.Launch, prompts []string) (*host, error) {
	h := &host{options: o, launch: l, store: pending.New(pending.Config{MaxOpen: maxOpen}), ledger: newLedger(), prompts: prompts, typing: len(prompts) == 0, out: newOutlet(o.Stdout)}
	h.screen = newScreen(h.out, h.ledger)
	h.screen.surface = h.newSurface()
	h.launch.Endpoint.Observer = h.ledger
	h.launch.Recorder = o.recorder(func(w *record.Writer) { h.recording = w })
	if h.typing || o.isTerminal() {
		h.typed = typedLines(o.Stdin)
	}
	o.TellUnknown("run", o.Dialects, l.Config.Agent)
	var err error
	if h.books, err = openBooks(o); err != nil {
		return nil, err
	}
	h.manager, err = process.NewManager(process.Options{
		Pipelines: o.Pipelines, Dialects: o.Dialects, Store: h.store, Watcher: h.screen, Logger: o.Logger, Version: o.Version,
		Audit: h.books.audit, Telemetry: h.books.telemetry,
	})
	return h, err
}

// newSurface asks in the terminal, if there is one and nothing else was said.
func (h *host) newSurface() surface {
	h.store.Attach(pending.Scope{}) // for as long as the store
	if h.options.OnPending == "" && h.options.isTerminal() {
		h.terminal = newTerminal(h.screen, h.store, func() { discardTyped(h.options.Stdin) })
		return h.terminal
	}
	return h.options.policy(h.screen, h.store, "this is no terminal, so ")
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
	return h.finish(h.books.close(h.options, err))
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
			return true, ErrInterrupted
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
		return true, ErrInterrupted
	}
	if h.turn == nil && !h.ledger.asking() {
		h.options.say("Ctrl-C again stops the agent")
		return false, nil
	}
	h.options.say("cancelling; Ctrl-C again stops the agent")
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
