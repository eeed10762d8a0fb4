package nets

import (
	"slices"
	"sync"

	"github.com/kandev/assent/internal/host/endpoint"
)

// contacts is the record of one instance's endpoint: which of its sessions were
// seen to list the tools there. A session is known to it by its secret alone, so
// none can borrow what another one did.
type contacts struct {
	mu     sync.Mutex
	seen   map[endpoint.SessionID]*contact
	secret map[string]endpoint.SessionID // of each ACP session, the one in force
}

type contact struct {
	session string   // of ACP; empty until the request that makes it has succeeded
	listed  bool     // its tools were listed
	tools   []string // never changed once it is here
}

func newContacts() contacts {
	return contacts{seen: map[endpoint.SessionID]*contact{}, secret: map[string]endpoint.SessionID{}}
}

// expect makes a secret's session known, before the agent has the secret.
func (c *contacts) expect(id endpoint.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[id] = &contact{}
}

// bind says whose the secret is. An earlier one of that session counts no more.
func (c *contacts) bind(id endpoint.SessionID, session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.seen[id]
	if known == nil {
		return
	}
	if earlier, ok := c.secret[session]; ok && earlier != id {
		delete(c.seen, earlier)
	}
	known.session, c.secret[session] = session, id
}

// forget drops a secret that was revoked.
func (c *contacts) forget(id endpoint.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.seen[id]; known != nil && c.secret[known.session] == id {
		delete(c.secret, known.session)
	}
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

// offered are the tools that a session was given with the secret in force; false
// when it never asked for them.
func (c *contacts) offered(session string) ([]string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, ok := c.secret[session]
	if !ok {
		return nil, false
	}
	return c.seen[id].tools, c.seen[id].listed
}

// known says whether the session can be told apart at the endpoint.
func (c *contacts) known(session string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.secret[session]
	return ok
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
