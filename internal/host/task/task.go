package task

import "time"

// ID names a task. It is random, unique for ever, and can be logged.
type ID string

// State is what a task is at. States are a public contract.
type State string

// The states. The last three are final.
const (
	Created   State = "created"   // it was never prompted
	Running   State = "running"   // a turn is under way
	Waiting   State = "waiting"   // a turn is under way and waits for a person
	Idle      State = "idle"      // the turn is over
	Stopped   State = "stopped"   // it was ended from outside
	Completed State = "completed" // its own session said that it is done
	Failed    State = "failed"    // its agent could not go on
)

// Ended says that a task is over. Nothing makes it go on.
func (s State) Ended() bool { return s == Stopped || s == Completed || s == Failed }

// known says whether there is such a state.
func (s State) known() bool {
	return s.Ended() || s == Created || s == Running || s == Waiting || s == Idle
}

// Task is one piece of work. Title and summary are text of agents and people:
// whoever shows them escapes them, and they are logged nowhere.
type Task struct {
	ID        ID        `json:"id"`
	Parent    ID        `json:"parent,omitzero"` // none: it stands at the top
	Title     string    `json:"title"`
	State     State     `json:"state"`
	Agent     string    `json:"agent,omitzero"`     // which configured agent works on it
	Directory string    `json:"directory,omitzero"` // where
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	Summary   string    `json:"summary,omitzero"`  // of what was done, by its session
	Instance  string    `json:"instance,omitzero"` // the agent process that works on it
	Session   string    `json:"session,omitzero"`  // the agent's name of its session, to resume it
	Note      string    `json:"note,omitzero"`     // what the host has to say about it to people
	// Resume says that it was running when the server ended; the host has not yet
	// reported what became of it. It is not stored.
	Resume bool `json:"resume,omitzero"`
}
