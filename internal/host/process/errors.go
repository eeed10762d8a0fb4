package process

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/kandev/assent/internal/host/child"
)

var (
	// ErrNoStore says that a manager was to be made without a place for offers
	// that wait.
	ErrNoStore = errors.New("process: a manager needs a store of pending requests: without one, requests that nothing decides would have no answer")
	// ErrNoPipelines says that a manager was to be made without a pipeline factory.
	ErrNoPipelines = errors.New("process: a manager needs a factory of pipelines: without one nothing would be decided; give it one, such as that of stages.NewPipelineFactory")
	// ErrEnded says that the instance is not running any more.
	ErrEnded = errors.New("process: the agent is not running")
	// ErrStopped says that the instance was stopped by its host.
	ErrStopped = errors.New("process: the agent was stopped")
	// ErrOutputClosed says that the agent closed its stdout while it went on.
	ErrOutputClosed = errors.New("process: the agent closed its output")
	// ErrNotReading says that the agent does not read what it is sent.
	ErrNotReading = errors.New("process: the agent does not read its input")
	// ErrHandshake says that the answer to initialize is no answer of ACP.
	ErrHandshake = errors.New("process: the agent's answer to initialize is malformed: the command has to be an agent that speaks the Agent Client Protocol on stdout, and some need an argument for it")
	// ErrNoSession says that the answer to a session request names no session.
	ErrNoSession = errors.New("process: the agent's answer names no session, so nothing can be said to it: try another version of the agent")
	// ErrSessionTwice says that the agent gave one session id twice.
	ErrSessionTwice = errors.New("process: the agent gave the id of another session")
	// ErrTurnOpen says that the session has a turn that was not cancelled.
	ErrTurnOpen = errors.New("process: the session's last prompt has not been answered")
	// ErrNoText says that a prompt is no valid text.
	ErrNoText = errors.New("process: a text to be sent is no valid UTF-8: convert it first")
)

// endedError is what requests get that the agent cannot answer any more. It is
// [ErrEnded], and tells why the instance ended.
type endedError struct{ cause error }

// Error tells the cause alone.
func (e endedError) Error() string { return e.cause.Error() }

// Unwrap is the cause.
func (e endedError) Unwrap() error { return e.cause }

// Is makes it [ErrEnded].
func (e endedError) Is(target error) bool { return target == ErrEnded }

// ended is the error of requests to an instance that ended with err.
func ended(err error) error {
	if err == nil {
		return ErrEnded
	}
	return endedError{err}
}

// StartError says that the agent's program could not be started.
type StartError = child.StartError

// HandshakeError says that an agent was started but could not be talked to. It
// has been stopped.
type HandshakeError struct {
	Err error
	// Stderr is the end of what it wrote there: see [ExitError].
	Stderr string
}

// Error says what was wrong.
func (e *HandshakeError) Error() string { return e.Err.Error() }

// Unwrap is what was wrong.
func (e *HandshakeError) Unwrap() error { return e.Err }

// LogValue keeps stderr out of logs.
func (e *HandshakeError) LogValue() slog.Value { return slog.StringValue(e.Error()) }

// TimeoutError says that the agent did not answer a request in time.
type TimeoutError struct {
	Method string
	After  time.Duration
}

// Error names the request.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("process: the agent did not answer %s within %s", e.Method, e.After)
}

// Timeout is true.
func (e *TimeoutError) Timeout() bool { return true }

// NotSupportedError says that the agent did not declare a capability.
type NotSupportedError struct{ Method string }

// Error names the method.
func (e *NotSupportedError) Error() string {
	return "process: the agent does not support " + e.Method + ": begin a new session instead"
}

// VersionError says that the agent speaks another version of ACP only.
type VersionError struct{ Version int }

// Error names the version.
func (e *VersionError) Error() string {
	return fmt.Sprintf("process: the agent speaks version %d of the Agent Client Protocol, not %d", e.Version, protocolVersion)
}

// RPCError is an error that the agent answered a request with.
type RPCError struct {
	Method string
	Code   int
	// Detail is what the agent said, escaped and bounded, for a person only: it
	// can quote anything that the agent was sent.
	Detail string
}

// Error names method and code and quotes nothing.
func (e *RPCError) Error() string {
	return fmt.Sprintf("process: the agent answered %s with error %d", e.Method, e.Code)
}

// LogValue keeps the detail out of logs.
func (e *RPCError) LogValue() slog.Value { return slog.StringValue(e.Error()) }

// ExitError says that the agent ended by itself.
type ExitError struct {
	// State of the process.
	State *os.ProcessState
	// Stderr is the end of what it wrote there, escaped and bounded, for a person
	// only: it can quote anything that the agent was sent.
	Stderr string
}

// Error says how it ended and quotes nothing.
func (e *ExitError) Error() string { return "process: the agent ended by itself: " + e.State.String() }

// LogValue keeps stderr out of logs.
func (e *ExitError) LogValue() slog.Value { return slog.StringValue(e.Error()) }
