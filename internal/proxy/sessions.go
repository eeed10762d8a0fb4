package proxy

import (
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/pipeline/acp"
)

// sessionRequests are the client's session requests that the agent has not
// answered, and what it said of itself.
type sessionRequests struct {
	mu   sync.Mutex
	open map[string]sessionRequest // by request id
	init map[string]bool           // initialize, likewise
	caps config.MCPCapabilities
}

type sessionRequest struct {
	session string // of a load, resume or close; else the answer names it
	makes   bool
	ends    bool // it closes or deletes the session
	grants  []grant
}

// maxSessionRequests bounds those that are open at one time.
const maxSessionRequests = 256

// newSessionRequests expects an agent that takes servers over HTTP, until it has
// said what it takes.
func newSessionRequests() *sessionRequests {
	return &sessionRequests{open: map[string]sessionRequest{}, init: map[string]bool{}, caps: config.MCPCapabilities{HTTP: true}}
}

// initialize notes that the client shakes hands.
func (s *sessionRequests) initialize(f acp.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Kind == acp.KindRequest && len(s.init) < maxSessionRequests {
		s.init[f.ID.Key()] = true
	}
}

// initialized is the part of an answer to initialize that says which MCP
// transports the agent takes: in ACP v1 and in v2.
type initialized struct {
	Agent struct {
		MCP config.MCPCapabilities `json:"mcpCapabilities"`
	} `json:"agentCapabilities"`
	Version      int `json:"protocolVersion"`
	Capabilities struct {
		Session struct {
			MCP struct {
				HTTP *struct{} `json:"http"`
				SSE  *struct{} `json:"sse"`
			} `json:"mcp"`
		} `json:"session"`
	} `json:"capabilities"`
}

// capabilities reads the answer to initialize.
func (s *sessionRequests) capabilities(key string, f acp.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.init[key] {
		return
	}
	delete(s.init, key)
	var said initialized
	if json.Unmarshal(f.Result(), &said, frame.Lenient) != nil {
		return
	}
	s.caps = said.Agent.MCP
	if v2 := said.Capabilities.Session.MCP; said.Version >= 2 {
		s.caps = config.MCPCapabilities{HTTP: v2.HTTP != nil, SSE: v2.SSE != nil}
	}
}

// takes says which MCP transports the agent takes.
func (s *sessionRequests) takes() config.MCPCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caps
}

// begin notes a request before the agent has it. It is false when it could not be
// told apart from another one.
func (s *sessionRequests) begin(f acp.Frame, list []grant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, named := f.ID.Key(), f.Sessions()
	makes := f.Method == acp.MethodNew || f.Method == acp.MethodFork
	ends := f.Method == acp.MethodClose || f.Method == acp.MethodDelete
	if _, twice := s.open[key]; twice || len(s.open) >= maxSessionRequests || !makes && len(named) != 1 {
		return false
	}
	r := sessionRequest{makes: makes, ends: ends, grants: list}
	if !makes {
		r.session = named[0]
	}
	s.open[key] = r
	return true
}

// take gives what an answer settles: the session that has the secrets from now on, or
// has ended; an empty one when nothing has changed.
func (s *sessionRequests) take(key string, f acp.Frame) (done sessionRequest, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, ok = s.open[key]
	if !ok {
		return sessionRequest{}, false
	}
	delete(s.open, key)
	switch {
	case f.Refused():
		done.session, done.ends = "", false
	case done.makes:
		done.session = f.MadeSession()
	}
	return done, true
}
