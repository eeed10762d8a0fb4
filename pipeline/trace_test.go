package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
)

func TestExplain(t *testing.T) {
	cases := []struct {
		name   string
		stages []stage
		want   string
	}{
		{"an approval", []stage{silent("blanket"), learns("identity", pipeline.Facts{Identity: named("kandev", "list_tasks")}), selects("option")},
			"select by option: approved (tool list_tasks of server kandev)\n" +
				"  blanket      continue  no_opinion\n" +
				"  identity     continue  learned\n" +
				"  option       select    approved\n"},
		{"a question", []stage{learns("identity", pipeline.Facts{Kept: "no_name"}), {name: "pending", decision: pipeline.Decision{Reason: "no_name"}}},
			"pend by pending: no_name\n" +
				"  identity     continue  learned\n" +
				"  pending      pend      no_name\n"},
		{"a question with an earlier reason", []stage{learns("identity", pipeline.Facts{Kept: "no_name"}), {name: "broken", err: errors.New("canary")}},
			"pend by broken: stage_error (not automatic: no_name)\n" +
				"  identity     continue  learned\n" +
				"  broken       pend      stage_error [*errors.errorString]\n"},
		{"nothing decided", []stage{silent("a")},
			"pend by no stage: nothing_decided\n" +
				"  a            continue  no_opinion\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, build(t, c.stages...).Decide(context.Background(), offer()).Explain())
		})
	}
}

func TestLogValue(t *testing.T) {
	p := build(t,
		learns("identity", pipeline.Facts{Identity: named("kandev", "list_tasks"), Kept: "why"}),
		stage{name: "broken", panics: "canary"},
	)
	assert.Equal(t,
		"level=INFO msg=decided decision.verdict=pend decision.stage=broken decision.reason=stage_panic"+
			" decision.server=kandev decision.tool=list_tasks decision.kept=why"+
			` decision.trace.identity="continue learned" decision.trace.broken="pend stage_panic [*pipeline.PanicError]"`+"\n",
		logged("decision", p.Decide(context.Background(), offer())))
	assert.Equal(t, "level=INFO msg=decided decision.verdict=pend decision.stage=\"\" decision.reason=nothing_decided\n",
		logged("decision", build(t, silent("a")).DecideUntraced(context.Background(), offer())))
}

func logged(key string, value any) string {
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})).Info("decided", key, value)
	return out.String()
}

// Whatever a request holds, the explanation and the log of its result do not.
func TestNothingOfTheRequestIsLogged(t *testing.T) {
	const canary = "canary"
	secret := pipeline.NewText(canary)
	meta := pipeline.NewMetaObject(pipeline.Member{Key: canary, Value: pipeline.MetaText(canary)})
	server := pipeline.Server{Name: canary, Type: "http", URL: canary, Command: canary, Headers: []pipeline.Header{{Name: canary, Value: canary}}}
	request := &pipeline.Request{
		SessionID: canary,
		Meta:      meta,
		Call:      pipeline.ToolCall{ID: canary, Name: secret, Title: secret, Kind: secret, Meta: meta, OwnMeta: meta},
		Options:   []pipeline.Option{{ID: canary, Kind: canary, Label: canary}},
		Session:   pipeline.Session{Lists: []pipeline.ServerList{{Servers: []pipeline.Server{server}, Authorization: canary}}},
	}
	other, reason := pipeline.NewIdentity(pipeline.ClaimName(canary))
	p := build(t, learns("identity", pipeline.Facts{Identity: other, Kept: reason}), stage{name: "broken", panics: request})
	r := p.Decide(context.Background(), request)
	assert.NotContains(t, r.Explain()+logged("r", r)+fmt.Sprint(r.Trace.Steps()[1].Err), canary)

	for name, value := range map[string]any{
		"title": secret, "meta": meta, "server": server, "list": request.Session.Lists[0], "header": server.Headers[0],
	} {
		assert.NotContains(t, logged("value", value), canary, name)
	}
}
