package pipelinetest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/kandev/assent/pipeline"
)

// Port is the port of the injected server of [Instance] and [Request].
const Port = 41001

// Agent is the configured agent id of [Instance]. It has no dialect.
const Agent pipeline.Agent = "test-acp"

// Instance is an agent instance into which the host injected its server.
func Instance() pipeline.Instance {
	return pipeline.Instance{Agent: Agent, Port: Port, Injected: true}
}

// Edit changes a request while it is built. Any function literal will do; the
// ones below are for what tests need most.
type Edit func(*pipeline.Request)

// Request is an ordinary offer in an announced session that was given the
// injected server of [Instance]: a tool call that nothing names, and the options
// allow_once, allow_always and reject_once. The edits are applied in order.
func Request(edits ...Edit) *pipeline.Request {
	r := &pipeline.Request{
		SessionID: "session-1",
		Call:      pipeline.ToolCall{ID: "call-1"},
		Session:   pipeline.Session{Announced: true},
	}
	Options(pipeline.AllowOnce, pipeline.AllowAlways, pipeline.RejectOnce)(r)
	Servers(Injected()...)(r)
	for _, edit := range edits {
		edit(r)
	}
	return r
}

// Name gives the tool call a programmatic name.
func Name(name string) Edit {
	return func(r *pipeline.Request) { r.Call.Name = pipeline.NewText(name) }
}

// Title gives the tool call a display text and a kind.
func Title(title, kind string) Edit {
	return func(r *pipeline.Request) {
		r.Call.Title, r.Call.Kind = pipeline.NewText(title), pipeline.NewText(kind)
	}
}

// CallMeta gives the tool call a _meta, written as JSON. It counts as the one of
// the request's own frame.
func CallMeta(text string) Edit {
	return func(r *pipeline.Request) {
		r.Call.Meta = Meta(text)
		r.Call.OwnMeta = r.Call.Meta
	}
}

// Options offers one option of each kind. The id of an option is its kind.
func Options(kinds ...string) Edit {
	return func(r *pipeline.Request) {
		r.Options = make([]pipeline.Option, 0, len(kinds))
		for _, kind := range kinds {
			r.Options = append(r.Options, pipeline.Option{ID: kind, Kind: kind, Label: "label of " + kind})
		}
	}
}

// Servers gives the session one server list.
func Servers(servers ...pipeline.Server) Edit {
	return func(r *pipeline.Request) { r.Session.Lists = []pipeline.ServerList{{Servers: servers}} }
}

// Injected lists the entries of the injected server of [Instance], without headers.
func Injected() []pipeline.Server {
	base := fmt.Sprintf("http://localhost:%d", Port)
	return []pipeline.Server{
		{Name: pipeline.DefaultReservedName, Type: "http", URL: base + "/mcp"},
		{Name: pipeline.DefaultReservedName, Type: "sse", URL: base + "/sse"},
	}
}

// Tool is the identity of a tool of a server. It panics when the two are no
// unambiguous name.
func Tool(server, tool string) pipeline.Identity {
	id, reason := pipeline.NewIdentity(pipeline.ClaimTool(server, tool))
	if id.State() != pipeline.Named {
		panic(fmt.Sprintf("pipelinetest: server %q and tool %q: %s", server, tool, reason))
	}
	return id
}

// Meta is metadata written as JSON. It panics when the text is no JSON value.
func Meta(text string) pipeline.Meta {
	dec := json.NewDecoder(strings.NewReader(text))
	m, err := meta(dec)
	if err == nil {
		if _, err = dec.Token(); err == io.EOF {
			return m
		}
	}
	panic(fmt.Sprintf("pipelinetest: %q is not one JSON value: %v", text, err))
}

// meta reads tokens instead of decoding into a map, so that members stay in order.
func meta(dec *json.Decoder) (pipeline.Meta, error) {
	token, err := dec.Token()
	if err != nil {
		return pipeline.Meta{}, err
	}
	switch v := token.(type) {
	case nil:
		return pipeline.MetaOf(pipeline.MetaNull), nil
	case string:
		return pipeline.MetaText(v), nil
	case bool:
		if v {
			return pipeline.MetaOf(pipeline.MetaTrue), nil
		}
		return pipeline.MetaOf(pipeline.MetaFalse), nil
	case float64:
		return pipeline.MetaOf(pipeline.MetaNumber), nil
	}
	return composite(dec, token == json.Delim('{'))
}

func composite(dec *json.Decoder, object bool) (pipeline.Meta, error) {
	var members []pipeline.Member
	for dec.More() {
		var key string
		if object {
			token, err := dec.Token()
			if err != nil {
				return pipeline.Meta{}, err
			}
			key, _ = token.(string)
		}
		value, err := meta(dec)
		if err != nil {
			return pipeline.Meta{}, err
		}
		members = append(members, pipeline.Member{Key: key, Value: value})
	}
	if _, err := dec.Token(); err != nil {
		return pipeline.Meta{}, err
	}
	if !object {
		return pipeline.MetaOf(pipeline.MetaArray), nil
	}
	return pipeline.NewMetaObject(members...), nil
}
