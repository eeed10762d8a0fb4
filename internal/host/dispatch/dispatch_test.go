package dispatch

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
)

// Who may dispatch what. An empty code means that the handler is reached.
// dispatcher makes one with actions of each kind, whose handler is the book's.
func (b *book) dispatcher(t *testing.T) *Dispatcher {
	t.Helper()
	d := New(nil)
	for name, scope := range map[string]Scope{"mcp.stop_task": ScopeOperate, "task.stop": ScopeOperate, "mcp.answer": ScopeAnswer, "mcp.step_complete": ""} {
		require.NoError(t, d.Register(stop(t, name, scope, b.handler("done", nil))))
	}
	return d
}

func TestOrigins(t *testing.T) {
	agent := FromAgentStream(Identity{Instance: "i1", Task: "t1", Session: "s1"})
	external := FromExternalMCP(Person{Name: "laptop", Scopes: everything})
	process := FromProcess("webhook")
	raw := FromRawClient(Person{Name: "phone", Scopes: everything, Surface: "page"})
	viewer := Person{Name: "wall", Scopes: Scopes{ScopeView}}
	cases := []struct {
		name   string
		origin Origin
		action string
		want   Code
	}{
		{"an agent stream, internal", agent, "mcp.stop_task", ""},
		{"the external server, internal", external, "mcp.stop_task", ""},
		{"the process, internal", process, "mcp.stop_task", ""},
		{"a raw client, internal", raw, "mcp.stop_task", CodeForbidden},
		{"a raw client, internal and unknown", raw, "mcp.none", CodeForbidden},
		{"a raw client, spelt otherwise", raw, "MCP.stop_task", CodeForbidden},
		{"an agent stream, public", agent, "task.stop", CodeForbidden},
		{"the external server, public", external, "task.stop", CodeForbidden},
		{"the process, public", process, "task.stop", ""},
		{"a raw client, public", raw, "task.stop", ""},
		{"a raw client, unknown", raw, "task.none", CodeUnknownAction},
		{"an agent stream, unknown", agent, "mcp.none", CodeUnknownAction},
		{"a raw client without the scope", FromRawClient(viewer), "task.stop", CodeForbidden},
		{"the external server without the scope", FromExternalMCP(viewer), "mcp.stop_task", CodeForbidden},
		{"an agent stream, what people answer", agent, "mcp.answer", CodeForbidden},
		{"the external server, what people answer", external, "mcp.answer", ""},
		{"the external server, what agents alone do", external, "mcp.step_complete", CodeForbidden},
		{"an agent stream, what agents alone do", agent, "mcp.step_complete", ""},
		{"nobody", Origin{}, "task.stop", CodeForbidden},
		{"nobody, internal", Origin{}, "mcp.stop_task", CodeForbidden},
		{"a kind that does not exist", Origin{kind: RawClient + 1, person: viewer}, "task.stop", CodeForbidden},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got book
			result, err := got.dispatcher(t).Dispatch(t.Context(), c.origin, c.action, jsontext.Value(`{"task":"t2"}`))
			if c.want != "" {
				assert.Equal(t, c.want, code(t, err))
				assert.Empty(t, got.calls)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "done", result)
			assert.Equal(t, []call{{c.origin, `{"task":"t2"}`}}, got.calls, "with the identity that the adapter has set")
		})
	}
}

func TestPayloads(t *testing.T) {
	cases := []struct{ name, payload, says string }{
		{"fits", `{"task":"t1"}`, ""},
		{"fits, with everything", `{ "force" : true, "task" : "\u0074" }`, ""},
		{"missing", ``, `"task" is missing`},
		{"null", `null`, "not an object"},
		{"an array", `[{"task":"t1"}]`, "not an object"},
		{"a text", `"task"`, "not an object"},
		{"an identity that is not its own", `{"task":"t1","sender_task_id":"forged"}`, "a property is there that the action does not have: it has force, task"},
		{"another case", `{"Task":"t1"}`, `"task" is missing; a property is there`},
		{"twice", `{"task":"t1","task":"t2"}`, "not strict JSON"},
		{"twice, below", `{"task":{"a":1,"a":2}}`, "not strict JSON"},
		{"twice, by escapes", `{"task":"t1","t\u0061sk":"t2"}`, "not strict JSON"},
		{"no UTF-8", "{\"task\":\"\xff\"}", "not strict JSON"},
		{"a lone surrogate", `{"task":"\ud800"}`, "not strict JSON"},
		{"another type", `{"task":7,"force":"yes"}`, `"force" does not fit; "task" does not fit`},
		{"cut off", `{"task":"t1"`, "not strict JSON"},
		{"followed by more", `{"task":"t1"} {}`, "not strict JSON"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got book
			d := New(nil)
			require.NoError(t, d.Register(stop(t, "task.stop", ScopeOperate, got.handler(nil, nil))))
			_, err := d.Dispatch(t.Context(), FromProcess("test"), "task.stop", jsontext.Value(c.payload))
			if c.says == "" {
				require.NoError(t, err)
				assert.Len(t, got.calls, 1)
				return
			}
			assert.Equal(t, CodeInvalidPayload, code(t, err))
			assert.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), "forged")
			assert.Empty(t, got.calls)
		})
	}
}

type keyError struct{ text string }

func (e keyError) Error() string { return e.text }

func TestErrorsOfHandlers(t *testing.T) {
	const secret = "hunter2"
	cases := []struct {
		name    string
		handler Handler
		want    Code
		logged  string
	}{
		{"its own", func(context.Context, Origin, jsontext.Value) (any, error) {
			return nil, fmt.Errorf("wrapped: %w", &Error{CodeStale, "it is over"})
		}, CodeStale, ""},
		{"unknown", func(context.Context, Origin, jsontext.Value) (any, error) {
			return nil, fmt.Errorf("no %w", keyError{secret})
		}, CodeInternal, "*fmt.wrapError dispatch.keyError"},
		{"given up", func(context.Context, Origin, jsontext.Value) (any, error) {
			return nil, context.DeadlineExceeded
		}, CodeUnavailable, ""},
		{"a panic", func(context.Context, Origin, jsontext.Value) (any, error) {
			panic(secret)
		}, CodeInternal, "value=string"},
		{"a panic with an error", func(context.Context, Origin, jsontext.Value) (any, error) {
			panic(errors.New(secret))
		}, CodeInternal, "value=*errors.errorString"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var log testlog.Buffer
			d := New(log.Logger())
			require.NoError(t, d.Register(stop(t, "task.stop", ScopeOperate, c.handler)))
			_, err := d.Dispatch(t.Context(), FromProcess("test"), "task.stop", jsontext.Value(`{"task":"`+secret+`"}`))
			assert.Equal(t, c.want, code(t, err))
			assert.NotContains(t, err.Error()+log.String(), secret)
			if c.logged == "" {
				assert.Empty(t, log.String())
				return
			}
			assert.Contains(t, log.String(), c.logged)
			assert.Contains(t, log.String(), "task.stop")
		})
	}
}

// Nothing but the constructors makes an origin: it has no field that a decoder sees.
func TestOriginIsNotDecoded(t *testing.T) {
	var o Origin
	o2 := FromRawClient(Person{Name: "phone"})
	for _, text := range []string{`{"kind":3}`, `{"Kind":3,"Person":{"Name":"x"}}`, `{"kind":"in_process"}`} {
		decode(text, &o)
		decode(text, &o2)
	}
	assert.Equal(t, Origin{}, o)
	assert.Equal(t, FromRawClient(Person{Name: "phone"}), o2)
}

func TestWhatAnOriginSays(t *testing.T) {
	id, person := Identity{Instance: "i", Task: "t"}, Person{Name: "p", Scopes: everything}
	cases := []struct {
		origin    Origin
		kind      string
		identity  *Identity
		person    *Person
		component string
	}{
		{Origin{}, "nowhere", nil, nil, ""},
		{FromAgentStream(id), "agent_stream", &id, nil, ""},
		{FromExternalMCP(person), "external_mcp", nil, &person, ""},
		{FromRawClient(person), "raw_client", nil, &person, ""},
		{FromProcess("webhook"), "in_process", nil, nil, "webhook"},
	}
	for _, c := range cases {
		assert.Equal(t, c.kind, c.origin.Kind().String())
		gotID, isID := c.origin.Identity()
		assert.Equal(t, c.identity != nil, isID)
		if isID {
			assert.Equal(t, *c.identity, gotID)
		}
		gotPerson, isPerson := c.origin.Person()
		assert.Equal(t, c.person != nil, isPerson)
		if isPerson {
			assert.Equal(t, *c.person, gotPerson)
		} else {
			assert.Zero(t, gotPerson)
		}
		component, isComponent := c.origin.Component()
		assert.Equal(t, c.component != "", isComponent)
		assert.Equal(t, c.component, component)
	}
}
