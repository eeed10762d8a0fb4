package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/task"
)

// firstToken is the name of the token that the first start makes.
const firstToken = "first"

// Greet says where to look and what to do next. With show, at the first start, it
// makes a token that may do everything and shows it once: w is read by a person, and
// by nobody later, as a log is. With an audit of earlier runs it is no first start.
func (s *Server) Greet(ctx context.Context, w io.Writer, show bool) error {
	page := s.URL()
	var b strings.Builder
	fmt.Fprintf(&b, "assent runs at %s\n", page)
	none, before := len(s.tokens.List()) == 0, s.ranBefore()
	if none && before {
		s.log.Warn("there is no token although this data folder was used before: make one with assent token create; where there were some that nobody deleted, is its store damaged?", "data", s.config.Data)
	}
	if show && none && !before {
		secret, _, err := s.tokens.Create(ctx, firstToken, []string{string(dispatch.ScopeView), string(dispatch.ScopeOperate), string(dispatch.ScopeAnswer)}, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\nOpen this address in a browser. It holds a key and is shown this once:\n  %s#token=%s\n", page, secret)
	} else {
		fmt.Fprintf(&b, "\nOpen it with a token of yours, or make one:\n  assent token create NAME --data %s\n", s.config.Data)
	}
	fmt.Fprintf(&b, "\nThen start a task there; what its agent asks for waits there for your answer.\n"+
		"Other MCP clients: %smcp, with a token. Metrics: %smetrics. Data: %s\nCtrl-C ends it.\n", page, page, s.config.Data)
	_, err := io.WriteString(w, b.String())
	return err
}

// ranBefore says whether the audit holds something of an earlier run.
func (s *Server) ranBefore() bool {
	f, err := os.Open(s.auditFile)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }()
	first, err := bufio.NewReader(f).ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(first) == 0 {
		return false
	}
	r, err := audit.Parse(bytes.TrimSuffix(first, []byte("\n")))
	return err != nil || r.Run != s.run
}

// Begin tells a task of the bundled agent at the top that has this title something, or
// starts it. One of another agent that is called the same is somebody's own.
func (s *Server) Begin(ctx context.Context, title, prompt string) error {
	tasks, err := s.tasks.List(task.Host{})
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if t.Title == title && t.Agent == demoAgent && t.Parent == "" && !t.State.Ended() {
			_, err := s.tasks.Message(ctx, task.Host{}, t.ID, prompt)
			return err
		}
	}
	_, err = s.create(ctx, dispatch.FromProcess("start"), task.Spec{Title: title, Prompt: prompt, Agent: demoAgent})
	return err
}
