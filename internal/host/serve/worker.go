package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/display"
	"github.com/kandev/assent/internal/host/agentstream"
	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/mcptools"
	"github.com/kandev/assent/internal/host/process"
	"github.com/kandev/assent/internal/host/task"
)

// worker is the agent of one task, from its start to its end: one goroutine that
// says one text after the other, and one that reports to the tasks.
type worker struct {
	r      *runner
	task   task.Task // as it was when the worker began
	config Agent
	resume string // why it takes up its session without a text; empty for a text

	ctx  context.Context // ends with the agent
	stop context.CancelFunc
	wake chan struct{} // there is a text, or it is time to retire
	news chan struct{} // something is to be reported
	done chan struct{} // nothing of it is left
	up   chan struct{} // closed when its session is there

	hurried context.Context // ends when somebody waits for the worker to be gone
	hurry   context.CancelFunc

	id       process.InstanceID // set by bound, before the process starts
	stream   *agentstream.Local
	instance *process.Instance // set by start

	mu       sync.Mutex
	texts    []string
	turn     bool        // a text is being said, or is about to be
	prompted bool        // since the last report: it was stored then that the task runs
	open     int         // offers
	retiring bool        // it ends when its turn is over, and takes nothing in
	limit    *time.Timer // ends a worker whose task is completed; nil before
	idleAt   time.Time
	session  *process.Session
	view     instanceView
}

// newWorker makes a worker that begins with a text, or takes the session up again.
func newWorker(r *runner, t task.Task, config Agent, text, resume string) *worker {
	w := &worker{
		r: r, task: t, config: config, resume: resume, idleAt: time.Now(),
		wake: make(chan struct{}, 1), news: make(chan struct{}, 1), done: make(chan struct{}), up: make(chan struct{}),
	}
	if resume == "" {
		w.texts = []string{text}
		w.tell()
	}
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.hurried, w.hurry = context.WithCancel(context.Background())
	return w
}

// run is the worker's life.
func (w *worker) run() {
	defer close(w.done)
	defer w.hurry()
	reporting := make(chan struct{})
	go func() { defer close(reporting); w.report(w.send) }()
	err := w.start()
	if err == nil {
		err = w.work()
	}
	stopped := w.ctx.Err() != nil || w.r.draining()
	busy := w.close()
	w.stop() // from now on nothing is approved for the agent, however long it takes to end
	w.finish(err)
	w.unlimit()
	<-reporting
	w.last(err, stopped, busy)
	w.r.forget(w, w.id)
}

// close takes nothing in any more. Busy says that a turn was under way, or about to be.
func (w *worker) close() (busy bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retiring = true
	return w.turn || len(w.texts) > 0
}

// start starts the agent and opens its session.
func (w *worker) start() error {
	if !isFolder(w.directory()) { // the system would say this of the program
		return errNoFolder
	}
	instance, err := w.r.s.manager.Start(w.ctx, w.launch())
	if err != nil {
		return w.unstarted(err)
	}
	w.instance = instance
	w.r.s.log.Info("the agent of a task runs", "task", w.task.ID, "agent", w.task.Agent, "instance", string(w.id))
	w.change(func(v *instanceView) { v.AgentName = display.Line(instance.AgentName(), maxShownLine) })
	session, err := w.openSession(w.ctx)
	if err != nil {
		return err
	}
	if err := (task.Report{State: task.Idle, Session: session.ID()}).Check(); err != nil {
		return errors.New("the id that the agent gave its session cannot be kept: " + strings.TrimPrefix(err.Error(), "task: "))
	}
	w.mu.Lock()
	w.session = session
	w.mu.Unlock()
	w.change(func(v *instanceView) { v.State, v.Session = "running", session.ID() })
	close(w.up)
	return nil
}

// unstarted says why the agent could not be started. Of a program that its command names by
// a path the system's error has the name alone.
func (w *worker) unstarted(err error) error {
	_, program := errors.AsType[*process.StartError](err)
	if !program || !errors.Is(err, fs.ErrNotExist) || !isPath(w.config.Command[0]) {
		return err
	}
	return fmt.Errorf("the program of agent %s, whose command gives a path, is not there, or what its first line names is not: install it, or correct the command", w.task.Agent)
}

// bound makes an instance the worker's, before its process starts: whatever the agent
// does belongs to the task from its first line on.
func (w *worker) bound(id process.InstanceID) (err error) {
	w.id = id
	if w.stream, err = agentstream.NewLocal(w.r.s.dispatcher, dispatch.Identity{Instance: string(id), Task: string(w.task.ID)}); err != nil {
		return err
	}
	w.r.bind(id, w)
	w.change(func(v *instanceView) {
		v.ID, v.Task, v.Agent, v.State, v.Started, v.Automatic = string(id), w.task.ID, w.config.ID, "starting", time.Now().UTC(), true
	})
	return nil
}

// settled waits until the agent is ready, or will not be, and no longer than a while.
func (w *worker) settled(within time.Duration) {
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-w.up:
	case <-w.done:
	case <-late.C:
	}
}

// launch says what to start: the agent with an endpoint whose tools speak for it.
func (w *worker) launch() process.Launch {
	s := w.r.s
	call := func(ctx context.Context, action string, payload jsontext.Value) (jsontext.Value, error) {
		return w.stream.Dispatch(ctx, action, payload)
	}
	return process.Launch{
		Command:  process.Command{Path: w.config.Command[0], Args: w.config.Command[1:], Dir: w.directory(), Env: s.config.environment(&w.config)},
		Config:   w.config.settings(),
		Named:    w.bound,
		Task:     string(w.task.ID),
		Over:     w.over,
		Endpoint: &endpoint.Options{Version: s.version, Logger: s.log, Tools: mcptools.TaskMode(call)},
	}
}

// errNoFolder is for people who see the task, and where it works.
var errNoFolder = errors.New("the directory that it works in is not there: make it, or start another task elsewhere")

// directory is where the agent works.
func (w *worker) directory() string {
	return cmp.Or(w.task.Directory, w.config.Directory, w.r.s.home)
}

// Notes of the host about a task.
const (
	noteResumed = "The server was started anew; the agent's session was taken up again. " + noteCut
	noteLost    = "The agent could not take up its earlier session: it begins anew and knows nothing of what was said before."
	noteCut     = "What it was doing was cut off, and what it had asked is gone: send a prompt to go on."
	noteNever   = "The server was started anew before the agent had begun. Send a prompt to go on."
)

// openSession takes the task's session up again where the agent can, or makes one.
func (w *worker) openSession(ctx context.Context) (*process.Session, error) {
	dir := w.directory()
	if w.task.Session == "" {
		return w.instance.NewSession(ctx, dir)
	}
	session, err := w.instance.ResumeSession(ctx, w.task.Session, dir)
	if refused(err) {
		session, err = w.instance.LoadSession(ctx, w.task.Session, dir)
	}
	if refused(err) {
		note := noteLost
		if w.resume != "" {
			note += " " + noteCut
		}
		w.r.remark(w.task.ID, note)
		return w.instance.NewSession(ctx, dir)
	}
	if err == nil && w.resume != "" {
		w.r.remark(w.task.ID, w.resume)
	}
	return session, err
}

// refused says that the agent cannot take a session up, and goes on.
func refused(err error) bool {
	_, unable := errors.AsType[*process.NotSupportedError](err)
	_, answered := errors.AsType[*process.RPCError](err)
	return unable || answered
}

// waits counts open offers.
func (w *worker) waits(more int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open += more
	w.tell()
}

// change changes what is shown of the instance, and tells it if it is other.
func (w *worker) change(f func(*instanceView)) {
	w.mu.Lock()
	before := w.view
	f(&w.view)
	after := w.view
	w.mu.Unlock()
	if before != after {
		w.r.s.publish("instance.changed", w.task.ID, map[string]any{"instance": after})
		w.mu.Lock()
		w.tell()
		w.mu.Unlock()
	}
}

func (w *worker) seen() instanceView {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.view
}

// finish stops the agent and waits for it.
func (w *worker) finish(err error) {
	if w.id == "" {
		return // there was none
	}
	if w.instance != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
		defer cancel()
		w.instance.Stop(ctx)
	}
	if w.stream != nil {
		w.stream.Close()
	}
	w.change(func(v *instanceView) {
		v.State = "ended"
		if err != nil {
			v.Error = explain(err)
		}
	})
}

// stopWithin is how long an agent may take to end before it is killed.
const stopWithin = 8 * time.Second
