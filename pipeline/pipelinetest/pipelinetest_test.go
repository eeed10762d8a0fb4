package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
)

// asks is the stage of a third party: a person answers for tools of one name.
type asks struct{ tool string }

func (asks) Name() pipeline.Name { return "asks" }

func (s asks) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	if ev.Facts.Identity.Tool() == s.tool {
		return pipeline.Decision{Verdict: pipeline.Pend, Reason: "asks"}, nil
	}
	return pipeline.Decision{Verdict: pipeline.Continue, Reason: "no_matter"}, nil
}

func TestRun(t *testing.T) {
	Run(t, asks{"delete_page"}, []Case{{
		Name:  "its tool",
		Facts: pipeline.Facts{Identity: Tool("docs", "delete_page")},
		Want:  pipeline.Decision{Verdict: pipeline.Pend, Reason: "asks"},
	}, {
		Name: "another",
		Want: pipeline.Decision{Verdict: pipeline.Continue, Reason: "no_matter"},
	}})
}

func TestRunPerInstance(t *testing.T) {
	perAgent := func(i pipeline.Instance) (pipeline.Stage, error) { return asks{string(i.Agent)}, nil }
	RunPerInstance(t, perAgent, []Case{{
		Name:     "its tool",
		Instance: Instance(),
		Facts:    pipeline.Facts{Identity: Tool("docs", string(Agent))},
		Want:     pipeline.Decision{Verdict: pipeline.Pend, Reason: "asks"},
	}})
}

// recorder takes the failures of a row instead of failing.
type recorder struct {
	testing.TB
	failures string
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures += fmt.Sprintf(format, args...) + "\n"
}
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); panic(r) }
func (r *recorder) Fatal(args ...any)                 { r.Fatalf("%s", fmt.Sprint(args...)) }

type stageFunc func(pipeline.Evaluation) (pipeline.Decision, error)

func (stageFunc) Name() pipeline.Name { return "func" }

func (f stageFunc) Evaluate(_ context.Context, ev pipeline.Evaluation) (pipeline.Decision, error) {
	return f(ev)
}

// Every way in which a row can fail is told.
func TestFailuresAreTold(t *testing.T) {
	ok := pipeline.Decision{Verdict: pipeline.Continue, Reason: "ok"}
	says := func(d pipeline.Decision) stageFunc {
		return func(pipeline.Evaluation) (pipeline.Decision, error) { return d, nil }
	}
	calls := 0
	cases := []struct {
		name  string
		stage pipeline.Stage
		row   Case
		want  string
	}{
		{"another decision", says(pipeline.Decision{Verdict: pipeline.Select, Option: 1, Reason: "x"}), Case{Want: ok},
			"got: select option 1, reason \"x\"\nwant: continue, reason \"ok\""},
		{"other facts", says(pipeline.Decision{Verdict: pipeline.Continue, Reason: "ok",
			Learned: pipeline.Facts{Identity: Tool("a", "b"), Kept: "k", Injected: true}}), Case{Want: ok},
			`got: continue, reason "ok", learned identity named (b of a), learned kept "k", learned injected`},
		{"no reason", says(pipeline.Decision{Verdict: pipeline.Continue}), Case{Want: pipeline.Decision{Verdict: pipeline.Continue}}, "names no reason"},
		{"a fact set twice", says(pipeline.Decision{Verdict: pipeline.Continue, Reason: "ok", Learned: pipeline.Facts{Injected: true}}),
			Case{Facts: pipeline.Facts{Injected: true}, Want: ok}, `got: pend, reason "fact_set_twice"`},
		{"an error", stageFunc(func(pipeline.Evaluation) (pipeline.Decision, error) { return ok, errors.New("broken") }),
			Case{Want: ok}, `got: pend, reason "stage_error"`},
		{"an impure stage", stageFunc(func(pipeline.Evaluation) (pipeline.Decision, error) {
			calls++
			return pipeline.Decision{Verdict: pipeline.Continue, Reason: pipeline.Reason(fmt.Sprint(calls))}, nil
		}), Case{Want: pipeline.Decision{Verdict: pipeline.Continue, Reason: "1"}}, "asked again it decides otherwise"},
		{"a changed request", stageFunc(func(ev pipeline.Evaluation) (pipeline.Decision, error) {
			ev.Request.Session.Lists[0].Servers[0].Name = "mine"
			return ok, nil
		}), Case{Want: ok}, "the stage changed the request"},
		{"no stage", nil, Case{}, "pipeline: stage number 2: is nil"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{TB: t}
			func() {
				defer func() { _ = recover() }()
				check(r, c.stage, c.row)
			}()
			assert.Contains(t, r.failures, c.want)
		})
	}
}

func TestRequest(t *testing.T) {
	r := Request(
		Name("Bash"), Title("curl", "execute"), CallMeta(`{"a":1}`), Options("x"),
		func(r *pipeline.Request) { r.Session.NameSeen = true },
	)
	assert.True(t, r.Call.Name.Is("Bash"))
	assert.True(t, r.Call.Title.Is("curl"))
	assert.True(t, r.Call.Kind.Is("execute"))
	assert.Equal(t, pipeline.MetaNumber, r.Call.OwnMeta.Get("a").Kind())
	assert.Equal(t, []pipeline.Option{{ID: "x", Kind: "x", Label: "label of x"}}, r.Options)
	assert.Equal(t, Injected(), r.Session.Lists[0].Servers)
	assert.True(t, r.Session.NameSeen)
}

func TestMeta(t *testing.T) {
	m := Meta(`{"s":"x","t":true,"f":false,"n":1.5,"z":null,"a":[1,{"b":2}],"o":{"k":"v"},"e":{}}`)
	for key, kind := range map[string]pipeline.MetaKind{
		"s": pipeline.MetaString, "t": pipeline.MetaTrue, "f": pipeline.MetaFalse, "n": pipeline.MetaNumber,
		"z": pipeline.MetaNull, "a": pipeline.MetaArray, "o": pipeline.MetaObject, "e": pipeline.MetaObject, "S": pipeline.MetaAbsent,
	} {
		assert.Equal(t, kind, m.Get(key).Kind(), key)
	}
	value, _ := m.Get("o").Get("k").Text()
	assert.Equal(t, "v", value)
	for _, text := range []string{"", "{", `{"a"`, `{"a":`, `[1,`, `{"a":1} 2`, "nope"} {
		assert.Panics(t, func() { Meta(text) }, text)
	}
}

func TestToolPanics(t *testing.T) {
	assert.Panics(t, func() { Tool("a__b", "c") })
}
