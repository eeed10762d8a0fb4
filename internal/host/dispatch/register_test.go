package dispatch

import (
	stdjson "encoding/json"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decode tries both libraries for JSON; they may refuse.
func decode(text string, into any) {
	_ = stdjson.Unmarshal([]byte(text), into)
	_ = json.Unmarshal([]byte(text), into)
}

func TestRegister(t *testing.T) {
	var b book
	good := func(change func(*Action)) Action {
		a := stop(t, "task.stop", ScopeOperate, b.handler(nil, nil))
		change(&a)
		return a
	}
	cases := []struct {
		name   string
		action Action
		says   string
	}{
		{"good", good(func(*Action) {}), ""},
		{"good, internal", good(func(a *Action) { a.Name, a.Internal = "mcp.stop_task", true }), ""},
		{"good, internal, for agents alone", good(func(a *Action) { a.Name, a.Internal, a.Scope = "mcp.stop_task", true, "" }), ""},
		{"no name", good(func(a *Action) { a.Name = "" }), `action ""`},
		{"a name in capitals", good(func(a *Action) { a.Name = "Task.stop" }), "lower case"},
		{"a name with space", good(func(a *Action) { a.Name = "task.stop " }), "white space"},
		{"internal without saying so", good(func(a *Action) { a.Name = "mcp.stop_task" }), "not marked internal"},
		{"public but marked", good(func(a *Action) { a.Internal = true }), "marked internal"},
		{"no doc", good(func(a *Action) { a.Doc = "" }), "no doc"},
		{"no handler", good(func(a *Action) { a.Handler = nil }), "no handler"},
		{"public without scope", good(func(a *Action) { a.Scope = "" }), "needs no scope"},
		{"an unknown scope", good(func(a *Action) { a.Scope = "admin" }), `scope "admin"`},
		{"no schema", good(func(a *Action) { a.Schema = nil }), "its schema is missing"},
		{"the schema of a text", good(func(a *Action) { a.Schema = &jsonschema.Schema{Type: "string"} }), "not that of an object"},
		{"an open schema", good(func(a *Action) { a.Schema = &jsonschema.Schema{Type: "object"} }), "lets other properties through"},
		{"a nearly closed schema", good(func(a *Action) {
			a.Schema = &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{Type: "string"}}}
		}), "lets other properties through"},
		{"a broken schema", good(func(a *Action) { a.Schema.Pattern = "(" }), "its schema"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := New(nil)
			err := d.Register(c.action)
			if c.says != "" {
				assert.ErrorContains(t, err, c.says)
				assert.Empty(t, d.Catalog())
				return
			}
			require.NoError(t, err)
			assert.ErrorContains(t, d.Register(c.action), "registered already")
			assert.Len(t, d.Catalog(), 1)
		})
	}
}

func TestCatalog(t *testing.T) {
	var b book
	d := New(nil)
	require.NoError(t, d.Register(stop(t, "task.stop", ScopeOperate, b.handler(nil, nil))))
	require.NoError(t, d.Register(stop(t, "mcp.stop_task", ScopeOperate, b.handler(nil, nil))))
	text, err := Encode(d.Catalog())
	require.NoError(t, err)
	const schema = `{"type":"object","properties":{"task":{"type":"string"},"force":{"type":"boolean"}},"required":["task"],"additionalProperties":false}`
	assert.JSONEq(t, `[
		{"name":"mcp.stop_task","doc":"Stops a task.","scope":"operate","schema":`+schema+`,"internal":true,"note":"internal: raw clients can't dispatch this"},
		{"name":"task.stop","doc":"Stops a task.","scope":"operate","schema":`+schema+`,"internal":false}]`, string(text))
}
