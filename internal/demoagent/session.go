package demoagent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"path/filepath"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline/acp"
)

const (
	maxSessions = 1024    // per connection
	maxHistory  = 4 << 20 // of one session, in bytes; the oldest updates go first
)

// session is one conversation. It does one thing at a time: a turn or a load.
type session struct {
	id string

	mu      sync.Mutex
	busy    bool
	turn    *turn // under way
	history []jsontext.Value
	size    int // of the history

	// The rest is for whoever made the session busy.
	cwd     string
	servers []*server
	allowed map[string]bool // tools that are not asked about any more, by name
	child   string          // id of the task that was created last; empty for none
}

// sessions are those of one connection.
type sessions struct {
	mu     sync.Mutex
	byID   map[string]*session
	closed bool
}

func (s *sessions) find(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

func (s *sessions) add(made *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.byID) >= maxSessions {
		return false
	}
	if s.byID == nil {
		s.byID = map[string]*session{}
	}
	s.byID[made.id] = made
	return true
}

func (s *sessions) cancelTurn(id string) {
	if found := s.find(id); found != nil {
		found.mu.Lock()
		defer found.mu.Unlock()
		if found.turn != nil {
			found.turn.cancel()
		}
	}
}

// close leaves every server. No session is busy any more.
func (s *sessions) close() {
	s.mu.Lock()
	s.closed = true
	var all []*server
	for _, each := range s.byID {
		all = append(all, each.servers...)
	}
	s.mu.Unlock()
	closeServers(all)
}

// begin makes the session busy with a turn, or with a load if it is nil.
func (s *session) begin(t *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy {
		return false
	}
	s.busy, s.turn = true, t
	return true
}

func (s *session) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy, s.turn = false, nil
}

// remember keeps an update for session/load.
func (s *session) remember(update jsontext.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = append(s.history, update)
	s.size += len(update)
	for s.size > maxHistory {
		s.size -= len(s.history[0])
		s.history = s.history[1:]
	}
}

// update sends an update and remembers it.
func (s *session) update(p *peer, update any) {
	raw, err := json.Marshal(update, json.Deterministic(true))
	if err != nil { // every text in it was made valid before
		p.fail(err)
		return
	}
	s.remember(raw)
	p.notify(acp.MethodUpdate, updateParams{SessionID: s.id, Update: raw})
}

// sessionParams are those of session/new and session/load.
type sessionParams struct {
	SessionID string         `json:"sessionId"`
	CWD       string         `json:"cwd"`
	Servers   *[]serverEntry `json:"mcpServers"`
}

func (p *sessionParams) read(params jsontext.Value) *rpcError {
	switch {
	case !decode(params, p):
		return badParams("cwd must be a string and mcpServers a list of servers")
	case !filepath.IsAbs(p.CWD):
		return badParams("cwd must be an absolute path")
	case p.Servers == nil:
		return badParams("mcpServers must be a list; it may be empty")
	}
	for _, e := range *p.Servers {
		if e.Name == "" {
			return badParams("every server needs a name")
		}
	}
	return nil
}

var errWithdrawn = &rpcError{codeCancelled, "the request was withdrawn"}

func (a *agent) newSession(ctx context.Context, params jsontext.Value) (any, *rpcError) {
	var p sessionParams
	if failed := p.read(params); failed != nil {
		return nil, failed
	}
	s := &session{id: newSessionID(), cwd: p.CWD, allowed: map[string]bool{}, servers: a.connect(ctx, p)}
	if ctx.Err() != nil {
		closeServers(s.servers)
		return nil, errWithdrawn
	}
	if !a.sessions.add(s) {
		closeServers(s.servers)
		return nil, &rpcError{codeInternal, "this agent has too many sessions: start another one"}
	}
	return newSessionResult{SessionID: s.id}, nil
}

// loadSession takes up a session of this connection again, with the servers of
// the new list: its history is sent as updates before the answer.
func (a *agent) loadSession(ctx context.Context, params jsontext.Value) (any, *rpcError) {
	var p sessionParams
	if failed := p.read(params); failed != nil {
		return nil, failed
	}
	s := a.sessions.find(p.SessionID)
	switch {
	case s == nil:
		return nil, &rpcError{codeNotFound, "this agent has no such session: it keeps sessions in memory only"}
	case !s.begin(nil):
		return nil, &rpcError{codeInvalidRequest, "the session is busy"}
	}
	defer s.done()
	servers := a.connect(ctx, p)
	if ctx.Err() != nil {
		closeServers(servers)
		return nil, errWithdrawn
	}
	closeServers(s.servers)
	// What was allowed was allowed for the tools of the old list.
	s.cwd, s.servers, s.allowed = p.CWD, servers, map[string]bool{}
	for _, update := range s.recall() {
		a.peer.notify(acp.MethodUpdate, updateParams{SessionID: s.id, Update: update})
	}
	return struct{}{}, nil
}

func (s *session) recall() []jsontext.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]jsontext.Value(nil), s.history...)
}

// connect connects to all servers of a list at once. Of two with one name the
// first one counts.
func (a *agent) connect(ctx context.Context, p sessionParams) []*server {
	var servers []*server
	var opening sync.WaitGroup
	seen := map[string]bool{}
	for _, e := range *p.Servers {
		if seen[e.Name] {
			a.log("the server %q is listed twice; the first one is used", e.Name)
			continue
		}
		seen[e.Name] = true
		s := &server{name: e.Name}
		servers = append(servers, s)
		opening.Go(func() { a.openAs(ctx, s, e, p.CWD) })
	}
	opening.Wait()
	for _, s := range servers {
		if s.problem != "" {
			a.log("the server %q cannot be used: %s", s.name, s.problem)
		}
	}
	return servers
}

// newSessionID makes a random UUID (version 4).
func newSessionID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
