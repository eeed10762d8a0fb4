package token

import (
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/kandev/assent/internal/host/dispatch"
)

// Bounds of a token.
const (
	MaxTokens = 1000
	maxTasks  = 100
	maxTaskID = 128 // bytes
)

// Token is what is known of a token. Its secret is not.
type Token struct {
	Name   string
	Scopes dispatch.Scopes
	// Tasks are those that the token is limited to, with their descendants; nil for
	// all tasks. It is never empty without being nil.
	Tasks   []string
	Created time.Time

	digest digest
}

// LogValue is the name.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.Name) }

// Format prints the name, whatever the verb.
func (t Token) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "token %q", t.Name) }

// Person is whom the token stands for. The transport adds the surface.
func (t Token) Person() dispatch.Person {
	return dispatch.Person{Name: t.Name, Scopes: slices.Clone(t.Scopes), Tasks: slices.Clone(t.Tasks)}
}

// names can be shown and typed anywhere.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// check says what is wrong with a token that somebody wants.
func (t Token) check() error {
	if !names.MatchString(t.Name) {
		return invalid("a name has 1 to 64 letters, digits, dots, hyphens and underscores and begins with a letter or digit")
	}
	if len(t.Scopes) == 0 {
		return invalid("a token needs at least one scope: view, operate, answer")
	}
	for i, s := range t.Scopes {
		if !s.Known() || slices.Contains(t.Scopes[:i], s) {
			return invalid("a scope is view, operate or answer, each once")
		}
	}
	if t.Tasks != nil && len(t.Tasks) == 0 || len(t.Tasks) > maxTasks {
		return invalid(fmt.Sprintf("a token is limited to 1 to %d tasks, or not at all", maxTasks))
	}
	for _, id := range t.Tasks {
		if id == "" || len(id) > maxTaskID || !utf8.ValidString(id) {
			return invalid(fmt.Sprintf("the id of a task has 1 to %d bytes", maxTaskID))
		}
	}
	return nil
}

// Check says what is wrong with a token that somebody wants, as [Store.Create] does.
func Check(name string, scopes, tasks []string) error {
	parsed, err := ParseScopes(scopes)
	if err != nil {
		return err
	}
	return Token{Name: name, Scopes: parsed, Tasks: tasks}.check()
}

// ParseScopes reads the names of scopes. None at all, an unknown one and one that
// comes twice are errors.
func ParseScopes(list []string) (dispatch.Scopes, error) {
	var scopes dispatch.Scopes
	for _, s := range list {
		scopes = append(scopes, dispatch.Scope(s))
	}
	return scopes, Token{Name: "x", Scopes: scopes}.check()
}
