package stages_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/ratio"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
)

// BenchmarkRatio measures the six stages against one plain function of the same
// rule, on the path that selects.
func BenchmarkRatio(b *testing.B) {
	instance := pipeline.Instance{Agent: "claude-acp", Port: 41001, Injected: true}
	set, err := dialects.Index(dialects.All())
	require.NoError(b, err)
	factory, err := stages.NewPipelineFactory(stages.DefaultOrder(), stages.Builtin(set))
	require.NoError(b, err)
	p, err := factory(instance)
	require.NoError(b, err)

	ctx := context.Background()
	req := benchRequest()
	plain := newPlain(instance)
	require.Equal(b, pipeline.Select, p.Decide(ctx, req).Decision.Verdict)
	verdict, option := plain.decide(req)
	require.Equal(b, pipeline.Select, verdict)
	require.Equal(b, p.Decide(ctx, req).Decision.Option, option)

	untraced := func(n int) {
		for range n {
			sink = p.DecideUntraced(ctx, req).Decision
		}
	}
	traced := func(n int) {
		for range n {
			result := p.Decide(ctx, req)
			sink, sinkTrace = result.Decision, result.Trace
		}
	}
	reference := func(n int) {
		for range n {
			sink.Verdict, sink.Option = plain.decide(req)
		}
	}
	ratio.Run(b,
		ratio.Figure{Name: "decide-untraced/plain-function", Limit: 4, Subject: untraced, Reference: reference},
		ratio.Figure{Name: "decide-traced/plain-function", Limit: 6, Subject: traced, Reference: reference},
	)
	count, _ := ratio.Allocations(untraced)
	ratio.Value(b, "decide-untraced-allocations", count, 0)
	count, _ = ratio.Allocations(traced)
	ratio.Value(b, "decide-traced-allocations", count, 1)
	count, _ = ratio.Allocations(func(n int) {
		for range n {
			sinkServer, sinkTool, _ = pipeline.ParseQualifiedName("mcp__kandev__create_task_plan_kandev")
		}
	})
	ratio.Value(b, "name-parser-allocations", count, 0)
}

var (
	sink                 pipeline.Decision
	sinkTrace            pipeline.Trace
	sinkServer, sinkTool string
)

// benchRequest has the shape of claude-agent-acp 0.101.0.
func benchRequest() *pipeline.Request {
	meta := pipeline.NewMetaObject(pipeline.Member{Key: "claudeCode", Value: pipeline.NewMetaObject(
		pipeline.Member{Key: "toolName", Value: pipeline.MetaText("mcp__kandev__list_tasks")},
		pipeline.Member{Key: "mcpServer", Value: pipeline.NewMetaObject(
			pipeline.Member{Key: "name", Value: pipeline.MetaText("kandev")},
			pipeline.Member{Key: "source", Value: pipeline.MetaText("dynamic")})},
	)})
	return &pipeline.Request{
		SessionID: "s-1",
		Call: pipeline.ToolCall{
			ID: "c-1", Name: pipeline.NewText("mcp__kandev__list_tasks"), Title: pipeline.NewText("mcp__kandev__list_tasks"),
			Kind: pipeline.NewText("other"), Meta: meta, OwnMeta: meta,
		},
		Options: []pipeline.Option{
			{ID: "allow-once", Kind: pipeline.AllowOnce}, {ID: "allow-with-updates", Kind: pipeline.AllowAlways}, {ID: "reject", Kind: pipeline.RejectOnce},
		},
		Session: pipeline.Session{Announced: true, Lists: []pipeline.ServerList{{
			Servers: []pipeline.Server{
				{Name: "docs", Type: "stdio", Command: "docs-mcp", Args: 1},
				{Name: "kandev", Type: "http", URL: "http://localhost:41001/mcp", Headers: []pipeline.Header{{Name: "Authorization", Value: "Bearer 0123456789abcdef0123456789abcdef"}}},
			},
			Authorization: "Bearer 0123456789abcdef0123456789abcdef",
		}}},
	}
}

// plain is the reference: the whole rule for claude-acp in one function, as
// somebody would write it who needs no stages, no reasons and no trace.
type plain struct {
	auto, injected bool
	http, sse      string
}

func newPlain(i pipeline.Instance) plain {
	base := "http://localhost:" + strconv.Itoa(i.Port)
	return plain{auto: i.AutoApprove, injected: i.Injected && i.Port > 0, http: base + "/mcp", sse: base + "/sse"}
}

func (p plain) decide(req *pipeline.Request) (pipeline.Verdict, int) {
	if p.auto {
		for i := range req.Options {
			if pipeline.IsAllow(req.Options[i].Kind) {
				return pipeline.Select, i
			}
		}
		return pipeline.Select, 0
	}
	server, tool, ok := p.identify(&req.Call)
	if !ok || server != "kandev" || !p.injected || tool == "resolve_agent_permission_kandev" || tool == "list_pending_agent_permissions_kandev" {
		return pipeline.Pend, 0
	}
	if !p.proven(&req.Session) {
		return pipeline.Pend, 0
	}
	once, always := -1, -1
	for i := range req.Options {
		o := &req.Options[i]
		if o.ID == "" {
			return pipeline.Pend, 0
		}
		for j := range i {
			if req.Options[j].ID == o.ID {
				return pipeline.Pend, 0
			}
		}
		switch o.Kind {
		case pipeline.AllowOnce:
			if once >= 0 {
				return pipeline.Pend, 0
			}
			once = i
		case pipeline.AllowAlways:
			always = i
		}
	}
	if once >= 0 {
		return pipeline.Select, once
	}
	return pipeline.Select, always
}

func (p plain) identify(call *pipeline.ToolCall) (server, tool string, ok bool) {
	name, given := call.Name.Value()
	if call.Contradictory || call.OtherSubject || !given {
		return "", "", false
	}
	server, tool, reason := pipeline.ParseQualifiedName(name)
	if reason != pipeline.ReasonQualified {
		return "", "", false
	}
	if call.Meta.Given() && call.Meta.Kind() != pipeline.MetaObject {
		return "", "", false
	}
	claude := call.Meta.Get("claudeCode")
	if kind := claude.Kind(); kind != pipeline.MetaAbsent && kind != pipeline.MetaObject {
		return "", "", false
	}
	toolName := claude.Get("toolName")
	if claimed, is := toolName.Text(); toolName.Kind() != pipeline.MetaAbsent && (!is || claimed != name) {
		return "", "", false
	}
	if serving := claude.Get("mcpServer"); serving.Kind() != pipeline.MetaAbsent {
		by, _ := serving.Get("name").Text()
		source, _ := serving.Get("source").Text()
		if by != server || source != "dynamic" {
			return "", "", false
		}
	}
	return server, tool, true
}

func (p plain) proven(session *pipeline.Session) bool {
	if session.StartupAlarm || session.Untrusted || session.Unsettled || len(session.Lists) == 0 {
		return false
	}
	for i := range session.Lists {
		list, found := &session.Lists[i], false
		for j := range list.Servers {
			s := &list.Servers[j]
			if !sameReserved(s.Name) {
				continue
			}
			exact := s.Name == "kandev" && (s.Type == "http" && s.URL == p.http || s.Type == "sse" && s.URL == p.sse)
			if !exact || s.Malformed || s.Command != "" || s.Args > 0 || s.Env > 0 || len(s.Headers) != 1 || s.Headers[0].Value != list.Authorization || s.Headers[0].Name != "Authorization" {
				return false
			}
			found = true
		}
		if !found {
			return false
		}
	}
	return true
}

func sameReserved(name string) bool {
	if len(name) != len("kandev") {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != "kandev"[i] && c != '_' {
			return false
		}
	}
	return true
}
