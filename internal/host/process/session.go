package process

import (
	"context"
	"errors"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/endpoint"
	"github.com/kandev/assent/internal/host/frame"
	"github.com/kandev/assent/pipeline/acp"
)

// Session is one conversation with an agent.
type Session struct {
	instance *Instance
	id       string

	mu       sync.Mutex
	secret   *endpoint.Session // nil without injection
	injected string
	warnings []config.Warning
	turns    uint64 // begun
	turn     uint64 // the number of the one that has no answer yet; 0 for none
	stopping bool   // that turn was cancelled
}

// ID of the session, as the agent named it.
func (s *Session) ID() string { return s.id }

// Injected is the transport of the injected MCP server in this session, "http" or
// "sse"; empty when the agent takes neither.
func (s *Session) Injected() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.injected
}

// Warnings name servers that the session does not have.
func (s *Session) Warnings() []config.Warning {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.warnings
}

// EndpointSession names the session at the injected MCP server; false when it has
// none there.
func (s *Session) EndpointSession() (endpoint.SessionID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.secret == nil {
		return "", false
	}
	return s.secret.ID(), true
}

// NewSession makes a session that works in the given directory.
func (i *Instance) NewSession(ctx context.Context, cwd string) (*Session, error) {
	return i.openSession(ctx, acp.MethodNew, "", cwd)
}

// LoadSession takes an earlier session up again and replays it as updates.
func (i *Instance) LoadSession(ctx context.Context, id, cwd string) (*Session, error) {
	if !i.about().Capabilities.Load {
		return nil, &NotSupportedError{acp.MethodLoad}
	}
	return i.openSession(ctx, acp.MethodLoad, id, cwd)
}

// ResumeSession takes an earlier session up again without replaying it.
func (i *Instance) ResumeSession(ctx context.Context, id, cwd string) (*Session, error) {
	if !declared(i.about().Capabilities.Session.Resume) {
		return nil, &NotSupportedError{acp.MethodResume}
	}
	return i.openSession(ctx, acp.MethodResume, id, cwd)
}

// ForkSession makes a new session that begins like another one.
func (i *Instance) ForkSession(ctx context.Context, id, cwd string) (*Session, error) {
	if !declared(i.about().Capabilities.Session.Fork) {
		return nil, &NotSupportedError{acp.MethodFork}
	}
	return i.openSession(ctx, acp.MethodFork, id, cwd)
}

// declared says whether a capability is there: an object, or true.
func declared(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' && v.Kind() != 'f' }

type sessionParams struct {
	SessionID string         `json:"sessionId,omitzero"`
	Cwd       string         `json:"cwd"`
	Servers   config.Servers `json:"mcpServers"`
}

// openSession sends a session request with the servers that the agent takes and
// a secret of its own for the injected one. The secret is the session's from the
// success of the request, and is revoked when there is none.
func (i *Instance) openSession(ctx context.Context, method, id, cwd string) (*Session, error) {
	servers, secret, err := i.sessionServers()
	if err != nil {
		return nil, err
	}
	var session *Session
	_, err = i.timed(ctx, i.manager.options.Timeouts.Session, request{
		method: method, params: sessionParams{SessionID: id, Cwd: cwd, Servers: servers.Servers},
		authorization: servers.Authorization,
		then: func(result jsontext.Value, err error) error {
			if err == nil {
				session, err = i.opened(method, id, result, servers, secret)
			}
			if err == nil {
				i.tellToAsk(result, session.id)
			}
			return err
		},
	})
	if err != nil {
		i.revoke(secret)
		i.gaveUp(method, id, err)
		return nil, err
	}
	return session, nil
}

// tellToAsk tells an agent that begins a session in a mode that does not ask to ask. No
// prompt can come before: nobody has the session yet.
func (i *Instance) tellToAsk(result jsontext.Value, session string) {
	method, params, ok := i.launching().ModeRequest(result, session)
	if !ok {
		return
	}
	i.log.Info("the agent begins in a mode that does not ask: it is told to ask")
	told := request{method: method, params: params, then: func(_ jsontext.Value, err error) error {
		if err != nil {
			i.log.Warn("the agent refused to be set to a mode in which it asks: it may run tools without asking")
		}
		return err
	}}
	if _, err := i.conn.start(told); err != nil {
		i.log.Warn("the agent could not be told to ask", "error", err)
	}
}

// gaveUp takes a session's standing at the endpoint away when a request that
// changes its servers was given up and not refused: the agent may still do it,
// and then nobody knows with which list the session goes on.
func (i *Instance) gaveUp(method, id string, err error) {
	if refused := (*RPCError)(nil); errors.As(err, &refused) || method != acp.MethodLoad && method != acp.MethodResume {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	s := i.sessions[id]
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i.revoke(s.secret)
	s.secret = nil
}

// sessionServers makes the server list of one session request, and the secret.
func (i *Instance) sessionServers() (config.SessionServers, *endpoint.Session, error) {
	var secret *endpoint.Session
	authorization := ""
	if i.endpoint != nil {
		made, err := i.endpoint.NewSession()
		if err != nil {
			return config.SessionServers{}, nil, err
		}
		secret, authorization = made, made.Authorization()
		i.nets.Expect(secret.ID())
		i.hide(authorization)
	}
	servers, err := i.config.SessionServers(i.about().Capabilities.MCP, authorization)
	if err != nil || servers.Injected == "" {
		i.revoke(secret)
		secret = nil
	}
	return servers, secret, err
}

// hide keeps a secret out of what a person is shown and out of the recording.
func (i *Instance) hide(authorization string) {
	token := authorization[len("Bearer "):]
	i.secrets.add(token)
	if i.recorder != nil {
		i.recorder.Hide(token)
	}
}

func (i *Instance) revoke(secret *endpoint.Session) {
	if secret != nil {
		i.endpoint.Revoke(secret)
		i.nets.Forget(secret.ID())
	}
}

// opened puts a session in force, on the goroutine that reads: the agent's next
// line may be about it.
func (i *Instance) opened(method, id string, result jsontext.Value, servers config.SessionServers, secret *endpoint.Session) (*Session, error) {
	makes := method == acp.MethodNew || method == acp.MethodFork
	if makes {
		var made struct {
			ID string `json:"sessionId"`
		}
		if err := json.Unmarshal(result, &made, frame.Lenient); err != nil || made.ID == "" {
			return nil, ErrNoSession
		}
		id = made.ID
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	s := i.sessions[id]
	switch {
	case s != nil && makes:
		return nil, ErrSessionTwice
	case s == nil:
		s = &Session{instance: i, id: id}
		i.sessions[id] = s
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i.revoke(s.secret) // of the list that this one takes the place of
	if secret != nil {
		i.nets.Bind(secret.ID(), id)
	}
	s.secret, s.injected, s.warnings = secret, servers.Injected, servers.Warnings
	return s, nil
}

// StopReason is why a turn ended, as the agent says it: agent text.
type StopReason string

type promptParams struct {
	SessionID string        `json:"sessionId"`
	Prompt    []promptBlock `json:"prompt"`
}

type promptBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Prompt sends a text and waits for the end of the turn. When ctx ends the turn
// is cancelled and not waited for. A session has one turn at a time; after
// [Session.Cancel] the next one may begin.
func (s *Session) Prompt(ctx context.Context, text string) (StopReason, error) {
	c, err := s.begin(text)
	if err != nil {
		return "", err
	}
	var o outcome
	select {
	case o = <-c.answer:
	case <-ctx.Done():
		_ = s.Cancel() // it fails only when the instance has ended
		return "", context.Cause(ctx)
	}
	if o.err != nil {
		return "", o.err
	}
	var turn struct {
		StopReason StopReason `json:"stopReason"`
	}
	if json.Unmarshal(o.result, &turn, frame.Lenient) != nil {
		return "", &RPCError{Method: acp.MethodPrompt, Code: malformedAnswer, Detail: "the answer is malformed"}
	}
	return turn.StopReason, nil
}

// begin begins a turn.
func (s *Session) begin(text string) (*pendingCall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != 0 && !s.stopping {
		return nil, ErrTurnOpen
	}
	number := s.turns + 1
	c, err := s.instance.conn.start(request{
		method: acp.MethodPrompt,
		params: promptParams{SessionID: s.id, Prompt: []promptBlock{{Type: "text", Text: text}}},
		then:   func(_ jsontext.Value, err error) error { s.turnOver(number, err); return err },
	})
	if err != nil {
		return nil, err
	}
	s.turns, s.turn, s.stopping = number, number, false
	return c, nil
}

// turnOver forgets a turn that the agent has answered. An earlier one that is
// answered late ends nothing: the turn that began meanwhile goes on.
func (s *Session) turnOver(number uint64, err error) {
	s.mu.Lock()
	current := s.turn == number
	if current {
		s.turn, s.stopping = 0, false
	}
	s.mu.Unlock()
	if current && !errors.Is(err, ErrEnded) { // of an agent that has ended nobody knows what would have come
		s.instance.nets.TurnEnded(s.id)
	}
}

// Cancel cancels the turn: see [Instance.CancelSession].
func (s *Session) Cancel() error { return s.instance.CancelSession(s.id) }

func (s *Session) cancelled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = s.turn != 0
}

func (s *Session) turnCancelled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}
