package agentstream

import (
	"context"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/host/dispatch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// own has one action, for agents and for people with the scope operate.
func own(t *testing.T, h dispatch.Handler) *dispatch.Dispatcher {
	t.Helper()
	schema, err := jsonschema.For[struct {
		Task string `json:"task"`
	}](nil)
	require.NoError(t, err)
	d := dispatch.New(nil)
	require.NoError(t, d.Register(dispatch.Action{
		Name: "mcp.stop_task", Doc: "Stops a task.", Schema: schema, Internal: true, Scope: dispatch.ScopeOperate, Handler: h,
	}))
	return d
}

var payload = jsontext.Value(`{"task":"child"}`)

func TestIdentityIsBound(t *testing.T) {
	id := dispatch.Identity{Instance: "i1", Task: "parent", Session: "s1"}
	var got []dispatch.Identity
	d := own(t, func(_ context.Context, o dispatch.Origin, p jsontext.Value) (any, error) {
		assert.Equal(t, payload, p)
		i, ok := o.Identity()
		assert.True(t, ok)
		got = append(got, i)
		return map[string]string{"state": "stopped"}, nil
	})
	s, err := NewLocal(d, id)
	require.NoError(t, err)
	defer s.Close()
	result, err := s.Dispatch(t.Context(), "mcp.stop_task", payload)
	require.NoError(t, err)
	assert.JSONEq(t, `{"state":"stopped"}`, string(result))
	assert.Equal(t, []dispatch.Identity{id}, got)

	_, err = s.Dispatch(t.Context(), "mcp.stop_task", jsontext.Value(`{"task":"child","sender_task_id":"forged"}`))
	refused := (*dispatch.Error)(nil)
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, dispatch.CodeInvalidPayload, refused.Code)
	assert.Len(t, got, 1)
}

// G04, as far as a stream goes: one without an identity is not made at all.
func TestG04NoStreamWithoutIdentity(t *testing.T) {
	d := own(t, func(context.Context, dispatch.Origin, jsontext.Value) (any, error) { return nil, nil })
	for _, id := range []dispatch.Identity{{}, {Instance: "i1"}, {Task: "t1"}, {Session: "s1"}} {
		_, err := NewLocal(d, id)
		assert.ErrorContains(t, err, "speaks for", id)
	}
	_, err := NewLocal(nil, dispatch.Identity{Instance: "i1", Task: "t1"})
	assert.ErrorContains(t, err, "no dispatcher")
	s, err := NewLocal(d, dispatch.Identity{Instance: "i1", Task: "t1"})
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Dispatch(t.Context(), "mcp.stop_task", payload)
	assert.NoError(t, err)
}

func TestClosed(t *testing.T) {
	called := 0
	s, err := NewLocal(own(t, func(context.Context, dispatch.Origin, jsontext.Value) (any, error) { called++; return nil, nil }),
		dispatch.Identity{Instance: "i1", Task: "t1"})
	require.NoError(t, err)
	s.Close()
	s.Close()
	_, err = s.Dispatch(t.Context(), "mcp.stop_task", payload)
	assert.ErrorIs(t, err, ErrClosed)
	assert.Zero(t, called)
}

// A handler that closes its own stream ends, and hears that it is over.
func TestClosedByItsHandler(t *testing.T) {
	var s *Local
	d := own(t, func(ctx context.Context, _ dispatch.Origin, _ jsontext.Value) (any, error) {
		s.Close()
		<-ctx.Done()
		return "too late", nil
	})
	s, err := NewLocal(d, dispatch.Identity{Instance: "i1", Task: "t1"})
	require.NoError(t, err)
	_, err = s.Dispatch(t.Context(), "mcp.stop_task", payload)
	assert.ErrorIs(t, err, ErrClosed)
}

func TestErrors(t *testing.T) {
	var result any
	var failure error
	s, err := NewLocal(own(t, func(context.Context, dispatch.Origin, jsontext.Value) (any, error) { return result, failure }),
		dispatch.Identity{Instance: "i1", Task: "t1"})
	require.NoError(t, err)
	defer s.Close()
	cases := []struct {
		action  string
		result  any
		failure error
		want    dispatch.Code
	}{
		{"mcp.none", nil, nil, dispatch.CodeUnknownAction},
		{"task.stop", nil, nil, dispatch.CodeForbidden},
		{"mcp.stop_task", nil, errors.New("secret"), dispatch.CodeInternal},
		{"mcp.stop_task", nil, &dispatch.Error{Code: dispatch.CodeNotFound, Message: "there is no such task"}, dispatch.CodeNotFound},
		{"mcp.stop_task", make(chan int), nil, dispatch.CodeInternal},
	}
	for _, c := range cases {
		result, failure = c.result, c.failure
		_, err := s.Dispatch(t.Context(), c.action, payload)
		refused := (*dispatch.Error)(nil)
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, c.want, refused.Code)
		assert.NotContains(t, err.Error(), "secret")
	}
}
