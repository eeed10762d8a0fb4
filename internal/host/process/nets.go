package process

import (
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/nets"
)

// newGuard makes the nets around an instance whose settings are known.
func (i *Instance) newGuard() *nets.Guard {
	o := nets.Options{
		Reserved: i.config.ReservedName,
		Fired:    func(f nets.Fired) { i.fired(Fired{Instance: i.id, Fired: f}) },
		Unasked:  func(u nets.Unasked) { i.unasked(Unasked{Instance: i.id, Unasked: u}) },
	}
	if i.endpoint != nil {
		o.Port = i.config.Port
	}
	return nets.NewGuard(o)
}

// observer tells an instance's nets what reaches its endpoint, and then the host.
type observer struct {
	instance *Instance
	next     endpoint.Observer // may be nil
}

// Listed implements [endpoint.Observer].
func (o observer) Listed(id endpoint.SessionID, tools []string) {
	o.instance.nets.Listed(id, tools)
	if o.next != nil {
		o.next.Listed(id, tools)
	}
}

// Arrived implements [endpoint.Observer].
func (o observer) Arrived(id endpoint.SessionID, a endpoint.Arrival) {
	o.instance.nets.Arrived(id, a)
	if o.next != nil {
		o.next.Arrived(id, a)
	}
}
