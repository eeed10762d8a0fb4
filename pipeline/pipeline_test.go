package pipeline_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
)

// build makes a pipeline of the stages in the order in which they are given.
func build(t testing.TB, stages ...stage) *pipeline.Pipeline {
	t.Helper()
	var order pipeline.Order
	var list []pipeline.Stage
	for _, s := range stages {
		order, list = append(order, s.name), append(list, s)
	}
	p, err := pipeline.New(order, list)
	require.NoError(t, err)
	return p
}

// policed is a pipeline, what comes out of it and who decided.
type policed struct {
	name   string
	stages []stage
	want   pipeline.Decision
	by     pipeline.Name
}

func pend(r pipeline.Reason) pipeline.Decision { return pipeline.Decision{Reason: r} }

func TestDecidePolicesDecisions(t *testing.T) {
	misfit := func(d pipeline.Decision) []stage {
		return []stage{{name: "misfit", decision: d}, selects("approver")}
	}
	runPoliced(t, []policed{
		{"a stage decides", misfit(pipeline.Decision{Verdict: pipeline.Select, Option: 1, Reason: "why"}),
			pipeline.Decision{Verdict: pipeline.Select, Option: 1, Reason: "why"}, "misfit"},
		{"a stage asks", misfit(pipeline.Decision{Verdict: pipeline.Pend, Reason: "why"}), pend("why"), "misfit"},
		{"a stage cancels", misfit(pipeline.Decision{Verdict: pipeline.Cancel, Reason: "why"}),
			pipeline.Decision{Verdict: pipeline.Cancel, Reason: "why"}, "misfit"},
		{"a stage continues", []stage{silent("first"), selects("second")},
			pipeline.Decision{Verdict: pipeline.Select, Reason: "approved"}, "second"},
		{"every stage continues", []stage{silent("first"), silent("second")}, pend(pipeline.ReasonNothingDecided), ""},
		{"an empty decision", misfit(pipeline.Decision{}), pend(pipeline.ReasonUnnamed), "misfit"},
		{"a selection without a reason", misfit(pipeline.Decision{Verdict: pipeline.Select}),
			pipeline.Decision{Verdict: pipeline.Select, Reason: pipeline.ReasonUnnamed}, "misfit"},
		{"an unknown verdict", misfit(pipeline.Decision{Verdict: 99, Reason: "why"}), pend(pipeline.ReasonUnknownVerdict), "misfit"},
		{"an index behind the offer", misfit(pipeline.Decision{Verdict: pipeline.Select, Option: 2, Reason: "why"}),
			pend(pipeline.ReasonOptionNotOffered), "misfit"},
		{"an index before the offer", misfit(pipeline.Decision{Verdict: pipeline.Select, Option: -1, Reason: "why"}),
			pend(pipeline.ReasonOptionNotOffered), "misfit"},
		{"an error", []stage{{name: "misfit", err: errors.New("broken"), decision: selects("").decision}, selects("approver")},
			pend(pipeline.ReasonStageError), "misfit"},
		{"a panic", []stage{{name: "misfit", panics: "broken"}, selects("approver")}, pend(pipeline.ReasonStagePanic), "misfit"},
	})
}

func TestDecidePolicesFacts(t *testing.T) {
	kandev := named("kandev", "list_tasks")
	refused := pipeline.RefusedIdentity()
	runPoliced(t, []policed{
		{"an identity twice", []stage{
			learns("first", pipeline.Facts{Identity: kandev}),
			learns("misfit", pipeline.Facts{Identity: kandev}), selects("approver")},
			pend(pipeline.ReasonFactSetTwice), "misfit"},
		{"an identity after a refused one", []stage{
			learns("first", pipeline.Facts{Identity: refused}),
			learns("misfit", pipeline.Facts{Identity: kandev}), selects("approver")},
			pend(pipeline.ReasonFactSetTwice), "misfit"},
		{"an identity refused after it was known: trust may be taken away", []stage{
			learns("first", pipeline.Facts{Identity: kandev}),
			learns("misfit", pipeline.Facts{Identity: refused}), selects("approver")},
			pipeline.Decision{Verdict: pipeline.Select, Reason: "approved"}, "approver"},
		{"a kept reason twice", []stage{
			learns("first", pipeline.Facts{Kept: "a"}),
			learns("misfit", pipeline.Facts{Kept: "b"}), selects("approver")},
			pend(pipeline.ReasonFactSetTwice), "misfit"},
		{"injected twice", []stage{
			learns("first", pipeline.Facts{Injected: true}),
			learns("misfit", pipeline.Facts{Injected: true}), selects("approver")},
			pend(pipeline.ReasonFactSetTwice), "misfit"},
		{"a fact set twice by a stage that approves", []stage{
			learns("first", pipeline.Facts{Injected: true}),
			{name: "misfit", decision: pipeline.Decision{Verdict: pipeline.Select, Learned: pipeline.Facts{Injected: true}, Reason: "why"}}},
			pend(pipeline.ReasonFactSetTwice), "misfit"},
	})
}

func runPoliced(t *testing.T, cases []policed) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := build(t, c.stages...)
			traced := p.Decide(context.Background(), offer())
			assert.Equal(t, c.want, traced.Decision)
			assert.Equal(t, c.by, traced.Stage)

			untraced := p.DecideUntraced(context.Background(), offer())
			assert.Zero(t, untraced.Trace)
			traced.Trace = pipeline.Trace{}
			assert.Equal(t, traced, untraced)
		})
	}
}

func TestDecideMergesFacts(t *testing.T) {
	p := build(t,
		learns("a", pipeline.Facts{Identity: named("kandev", "x")}),
		learns("b", pipeline.Facts{Kept: "kept"}),
		learns("c", pipeline.Facts{Injected: true}),
		selects("d"),
	)
	want := pipeline.Facts{Identity: named("kandev", "x"), Kept: "kept", Injected: true}
	assert.Equal(t, want, p.Decide(context.Background(), offer()).Facts)
}

// What a stage learned does not count when its decision cannot be believed.
func TestDecideDropsFactsOfMisfits(t *testing.T) {
	facts := pipeline.Facts{Injected: true}
	for name, s := range map[string]stage{
		"unknown verdict":    {name: "s", decision: pipeline.Decision{Verdict: 99, Learned: facts}},
		"option not offered": {name: "s", decision: pipeline.Decision{Verdict: pipeline.Select, Option: 7, Learned: facts}},
		"error":              {name: "s", decision: pipeline.Decision{Learned: facts}, err: errors.New("broken")},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, pipeline.Facts{}, build(t, s).Decide(context.Background(), offer()).Facts)
		})
	}
}

// All that a stage learned counts, or nothing: not the half before the conflict.
func TestDecideMergesAllOrNothing(t *testing.T) {
	p := build(t,
		learns("first", pipeline.Facts{Kept: "kept"}),
		learns("misfit", pipeline.Facts{Identity: named("kandev", "x"), Kept: "again", Injected: true}),
	)
	assert.Equal(t, pipeline.Facts{Kept: "kept"}, p.Decide(context.Background(), offer()).Facts)
}

// The stages before the deciding one ran, in order, and none after it.
func TestDecideStopsAtTheDecision(t *testing.T) {
	var called []pipeline.Name
	a, b, c := silent("a"), selects("b"), selects("c")
	a.called, b.called, c.called = &called, &called, &called
	r := build(t, a, b, c).Decide(context.Background(), offer())
	assert.Equal(t, []pipeline.Name{"a", "b"}, called)
	assert.Equal(t, []pipeline.Step{{Stage: "a", Decision: a.decision}, {Stage: "b", Decision: b.decision}}, r.Trace.Steps())
}

func TestDecideWithoutRequest(t *testing.T) {
	want := pipeline.Result{Decision: pipeline.Decision{Reason: pipeline.ReasonNoRequest}}
	assert.Equal(t, want, build(t, selects("s")).Decide(context.Background(), nil))
}

func TestZeroPipelineAsks(t *testing.T) {
	var p pipeline.Pipeline
	r := p.DecideUntraced(context.Background(), offer())
	assert.Equal(t, pipeline.Decision{Reason: pipeline.ReasonNothingDecided}, r.Decision)
	assert.Empty(t, p.Order())
}

func TestPanicErrorKeepsNoValue(t *testing.T) {
	p := build(t, stage{name: "fragile", panics: "canary from the request"})
	r := p.Decide(context.Background(), offer())
	var panicked *pipeline.PanicError
	require.ErrorAs(t, r.Trace.Steps()[0].Err, &panicked)
	assert.Equal(t, pipeline.Name("fragile"), panicked.Stage)
	assert.Equal(t, `pipeline: stage "fragile" panicked`, panicked.Error())
	assert.Contains(t, string(panicked.Stack), "helpers_test.go")
	assert.NotContains(t, panicked.Error()+string(panicked.Stack), "canary")
}

func TestOrder(t *testing.T) {
	p := build(t, silent("b"), silent("a"))
	assert.Equal(t, pipeline.Order{"b", "a"}, p.Order())
}

// nilled is a stage that a nil pointer cannot be: its Name reads a field.
type nilled struct{ stage }

func TestNewRefuses(t *testing.T) {
	a, b := pipeline.Stage(silent("a")), pipeline.Stage(silent("b"))
	cases := []struct {
		name   string
		order  pipeline.Order
		stages []pipeline.Stage
		want   string
	}{
		{"nil", pipeline.Order{"a"}, []pipeline.Stage{a, nil}, "pipeline: stage number 2: is nil"},
		{"a nil pointer", pipeline.Order{"a"}, []pipeline.Stage{(*nilled)(nil), a}, "pipeline: stage number 1: is nil"},
		{"nameless", pipeline.Order{"a"}, []pipeline.Stage{a, silent("")}, "pipeline: stage number 2: has no name"},
		{"duplicate", pipeline.Order{"a"}, []pipeline.Stage{a, a}, `pipeline: stage "a" is registered twice`},
		{"two places", pipeline.Order{"a", "b", "a"}, []pipeline.Stage{a, b}, `pipeline: stage "a" has two places in the order`},
		{"missing", pipeline.Order{"a", "b"}, []pipeline.Stage{a}, `pipeline: stage "b" has a place in the order but is not registered`},
		{"unplaced", pipeline.Order{"a"}, []pipeline.Stage{a, b}, `pipeline: stage "b" is registered but has no place in the order`},
		{"nothing", nil, nil, "pipeline: the order is empty"},
		{"all at once", pipeline.Order{"c"}, []pipeline.Stage{a, nil},
			"pipeline: stage number 2: is nil\n" +
				`pipeline: stage "c" has a place in the order but is not registered` + "\n" +
				`pipeline: stage "a" is registered but has no place in the order`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := pipeline.New(c.order, c.stages)
			assert.EqualError(t, err, c.want)
			assert.Nil(t, p)
		})
	}
}

// renamed gives another name each time; the pipeline keeps the first one.
type renamed struct {
	stage
	names []pipeline.Name
}

func (r *renamed) Name() pipeline.Name {
	name := r.names[0]
	if len(r.names) > 1 {
		r.names = r.names[1:]
	}
	return name
}

func TestStageKeepsThePlacedName(t *testing.T) {
	s := &renamed{selects(""), []pipeline.Name{"placed", "placed", "later"}}
	p, err := pipeline.New(pipeline.Order{"placed"}, []pipeline.Stage{s})
	require.NoError(t, err)
	assert.Equal(t, pipeline.Name("placed"), p.Decide(context.Background(), offer()).Stage)
}

func TestDecideAllocations(t *testing.T) {
	p := build(t, silent("a"), learns("b", pipeline.Facts{Identity: named("kandev", "x")}), selects("c"))
	request, ctx := offer(), context.Background()
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.DecideUntraced(ctx, request) }))
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { p.Decide(ctx, request) }), 1.0)
}
