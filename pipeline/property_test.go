package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/kandev/assent/pipeline"
)

// anyStage draws a stage that may break every rule.
func anyStage(i int) *rapid.Generator[stage] {
	return rapid.Custom(func(t *rapid.T) stage {
		s := stage{name: pipeline.Name(fmt.Sprint("stage", i)), decision: pipeline.Decision{
			// Continue is drawn more often, so that later stages are reached.
			Verdict: pipeline.Verdict(rapid.SampledFrom([]uint8{3, 3, 3, 3, 0, 1, 2, 4, 255}).Draw(t, "verdict")),
			Option:  rapid.IntRange(-1, 3).Draw(t, "option"),
			Reason:  pipeline.Reason(rapid.SampledFrom([]string{"why", ""}).Draw(t, "reason")),
			Learned: pipeline.Facts{
				Identity: rapid.SampledFrom([]pipeline.Identity{{}, {}, named("kandev", "x"), pipeline.OtherIdentity(), pipeline.RefusedIdentity()}).Draw(t, "identity"),
				Kept:     pipeline.Reason(rapid.SampledFrom([]string{"", "", "kept"}).Draw(t, "kept")),
				Injected: rapid.SampledFrom([]bool{false, false, true}).Draw(t, "injected"),
			},
		}}
		switch rapid.IntRange(0, 19).Draw(t, "misbehaves") {
		case 0:
			s.err = errors.New("broken")
		case 1:
			s.panics = "broken"
		}
		return s
	})
}

// believable says in its own way whether a stage kept all the rules.
func believable(s stage, known pipeline.Facts) bool {
	d, none := s.decision, pipeline.Identity{}
	return s.err == nil && s.panics == nil && d.Verdict <= pipeline.Continue &&
		(d.Verdict != pipeline.Select || d.Option >= 0 && d.Option < len(offer().Options)) &&
		(d.Learned.Identity == none || known.Identity == none || d.Learned.Identity == pipeline.RefusedIdentity()) &&
		(d.Learned.Kept == "" || known.Kept == "") && !(d.Learned.Injected && known.Injected)
}

// Whatever stages do: the first one that does not continue, or cannot be
// believed, ends the decision; only a believable one ends it as it wants.
func TestDecideProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var order pipeline.Order
		var list []pipeline.Stage
		var drawn []stage
		for i := range rapid.IntRange(1, 6).Draw(t, "stages") {
			s := anyStage(i).Draw(t, "stage")
			order, list, drawn = append(order, s.name), append(list, s), append(drawn, s)
		}
		p, err := pipeline.New(order, list)
		if err != nil {
			t.Fatal(err)
		}
		got := p.Decide(context.Background(), offer())
		untraced := p.DecideUntraced(context.Background(), offer())
		if got.Decision != untraced.Decision || got.Stage != untraced.Stage || got.Facts != untraced.Facts {
			t.Fatalf("untraced it decides otherwise: %v %v", got, untraced)
		}
		compareWithOracle(t, drawn, got)
	})
}

func compareWithOracle(t *rapid.T, drawn []stage, got pipeline.Result) {
	var known pipeline.Facts
	for i, s := range drawn {
		ok := believable(s, known)
		if ok {
			known = learn(known, s.decision.Learned)
		}
		if ok && s.decision.Verdict == pipeline.Continue {
			continue
		}
		if got.Stage != s.name || got.Trace.Len() != i+1 || got.Facts != known {
			t.Fatalf("decided by %s after %d steps with %v, want %s, %d, %v", got.Stage, got.Trace.Len(), got.Facts, s.name, i+1, known)
		}
		if got.Decision.Reason == "" {
			t.Fatalf("no reason")
		}
		if ok && (got.Decision.Verdict != s.decision.Verdict || got.Decision.Option != s.decision.Option) {
			t.Fatalf("decided %v, want %v", got.Decision, s.decision)
		}
		if !ok && got.Decision.Verdict != pipeline.Pend {
			t.Fatalf("a stage that broke the rules decided %v", got.Decision)
		}
		return
	}
	if got.Stage != "" || got.Decision != (pipeline.Decision{Reason: pipeline.ReasonNothingDecided}) || got.Facts != known {
		t.Fatalf("everything continued, yet %s decided %v", got.Stage, got.Decision)
	}
}

func learn(known, learned pipeline.Facts) pipeline.Facts {
	if learned.Identity != (pipeline.Identity{}) {
		known.Identity = learned.Identity
	}
	if learned.Kept != "" {
		known.Kept = learned.Kept
	}
	known.Injected = known.Injected || learned.Injected
	return known
}
