package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kandev/assent/internal/host/state"
	"github.com/kandev/assent/internal/host/token"
)

// TokenCommand does what `assent token` was asked: by the server that runs on the
// data folder, or itself when none does.
func TokenCommand(ctx context.Context, c Config, r TokenRequest, out io.Writer, log *slog.Logger) error {
	answer, running, err := AskControl(ctx, c.Data, r)
	if err == nil && !running {
		answer, err = offline(ctx, c, r, log)
	}
	if err != nil {
		return err
	}
	if answer.Error != "" {
		return fmt.Errorf("%s (data folder %s)", strings.TrimPrefix(answer.Error, "token: "), c.Data)
	}
	if err := answer.print(r, out); err != nil || running {
		return err
	}
	if len(r.Tasks) > 0 {
		log.Warn("no server runs there that could say whether there is such a task: without one the token sees nothing")
	}
	where := "there"
	if c.NATS.URL != "" {
		where = "in the NATS cluster"
	}
	_, err = fmt.Fprintf(out, "No server runs with %s now: this was done %s. A server with another folder does not know of it: "+
		"name its folder with --data or --config (--demo for that of assent serve --demo).\n", c.Data, where)
	return err
}

// offline opens the store itself. In a folder that no server knows it would do nothing.
func offline(ctx context.Context, c Config, r TokenRequest, log *slog.Logger) (a TokenAnswer, err error) {
	if c.NATS.URL == "" {
		if err := usedData(c.Data); err != nil {
			return a, err
		}
	}
	s, err := state.Open(ctx, state.Options{Dir: c.Data, URL: c.NATS.URL, Creds: c.NATS.Creds, Logger: log})
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	tokens, err := token.Open(ctx, s, log)
	if err != nil {
		return a, err
	}
	defer tokens.Close()
	return ManageTokens(ctx, tokens, r), nil
}

// print says what came of a request.
func (a TokenAnswer) print(r TokenRequest, out io.Writer) error {
	var b strings.Builder
	switch r.Command {
	case "create":
		fmt.Fprintf(&b, "The token %s is shown this once:\n  %s\n", r.Name, a.Secret)
		switch {
		case !r.sees():
			fmt.Fprintf(&b, "It has not the scope view: it is for a program alone, and the page needs that.\n")
		case a.Page != "":
			fmt.Fprintf(&b, "The page with it:\n  %s#token=%s\n", a.Page, a.Secret)
		}
	case "delete":
		fmt.Fprintf(&b, "The token %s is deleted.\n", r.Name)
	case "list":
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "name\tscopes\ttasks\tcreated")
		for _, t := range a.Tokens {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, t.scopes(), t.tasks(), t.Created.Format(time.RFC3339))
		}
		_ = w.Flush()
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (t TokenInfo) scopes() string {
	if len(t.Scopes) == 0 {
		return "(cannot be read)"
	}
	var names []string
	for _, s := range t.Scopes {
		names = append(names, string(s))
	}
	return strings.Join(names, ",")
}

func (t TokenInfo) tasks() string {
	if len(t.Tasks) == 0 {
		return "all"
	}
	return strings.Join(t.Tasks, ",")
}
