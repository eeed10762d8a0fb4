package task

import "github.com/kandev/assent/internal/host/dispatch"

// Actor is who asks: [Session], [Person] or [Host]. Anything else, nil too, may
// do nothing.
type Actor interface{ actor() }

// Session is the agent session that works on a task.
type Session struct{ Task ID }

// Person is whoever has a token.
type Person dispatch.Person

// Host is the server itself, which may do everything but what is reserved for
// people and for the task's own session.
type Host struct{}

func (Session) actor() {}
func (Person) actor()  {}
func (Host) actor()    {}
