package process

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// After the end of a task only what surely rejects is decided without a person.
func TestWhatIsAskedWhenATaskIsOver(t *testing.T) {
	for kind, asks := range map[string]bool{
		pipeline.AllowOnce: true, pipeline.AllowAlways: true, "proceed_always": true, "": true,
		pipeline.RejectOnce: false, pipeline.RejectAlways: false,
	} {
		o := &acp.Offer{Request: pipeline.Request{Options: []pipeline.Option{{ID: "a", Kind: kind}}}}
		decided := pipeline.Result{Stage: "blanket", Decision: pipeline.Decision{Verdict: pipeline.Select, Reason: "blanket_first_option"}}
		want := decided
		if asks {
			want.Stage, want.Decision = nets.Stage, pipeline.Decision{Verdict: pipeline.Pend, Reason: nets.ReasonTaskEnded}
		}
		assert.Equal(t, want, askWhenOver(o, decided), "%q", kind)
	}
	for _, verdict := range []pipeline.Verdict{pipeline.Cancel, pipeline.Pend} {
		decided := pipeline.Result{Decision: pipeline.Decision{Verdict: verdict}}
		assert.Equal(t, decided, askWhenOver(&acp.Offer{}, decided))
	}
}
