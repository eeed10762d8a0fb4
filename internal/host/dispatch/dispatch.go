package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Dispatcher hands requests to the handlers of actions. It is safe for concurrent
// use; actions may be registered at any time.
type Dispatcher struct {
	logger *slog.Logger

	mu      sync.RWMutex
	actions map[string]*entry
}

// New makes a dispatcher without actions. The logger is told of faults of handlers;
// nil for none.
func New(logger *slog.Logger) *Dispatcher {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Dispatcher{logger: logger, actions: map[string]*entry{}}
}

// Register adds an action. It refuses what is incomplete and what is there already.
func (d *Dispatcher) Register(a Action) error {
	e, err := a.prepare()
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.actions[a.Name] != nil {
		return fmt.Errorf("dispatch: action %q is registered already", a.Name)
	}
	d.actions[a.Name] = e
	return nil
}

// Dispatch calls the handler of an action. Every error is an [*Error].
func (d *Dispatcher) Dispatch(ctx context.Context, o Origin, action string, payload jsontext.Value) (any, error) {
	if err := o.mayName(action); err != nil {
		return nil, err
	}
	d.mu.RLock()
	e := d.actions[action]
	d.mu.RUnlock()
	if e == nil {
		return nil, &Error{CodeUnknownAction, "there is no such action: GET /api/actions lists them"}
	}
	if err := o.mayDispatch(e); err != nil {
		return nil, err
	}
	payload, err := e.payload(payload)
	if err != nil {
		return nil, err
	}
	result, err := d.handle(ctx, o, e, payload)
	if err != nil {
		return nil, d.tell(ctx, o, e, err)
	}
	return result, nil
}

// mayName is about the name alone, so that it holds for actions that do not exist.
func (o Origin) mayName(action string) error {
	switch internal := Internal(action); {
	case o.kind == Nowhere || o.kind > RawClient:
		return &Error{CodeForbidden, "the caller is unknown"}
	case o.kind == RawClient && internal:
		return RawInternal()
	case (o.kind == AgentStream || o.kind == ExternalMCP) && !internal:
		return &Error{CodeForbidden, "MCP adapters dispatch actions mcp.* only"}
	}
	return nil
}

// RawInternal is the error of a raw client that names an internal action.
func RawInternal() *Error {
	return &Error{CodeForbidden, "actions mcp.* are internal: raw clients cannot dispatch them"}
}

// mayDispatch is about what the caller was given.
func (o Origin) mayDispatch(e *entry) error {
	switch {
	case o.kind == InProcess:
		return nil
	case o.kind == AgentStream && e.Scope == ScopeAnswer:
		return &Error{CodeForbidden, "people alone answer"}
	case o.kind == AgentStream:
		return nil
	case e.Scope == "":
		return &Error{CodeForbidden, "this action is for agents"}
	case !o.person.Scopes.Has(e.Scope):
		return &Error{CodeForbidden, "this token does not have the scope " + string(e.Scope)}
	}
	return nil
}

// handle calls the handler. A panic becomes an error, and its value is told to
// nobody: it may quote the payload.
func (d *Dispatcher) handle(ctx context.Context, o Origin, e *entry, payload jsontext.Value) (result any, err error) {
	defer func() {
		if value := recover(); value != nil {
			result, err = nil, &Error{CodeInternal, faultText}
			d.logger.ErrorContext(ctx, "the handler of an action panicked", "action", e.Name, "origin", o.kind.String(),
				"value", fmt.Sprintf("%T", value), "stack", string(debug.Stack()))
		}
	}()
	return e.Handler(ctx, o, payload)
}

const faultText = "the server could not do it; its log says more"

// tell is what the caller hears of a handler's error.
func (d *Dispatcher) tell(ctx context.Context, o Origin, e *entry, err error) error {
	if known := (*Error)(nil); errors.As(err, &known) {
		return known
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{CodeUnavailable, "it was given up before it was done"}
	}
	d.logger.ErrorContext(ctx, "the handler of an action failed", "action", e.Name, "origin", o.kind.String(), "error", types(err))
	return &Error{CodeInternal, faultText}
}

// types are those of an error and of what it wraps: its text may quote the payload.
func types(err error) string {
	var names []string
	for ; err != nil; err = errors.Unwrap(err) {
		names = append(names, fmt.Sprintf("%T", err))
	}
	return strings.Join(names, " ")
}
