package serve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
)

// Bounds of what runs.
const (
	// maxAgents is how many agents run at once. Beyond it the one that has been idle
	// for longest makes room.
	maxAgents = 64
	// maxTexts is how many texts wait for the next turn of one task.
	maxTexts = 16
	// maxNotes is for how many tasks a note is remembered.
	maxNotes = 1024
)

// runner runs the agents of tasks: it is the [task.Runner]. A task has one worker
// while its agent is there.
type runner struct {
	s     *Server
	grace time.Duration // of a turn whose task is completed

	mu        sync.Mutex
	workers   map[task.ID]*worker
	instances map[pending.InstanceID]*worker
	owners    map[pending.InstanceID]task.ID // of the instances of this run
	notes     map[task.ID]string
	noted     []task.ID // those of notes, oldest first
	ending    bool
	running   sync.WaitGroup
}

var _ task.Runner = (*runner)(nil)

func newRunner(s *Server) *runner {
	return &runner{s: s, grace: completedGrace, workers: map[task.ID]*worker{}, instances: map[pending.InstanceID]*worker{}, owners: map[pending.InstanceID]task.ID{}, notes: map[task.ID]string{}}
}

// Errors that a caller is told.
var (
	errDraining = &dispatch.Error{Code: dispatch.CodeUnavailable, Message: "the server ends: try again when it is back"}
	errNoAgent  = &dispatch.Error{Code: dispatch.CodeNotFound, Message: "there is no agent of that name in the configuration"}
	errNoParent = &dispatch.Error{Code: dispatch.CodeNotFound, Message: "the parent is no task, or none that you see: list those that you see"}
	errWhich    = &dispatch.Error{Code: dispatch.CodeInvalidPayload, Message: "no agent is named, and the configuration has several and no default_agent: name one of them"}
	errTexts    = &dispatch.Error{Code: dispatch.CodeConflict, Message: "too many texts wait for the next turn of this task already"}
	errAgents   = &dispatch.Error{Code: dispatch.CodeUnavailable, Message: fmt.Sprintf("%d agents are working: wait, or stop some", maxAgents)}
)

// Prompt implements [task.Runner].
func (r *runner) Prompt(ctx context.Context, t task.Task, text string) error {
	for {
		w, begun, err := r.worker(t, text, "")
		if begun || err != nil {
			return err
		}
		r.unremark(t.ID)
		if taken, err := w.take(text); taken || err != nil {
			return err
		}
		w.hurry()
		select { // it ends by itself just now, and the next one takes the text
		case <-w.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// worker gives the worker of a task. When there is none one is begun, with a text or
// with the note that its session is taken up again.
func (r *runner) worker(t task.Task, text, resume string) (w *worker, begun bool, err error) {
	_, config, known := r.s.config.agent(t.Agent)
	r.mu.Lock()
	defer r.mu.Unlock()
	w = r.workers[t.ID]
	switch {
	case r.ending:
		return nil, false, errDraining
	case w != nil:
		return w, false, nil
	case !known:
		return nil, false, errNoAgent
	case len(r.workers) >= maxAgents && !r.makeRoom():
		return nil, false, errAgents
	}
	w = newWorker(r, t, config, text, resume)
	r.workers[t.ID] = w
	r.unnote(t.ID)
	r.running.Go(w.run)
	return w, true, nil
}

// makeRoom ends the agent that has been idle for longest; false when all work. Its
// session is taken up again when its task goes on. The lock is held.
func (r *runner) makeRoom() bool {
	var oldest *worker
	var since time.Time
	for _, w := range r.workers {
		if at, idle := w.idleSince(); idle && (oldest == nil || at.Before(since)) {
			oldest, since = w, at
		}
	}
	return oldest != nil && oldest.retire()
}

// Interrupt implements [task.Runner].
func (r *runner) Interrupt(_ context.Context, t task.Task) (bool, error) {
	if w := r.working(t.ID); w != nil {
		return w.interrupt(), nil
	}
	return false, nil
}

// Stop implements [task.Runner].
func (r *runner) Stop(ctx context.Context, t task.Task) (ended bool, err error) {
	w := r.working(t.ID)
	if w == nil {
		return false, nil
	}
	w.end()
	select {
	case <-w.done:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// completedGrace is how long the turn of an agent may go on whose task is completed.
const completedGrace = 30 * time.Second

// completed lets the agent of a task that is done end after its turn, or soon.
func (r *runner) completed(id task.ID) {
	if w := r.working(id); w != nil {
		w.completed()
	}
}

func (r *runner) working(id task.ID) *worker {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.workers[id]
}

// of finds the worker of an instance; nil for one that is over.
func (r *runner) of(id pending.InstanceID) *worker {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.instances[id]
}

// owner is the task of an instance of this run.
func (r *runner) owner(id pending.InstanceID) (task.ID, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of, ok := r.owners[id]
	return of, ok
}

// disown forgets whose the instances of tasks were that are gone, but for those that run.
func (r *runner) disown(gone func(task.ID) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.owners, func(id pending.InstanceID, of task.ID) bool { return r.instances[id] == nil && gone(of) })
}

// alive are the instances that run, with their tasks.
func (r *runner) alive() map[pending.InstanceID]task.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[pending.InstanceID]task.ID{}
	for id, w := range r.instances {
		all[id] = w.task.ID
	}
	return all
}

// waits counts the open offers of an instance.
func (r *runner) waits(id pending.InstanceID, more int) {
	if w := r.of(id); w != nil {
		w.waits(more)
	}
}

// bind makes an instance the worker's.
func (r *runner) bind(id pending.InstanceID, w *worker) {
	r.mu.Lock()
	r.instances[id], r.owners[id] = w, w.task.ID
	r.mu.Unlock()
	r.s.surfaces.instance(id, w.task.ID)
}

// forget ends a worker's place, and what is left of its task if that is forgotten.
func (r *runner) forget(w *worker, id pending.InstanceID) {
	r.mu.Lock()
	delete(r.workers, w.task.ID)
	delete(r.instances, id)
	r.mu.Unlock()
	r.s.forgetGone(w.task.ID)
}

// remark remembers what the host has to say about a task, and tells it.
func (r *runner) remark(id task.ID, note string) {
	r.mu.Lock()
	if _, again := r.notes[id]; !again {
		r.noted = append(r.noted, id)
	}
	r.notes[id] = note
	if len(r.noted) > maxNotes {
		delete(r.notes, r.noted[0])
		r.noted = r.noted[1:]
	}
	r.mu.Unlock()
	r.s.say(id, fromHost, note)
}

// unremark forgets a note: somebody has read it, and goes on.
func (r *runner) unremark(id task.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unnote(id)
}

// unnote forgets a note. The lock is held.
func (r *runner) unnote(id task.ID) {
	if _, there := r.notes[id]; there {
		delete(r.notes, id)
		r.noted = slices.DeleteFunc(r.noted, func(of task.ID) bool { return of == id })
	}
}

func (r *runner) note(id task.ID) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notes[id]
}

// views are the instances that somebody may see.
func (r *runner) views(visible func(task.ID) bool) []instanceView {
	r.mu.Lock()
	workers := make([]*worker, 0, len(r.workers))
	for _, w := range r.workers {
		workers = append(workers, w)
	}
	r.mu.Unlock()
	list := []instanceView{}
	for _, w := range workers {
		if v := w.seen(); v.ID != "" && visible(v.Task) {
			list = append(list, v)
		}
	}
	return list
}

// drain lets no agent begin, ends what is asked, and then every agent. Tasks with a
// turn under way stay stored as running: the next run takes them up again.
func (r *runner) drain(ctx context.Context) error {
	r.mu.Lock()
	r.ending = true
	r.mu.Unlock()
	r.s.store.Close() // first: no client has cancelled these turns
	r.mu.Lock()
	for _, w := range r.workers {
		w.end()
	}
	r.mu.Unlock()
	done := make(chan struct{})
	go func() { r.running.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		r.s.manager.Kill()
		select {
		case <-done:
		case <-time.After(killed):
		}
		return fmt.Errorf("agents had to be killed: %w", ctx.Err())
	}
}

// killed is how long agents that were killed may take to be gone.
const killed = 5 * time.Second

// draining says whether the server ends.
func (r *runner) draining() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ending
}
