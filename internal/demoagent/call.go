package demoagent

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// call is one tool call, before it is allowed.
type call struct {
	name       string // the programmatic name
	label      string // for the summary
	firstTitle string // before the input is known
	title      string
	kind       string
	server     *mcpServer // nil for what is no MCP tool
	input      map[string]any
	content    []callContent
	run        func(ctx context.Context, id string) output
}

// output is what a tool gave back.
type output struct {
	text   string
	raw    any // for rawOutput; nil means the text
	failed bool
}

// perform announces a call, asks, and runs the tool if that was allowed.
func (t *turn) perform(c call) {
	id := t.agent.number("toolu_demo")
	t.announce(id, c)
	if p := t.permission(id, c); !p.allowed {
		t.refused(id, c, p.why)
		return
	}
	t.updateCall(c, toolCall{ID: id, Status: statusInProgress})
	out := c.run(t.ctx, id)
	if out.raw == nil {
		out.raw = out.text
	}
	status := statusCompleted
	switch {
	case !out.failed:
		t.ran = append(t.ran, c.label)
	case t.ctx.Err() != nil:
		status = statusFailed
		t.failed = append(t.failed, c.label+" (cancelled while it ran)")
	default:
		status = statusFailed
		t.failed = append(t.failed, c.label)
	}
	t.updateCall(c, toolCall{ID: id, Status: status, RawOutput: out.raw, Content: textContent(out.text)})
}

// announce starts the call and then adds its input, as Claude does while the
// model is still writing.
func (t *turn) announce(id string, c call) {
	t.updateCall(c, toolCall{
		ID: id, Update: updateCallStart, Name: c.name, RawInput: map[string]any{}, Status: statusPending,
		Title: c.firstTitle, Kind: c.kind, Content: []callContent{},
	})
	more := toolCall{ID: id, RawInput: c.input, Content: c.content}
	if c.title != c.firstTitle {
		more.Title = c.title
	}
	t.updateCall(c, more)
}

func (t *turn) updateCall(c call, u toolCall) {
	if u.Update == "" {
		u.Update = updateCall
	}
	if u.Meta == nil {
		u.Meta = &callMeta{claudeCode{ToolName: c.name}}
	}
	t.session.update(t.agent.peer, u)
}

// refused ends a call whose tool did not run.
func (t *turn) refused(id string, c call, why string) {
	const said = "User refused permission to run tool"
	t.updateCall(c, toolCall{
		ID: id, Status: statusFailed, RawOutput: said, Content: textContent(said),
		Meta: &callMeta{claudeCode{ToolName: c.name, NonExecution: "permission-rule"}},
	})
	t.skipped(c.label, why)
}

// permission is what a client's answer means. The zero value allows nothing.
type permission struct {
	allowed, always bool
	why             string // it is not allowed
}

// options are offered for every call.
func options(c call) []option {
	return []option{
		{"allow-once", "Yes", pipeline.AllowOnce},
		{"allow-with-updates", "Yes, and don't ask again in this session: " + c.label, pipeline.AllowAlways},
		{"reject", "No", pipeline.RejectOnce},
	}
}

// permission asks the client, unless it allowed the tool for the whole session.
func (t *turn) permission(id string, c call) permission {
	switch {
	case t.ctx.Err() != nil:
		return permission{why: "the turn was cancelled"}
	case t.session.allowed[c.name]:
		return permission{allowed: true}
	}
	asked := toolCall{
		ID: id, Name: c.name, Status: statusPending, RawInput: c.input, Title: c.title, Kind: c.kind, Content: c.content,
	}
	if asked.Content == nil {
		asked.Content = []callContent{}
	}
	if c.server != nil {
		asked.Meta = &callMeta{claudeCode{ToolName: c.name, Server: c.server}}
	}
	offered := options(c)
	p := readAnswer(t.ask(permissionParams{ToolCall: asked, Options: offered, SessionID: t.session.id}), offered)
	if t.ctx.Err() != nil { // an answer that came too late allows nothing
		return permission{why: "the turn was cancelled"}
	}
	if p.always {
		t.session.allowed[c.name] = true
	}
	return p
}

// ask waits for the answer, also of a turn that is cancelled meanwhile: the
// client has to answer what is open. It does not if it withdrew the prompt;
// then the request is withdrawn as well.
func (t *turn) ask(params permissionParams) response {
	id, answer := t.agent.peer.request(acp.MethodRequestPermission, params)
	withdrawn := t.withdrawn
	for {
		select {
		case r := <-answer:
			return r
		case <-withdrawn:
			withdrawn = nil
			t.agent.peer.notify(acp.MethodCancelRequest, cancelRequestParams{RequestID: jsontext.Value(id.String())})
		case <-t.agent.ctx.Done():
			return response{}
		}
	}
}

// readAnswer allows what selects an allowing option that was offered, and
// nothing else.
func readAnswer(r response, offered []option) permission {
	var got struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	if r.result == nil || json.Unmarshal(r.result, &got) != nil {
		return permission{why: "the answer was an error, or not understood"}
	}
	switch got.Outcome.Outcome {
	case "cancelled":
		return permission{why: "cancelled"}
	case "selected":
	default:
		return permission{why: "the answer was an error, or not understood"}
	}
	for _, o := range offered {
		if o.ID != got.Outcome.OptionID {
			continue
		}
		allowed := pipeline.IsAllow(o.Kind)
		return permission{allowed: allowed, always: o.Kind == pipeline.AllowAlways, why: "rejected"}
	}
	return permission{why: "the answer selects an option that was not offered"}
}
