// Package pipelinetest runs table tests of single stages, as httptest does for
// handlers. A test is data: rows of a request, the facts that earlier stages
// learned, and the whole decision that must come out.
//
//	pipelinetest.Run(t, deletes.Stage{}, []pipelinetest.Case{{
//		Name:    "a tool that deletes",
//		Request: pipelinetest.Request(),
//		Facts:   pipeline.Facts{Identity: pipelinetest.Tool("docs", "delete_page")},
//		Want:    pipeline.Decision{Verdict: pipeline.Pend, Reason: deletes.ReasonDeletes},
//	}})
//
// The stage runs inside a real pipeline, so that the loop polices it as it does
// in a host: what the loop would turn into a question fails the row.
package pipelinetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/kandev/assent/pipeline"
)

// Case is one row.
type Case struct {
	// Name of the row: what is special about it.
	Name string
	// Instance that the stage is made for; only [RunPerInstance] looks at it.
	Instance pipeline.Instance
	// Request to decide; nil means [Request] without edits.
	Request *pipeline.Request
	// Facts as the stages before this one learned them.
	Facts pipeline.Facts
	// Want is the whole decision, compared with ==. A row for a stage that fails
	// wants [pipeline.ReasonStageError].
	Want pipeline.Decision
}

// Run evaluates one stage, the same for every row.
func Run(t *testing.T, stage pipeline.Stage, cases []Case) {
	t.Helper()
	RunPerInstance(t, func(pipeline.Instance) (pipeline.Stage, error) { return stage, nil }, cases)
}

// RunPerInstance makes the stage of each row's instance and evaluates it. Beside
// the decision it checks what every stage owes: the same answer when it is asked
// again, and a request that is as it was.
func RunPerInstance(t *testing.T, construct func(pipeline.Instance) (pipeline.Stage, error), cases []Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Helper()
			stage, err := construct(c.Instance)
			if err != nil {
				t.Fatalf("making the stage: %v", err)
			}
			check(t, stage, c)
		})
	}
}

func check(t testing.TB, stage pipeline.Stage, c Case) {
	t.Helper()
	request := c.Request
	if request == nil {
		request = Request()
	}
	before := clone(request)
	got, err := evaluate(stage, request, c.Facts)
	if err != nil {
		t.Fatal(err)
	}
	if got.Decision != c.Want {
		t.Errorf("decision\n got: %s\nwant: %s", describe(got.Decision), describe(c.Want))
	}
	if got.Err != nil {
		t.Logf("the stage failed: %v", got.Err)
	}
	if got.Decision.Reason == "" {
		t.Errorf("the decision names no reason")
	}
	if again, _ := evaluate(stage, request, c.Facts); again.Decision != got.Decision {
		t.Errorf("asked again it decides otherwise\n first: %s\nsecond: %s", describe(got.Decision), describe(again.Decision))
	}
	if !reflect.DeepEqual(request, before) {
		t.Errorf("the stage changed the request: requests are shared and read-only")
	}
}

// given stands for all the stages before the one under test.
type given struct{ facts pipeline.Facts }

func (given) Name() pipeline.Name { return "(given)" }

func (g given) Evaluate(context.Context, pipeline.Evaluation) (pipeline.Decision, error) {
	return pipeline.Decision{Verdict: pipeline.Continue, Learned: g.facts, Reason: "given"}, nil
}

// evaluate lets the loop run the stage and gives its step in the trace.
func evaluate(stage pipeline.Stage, request *pipeline.Request, facts pipeline.Facts) (pipeline.Step, error) {
	earlier := given{facts}
	order := pipeline.Order{earlier.Name()}
	if stage != nil {
		order = append(order, stage.Name())
	}
	p, err := pipeline.New(order, []pipeline.Stage{earlier, stage})
	if err != nil {
		return pipeline.Step{}, err
	}
	return p.Decide(context.Background(), request).Trace.Steps()[1], nil
}

// clone copies everything that a stage could change through the pointer.
func clone(r *pipeline.Request) *pipeline.Request {
	c := *r
	c.Options = slices.Clone(r.Options)
	c.Session.Lists = slices.Clone(r.Session.Lists)
	for i := range c.Session.Lists {
		list := &c.Session.Lists[i]
		list.Servers = slices.Clone(list.Servers)
		for j := range list.Servers {
			list.Servers[j].Headers = slices.Clone(list.Servers[j].Headers)
		}
	}
	return &c
}

// describe prints a decision with what it learned in words.
func describe(d pipeline.Decision) string {
	text := d.Verdict.String()
	if d.Verdict == pipeline.Select {
		text += fmt.Sprintf(" option %d", d.Option)
	}
	text += fmt.Sprintf(", reason %q", d.Reason)
	if id := d.Learned.Identity; id != (pipeline.Identity{}) {
		text += fmt.Sprintf(", learned identity %s", id.State())
		if id.State() == pipeline.Named {
			text += fmt.Sprintf(" (%s of %s)", id.Tool(), id.Server())
		}
	}
	if d.Learned.Kept != "" {
		text += fmt.Sprintf(", learned kept %q", d.Learned.Kept)
	}
	if d.Learned.Injected {
		text += ", learned injected"
	}
	return text
}
