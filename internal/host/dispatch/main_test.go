package dispatch

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call is one that a handler got.
type call struct {
	origin  Origin
	payload string
}

// book keeps the calls of the handlers that it makes.
type book struct{ calls []call }

func (b *book) handler(result any, err error) Handler {
	return func(_ context.Context, o Origin, payload jsontext.Value) (any, error) {
		b.calls = append(b.calls, call{o, string(payload)})
		return result, err
	}
}

type stopPayload struct {
	Task  string `json:"task"`
	Force bool   `json:"force,omitempty"`
}

func schemaOf[T any](t testing.TB) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.For[T](nil)
	require.NoError(t, err)
	return s
}

// stop is an action that takes a task.
func stop(t testing.TB, name string, scope Scope, h Handler) Action {
	return Action{Name: name, Doc: "Stops a task.", Schema: schemaOf[stopPayload](t), Internal: Internal(name), Scope: scope, Handler: h}
}

var everything = Scopes{ScopeView, ScopeOperate, ScopeAnswer}

func code(t testing.TB, err error) Code {
	t.Helper()
	known := (*Error)(nil)
	require.ErrorAs(t, err, &known)
	return known.Code
}
