package endpoint

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	gojson "github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	sessionHeader = "Mcp-Session-Id"
	// maxMCPSessions bounds the MCP sessions over streamable HTTP that one session
	// of the endpoint has. Agents that begin anew do not always end the one before;
	// the one that was not used for longest makes room.
	maxMCPSessions = 16
)

// serveFront serves an endpoint with an upstream. An agent that says initialize
// gets an MCP session: a stream for what the target sends on its own, and answers
// to what the target asks. Newer agents begin with another request, and need none.
func (e *Endpoint) serveFront(w http.ResponseWriter, r *http.Request, s *Session, body []byte) {
	id := r.Header.Get(sessionHeader)
	switch {
	case r.URL.Path == "/sse" && r.Method == http.MethodGet:
		l := e.newLink(s, false)
		defer l.close()
		s.sse.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), linkKey{}, l)))
	case r.URL.Path == "/sse":
		s.sse.ServeHTTP(w, r)
	case id != "":
		if l := s.used(id); l != nil && r.Method == http.MethodDelete {
			l.cancel() // or the end of the session would wait for its calls
		}
		s.stateful.ServeHTTP(w, r)
	case r.Method == http.MethodPost && isInitialize(body):
		l := e.newLink(s, false)
		s.keep(l)
		s.stateful.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), linkKey{}, l)))
		if l.agent() == nil { // it was refused before it came to anything
			l.close()
			s.drop(l)
		}
	default:
		ctx := context.WithValue(r.Context(), linkKey{}, s.shared)
		s.streamable.ServeHTTP(w, r.WithContext(context.WithValue(ctx, requestKey{}, r.Context())))
	}
}

// isInitialize says whether a message begins an MCP session.
func isInitialize(body []byte) bool {
	var message struct {
		Method string `json:"method"`
	}
	return gojson.Unmarshal(body, &message) == nil && message.Method == "initialize"
}

func (l *link) agent() *mcp.ServerSession {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ss
}

// keep adds the link of a new MCP session.
func (s *Session) keep(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = append(s.links, l)
	if len(s.links) > maxMCPSessions {
		oldest := s.links[0]
		s.links = s.links[1:]
		oldest.cancel()
		if ss := oldest.agent(); ss != nil {
			l.e.running.Go(func() { _ = ss.Close() })
		}
	}
}

// used finds the link of an MCP session, and notes its use; nil for an unknown one.
func (s *Session) used(id string) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.links, func(l *link) bool { ss := l.agent(); return ss != nil && ss.ID() == id })
	if i < 0 {
		return nil
	}
	l := s.links[i]
	s.links = append(slices.Delete(s.links, i, i+1), l)
	return l
}

// fails notes what the target fails with, or that it has answered: "". Anew says that it
// is something else than before.
func (s *Session) fails(what string) (anew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	anew = s.failed != what
	s.failed = what
	return anew
}

func (s *Session) drop(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = slices.DeleteFunc(s.links, func(other *link) bool { return other == l })
}

// endFront ends what a session with an upstream has opened, when the session ends.
func (s *Session) endFront() {
	<-s.ctx.Done()
	for ss := range s.server.Sessions() {
		_ = ss.Close()
	}
	s.shared.close()
}

// changed tells the agent that a list has changed. The SDK tells it when one of
// its own lists has, which nobody is ever shown here.
func (s *Session) changed(list string) {
	switch list {
	case "tools":
		s.server.AddTool(&mcp.Tool{Name: "changed", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	case "prompts":
		s.server.AddPrompt(&mcp.Prompt{Name: "changed"}, nil)
	case "resources":
		s.server.AddResource(&mcp.Resource{Name: "changed", URI: "assent:changed"}, nil)
	}
}
