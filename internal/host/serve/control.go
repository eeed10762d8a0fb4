package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/task"
	"github.com/kandev/assent/internal/host/token"
)

// controlName is the socket in the data folder. Whoever may enter the folder may
// manage tokens: it is for its owner alone.
const controlName = "control.sock"

const (
	controlTimeout = 20 * time.Second
	maxControl     = 1 << 20 // bytes of a request or an answer
)

// TokenRequest is one command about tokens: create, list or delete.
type TokenRequest struct {
	Command string   `json:"command"`
	Name    string   `json:"name,omitempty"`
	Scopes  []string `json:"scopes,omitempty"`
	Tasks   []string `json:"tasks,omitempty"` // empty: all
}

// Check says what is wrong with a request, by itself.
func (r TokenRequest) Check() error {
	if r.Command != "create" {
		return nil
	}
	var tasks []string
	if len(r.Tasks) > 0 {
		tasks = r.Tasks
	}
	if err := token.Check(r.Name, r.Scopes, tasks); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "token: "))
	}
	for i, id := range r.Tasks {
		if !task.ID(id).WellFormed() {
			return fmt.Errorf("task %d of %d is no id of a task: copy it whole, as in task-abcdefghij234567", i+1, len(r.Tasks))
		}
	}
	return nil
}

// sees says whether a token that was asked for sees anything.
func (r TokenRequest) sees() bool { return slices.Contains(r.Scopes, string(dispatch.ScopeView)) }

// TokenAnswer is what came of it.
type TokenAnswer struct {
	// Secret of a token that was created. It is shown once.
	Secret string `json:"secret,omitempty"`
	// Page is where the page is, if the server runs.
	Page   string      `json:"page,omitempty"`
	Tokens []TokenInfo `json:"tokens,omitempty"`
	Error  string      `json:"error,omitempty"`
}

// TokenInfo describes a token.
type TokenInfo struct {
	Name    string          `json:"name"`
	Scopes  dispatch.Scopes `json:"scopes"`
	Tasks   []string        `json:"tasks,omitempty"`
	Created time.Time       `json:"created"`
}

// ManageTokens does what a request says.
func ManageTokens(ctx context.Context, tokens *token.Store, r TokenRequest) TokenAnswer {
	var a TokenAnswer
	err := r.Check()
	if err != nil {
		return TokenAnswer{Error: err.Error()}
	}
	switch r.Command {
	case "create":
		var tasks []string
		if len(r.Tasks) > 0 {
			tasks = r.Tasks
		}
		a.Secret, _, err = tokens.Create(ctx, r.Name, r.Scopes, tasks)
	case "list":
		for _, t := range tokens.List() {
			a.Tokens = append(a.Tokens, TokenInfo{t.Name, t.Scopes, t.Tasks, t.Created})
		}
	case "delete":
		err = tokens.Delete(ctx, r.Name)
	default:
		err = errors.New("there is no such command")
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// manageTokens does what a request says, for tasks that there are.
func (s *Server) manageTokens(ctx context.Context, r TokenRequest) TokenAnswer {
	if r.Command == "create" {
		for i, id := range r.Tasks {
			if _, err := s.tasks.Get(task.Host{}, task.ID(id)); err != nil {
				return TokenAnswer{Error: fmt.Sprintf("task %d of %d does not exist: the page shows the ids of tasks", i+1, len(r.Tasks))}
			}
		}
	}
	a := ManageTokens(ctx, s.tokens, r)
	a.Page = s.URL()
	if a.Error == "" && r.Command != "list" {
		s.log.Info("a token was managed", "command", r.Command, "token", r.Name, "scopes", r.Scopes, "tasks", r.Tasks)
	}
	return a
}

// control serves token commands on the socket in the data folder.
type control struct {
	listener net.Listener
	handle   func(context.Context, TokenRequest) TokenAnswer
	log      *slog.Logger
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// ErrInUse says that another server uses the data folder.
var ErrInUse = errors.New("another server uses this data folder: stop it, or choose another folder with --data")

// openControl listens. A socket that nobody answers at is left from a server that
// was killed.
func openControl(dir string, log *slog.Logger, handle func(context.Context, TokenRequest) TokenAnswer) (*control, error) {
	path := filepath.Join(dir, controlName)
	if conn, err := net.Dial("unix", path); err == nil {
		_ = conn.Close()
		return nil, ErrInUse
	}
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("the control socket: %q is something else: move it away, or choose another folder with --data", path)
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the control socket: %w", err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("the control socket: %w (is the path of the data folder longer than a socket's may be?)", err)
	}
	return serveControl(listener, log, handle), nil
}

// serveControl serves what comes to a listener, until it is closed.
func serveControl(listener net.Listener, log *slog.Logger, handle func(context.Context, TokenRequest) TokenAnswer) *control {
	c := &control{listener: listener, handle: handle, log: log}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.running.Go(c.accept)
	return c
}

// acceptAgain is from a connection that could not be accepted to the next try.
const acceptAgain = 200 * time.Millisecond

// accept goes on until the listener is closed. Any other failure passes, such as too
// many open files, and is logged the first time.
func (c *control) accept() {
	said := false
	for {
		conn, err := c.listener.Accept()
		switch {
		case err == nil:
			c.running.Go(func() { c.serve(conn) })
			continue
		case errors.Is(err, net.ErrClosed):
			return
		case !said:
			said = true
			c.log.Error("token commands cannot be taken now; it is tried again: are too many files open?", "error", err)
		}
		select {
		case <-time.After(acceptAgain):
		case <-c.ctx.Done():
			return
		}
	}
}

// serve answers one request: one line each.
func (c *control) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(c.ctx, func() { _ = conn.Close() })()
	_ = conn.SetDeadline(time.Now().Add(controlTimeout))
	var r TokenRequest
	if err := readLine(conn, &r); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, controlTimeout)
	defer cancel()
	_ = writeLine(conn, c.handle(ctx, r))
}

func (c *control) close() {
	c.cancel()
	_ = c.listener.Close() // it removes the socket
	c.running.Wait()
}

func readLine(r io.Reader, into any) error {
	line, err := bufio.NewReader(io.LimitReader(r, maxControl)).ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into, json.RejectUnknownMembers(true))
}

func writeLine(w io.Writer, value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// refusedOnWindows is WSAECONNREFUSED, which [syscall.ECONNREFUSED] is not.
const refusedOnWindows = syscall.Errno(10061)

// AskControl sends a token command to the server that uses a data folder; false when
// none runs there: there is no socket, or nobody answers at it. Any other failure, such
// as a folder of somebody else, says nothing about that and is an error.
func AskControl(ctx context.Context, dir string, r TokenRequest) (a TokenAnswer, running bool, err error) {
	path := filepath.Join(dir, controlName)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return TokenAnswer{}, false, nil
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, refusedOnWindows):
		return TokenAnswer{}, false, nil
	case errors.Is(err, fs.ErrPermission):
		return TokenAnswer{}, false, dataError(dir, err)
	case err != nil:
		return TokenAnswer{}, false, fmt.Errorf("whether a server runs there cannot be told: %w: do it as the user that the server runs as", err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(controlTimeout))
	if err := writeLine(conn, r); err != nil {
		return TokenAnswer{}, true, fmt.Errorf("the server does not take the command: %w", err)
	}
	if err := readLine(conn, &a); err != nil {
		return TokenAnswer{}, true, errors.New("the server gave no answer: look at its log")
	}
	return a, true, nil
}
