package demoagent

import (
	"context"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kandev/assent/pipeline"
)

// defaultTitle is the title of a task that was given none.
const defaultTitle = "Try the demo agent"

func createTask(t *turn, said string) {
	if said == "" {
		said = defaultTitle
	}
	t.callTool(injected, createTaskTool, map[string]any{"title": said})
}

func listTasks(t *turn, _ string) { t.callTool(injected, listTasksTool, map[string]any{}) }

// shadow only tells: which act an agent plays is decided when it is started.
func shadow(t *turn, _ string) {
	t.say("The acts are played one after the other, each by an agent of its own: assent run --demo --prompt shadow")
}

// otherTool prefers a tool that says that it only reads.
func otherTool(t *turn, said string) {
	at := slices.IndexFunc(t.session.servers, func(s *server) bool { return s.name != injected })
	if at < 0 {
		t.missing("a tool of another server", "no other server is connected")
		return
	}
	s := t.session.servers[at]
	switch {
	case s.problem != "":
		t.missing(fmt.Sprintf("a tool of %q", s.name), s.problem)
		return
	case len(s.tools) == 0:
		t.missing(fmt.Sprintf("a tool of %q", s.name), "the server has no tools")
		return
	}
	tool := s.tools[0]
	if readOnly := slices.IndexFunc(s.tools, reads); readOnly >= 0 {
		tool = s.tools[readOnly]
	}
	t.callTool(s.name, tool.Name, arguments(tool.InputSchema, said))
}

func reads(t *mcp.Tool) bool { return t.Annotations != nil && t.Annotations.ReadOnlyHint }

// callTool calls a tool of a server, if both are there.
func (t *turn) callTool(name, tool string, input map[string]any) {
	t.callToolThen(name, tool, input, func(output) {})
}

// callToolThen is callTool for a step that wants to know what came back, before the
// turn goes on. Then is not called when the tool did not run.
func (t *turn) callToolThen(name, tool string, input map[string]any, then func(output)) {
	label := clean(tool) + " of " + name
	at := slices.IndexFunc(t.session.servers, func(s *server) bool { return s.name == name })
	switch {
	case at < 0:
		t.missing(label, fmt.Sprintf("no server %q is connected", name))
		return
	case t.session.servers[at].problem != "":
		t.missing(label, t.session.servers[at].problem)
		return
	case t.session.servers[at].tool(tool) == nil:
		t.missing(label, "the server does not list it")
		return
	}
	s := t.session.servers[at]
	qualified := "mcp__" + pipeline.FlatName(name) + "__" + pipeline.FlatName(tool)
	t.perform(call{
		name: qualified, label: label, firstTitle: qualified, title: qualified, kind: "other",
		server: &mcpServer{Name: name, Source: "dynamic"}, input: input,
		run: func(ctx context.Context, id string) output {
			out := s.call(ctx, id, tool, input)
			then(out)
			return out
		},
	})
}

// missing says at once why something cannot be done.
func (t *turn) missing(what, why string) {
	t.say("I cannot call " + what + ": " + why + ".")
	t.skipped(what, why)
}

func shell(t *turn, _ string) {
	command, about := t.agent.opts.ShellCommand, "a harmless command of the demo agent"
	t.perform(call{
		name: "Bash", label: "the shell command", firstTitle: "Terminal", title: command, kind: "execute",
		input:   map[string]any{"command": command, "description": about},
		content: textContent(about),
		run:     func(ctx context.Context, _ string) output { return runShell(ctx, t.session.cwd, command) },
	})
}

// arguments fills the required members of a tool's input schema with the text,
// or with the emptiest value of their type.
func arguments(schema any, said string) map[string]any {
	if said == "" {
		said = "hello from the demo agent"
	}
	filled := map[string]any{}
	object, _ := schema.(map[string]any)
	required, _ := object["required"].([]any)
	properties, _ := object["properties"].(map[string]any)
	for _, member := range required {
		if key, ok := member.(string); ok {
			property, _ := properties[key].(map[string]any)
			filled[key] = filling(property, said)
		}
	}
	return filled
}

func filling(property map[string]any, said string) any {
	if choices, ok := property["enum"].([]any); ok && len(choices) > 0 {
		return choices[0]
	}
	types, ok := property["type"].([]any)
	if !ok {
		types = []any{property["type"]}
	}
	switch types[0] {
	case "integer", "number":
		return 1
	case "boolean":
		return false
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	return said
}
