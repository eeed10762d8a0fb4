package process

import (
	"slices"
	"sync"

	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/pipeline"
)

// contacts is the record of one instance's endpoint: which of its sessions were
// seen to list the tools there. A session is known to it by its secret alone, so
// none can borrow what another one did.
type contacts struct {
	mu   sync.Mutex
	seen map[endpoint.SessionID]*contact
}

type contact struct {
	session string   // of ACP; empty until the request that makes it has succeeded
	listed  bool     // its tools were listed
	tools   []string // never changed once it is here
}

// expect makes a secret's session known, before the agent has the secret.
func (c *contacts) expect(id endpoint.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[endpoint.SessionID]*contact{}
	}
	c.seen[id] = &contact{}
}

// bind says whose the secret is.
func (c *contacts) bind(id endpoint.SessionID, session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.seen[id]; known != nil {
		known.session = session
	}
}

// forget drops a session whose secret was revoked.
func (c *contacts) forget(id endpoint.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.seen, id)
}

// list notes that a session was given these tools.
func (c *contacts) list(id endpoint.SessionID, tools []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.seen[id]; known != nil {
		known.listed, known.tools = true, slices.Clone(tools)
	}
}

// offered are the tools that a session was given; false when it never asked.
func (c *contacts) offered(id endpoint.SessionID) ([]string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.seen[id]
	if known == nil {
		return nil, false
	}
	return known.tools, known.listed
}

// owner is the ACP session that a secret was given to.
func (c *contacts) owner(id endpoint.SessionID) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.seen[id]
	if known == nil || known.session == "" {
		return "", false
	}
	return known.session, true
}

// witness puts the endpoint's record of the request's own session into it. A
// session without a secret of its own was not seen there.
func (i *Instance) witness(req *pipeline.Request) {
	i.mu.Lock()
	s := i.sessions[req.SessionID]
	i.mu.Unlock()
	if s == nil {
		return
	}
	if id, ok := s.EndpointSession(); ok {
		req.Session.OfferedTools, req.Session.Contacted = i.contacts.offered(id)
	}
}

// observer tells an instance what reaches its endpoint, and then the host.
type observer struct {
	instance *Instance
	next     endpoint.Observer // may be nil
}

// Listed implements [endpoint.Observer].
func (o observer) Listed(id endpoint.SessionID, tools []string) {
	o.instance.contacts.list(id, tools)
	if o.next != nil {
		o.next.Listed(id, tools)
	}
}

// Arrived implements [endpoint.Observer].
func (o observer) Arrived(id endpoint.SessionID, a endpoint.Arrival) {
	o.instance.arrived(id, a)
	if o.next != nil {
		o.next.Arrived(id, a)
	}
}
