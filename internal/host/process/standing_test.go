package process

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/host/nets"
	"github.com/kandev/assent/pipeline/acp"
)

// A load or resume that was given up may still be done by the agent: then the list
// in force is one that nobody was seen to use.
func TestAGivenUpLoadEndsTheStandingOfItsSession(t *testing.T) {
	for name, test := range map[string]struct {
		method string
		err    error
		want   string
	}{
		"load, given up":   {acp.MethodLoad, context.Canceled, "pend injected_server_not_contacted"},
		"resume, too late": {acp.MethodResume, &TimeoutError{Method: acp.MethodResume}, "pend injected_server_not_contacted"},
		"load, refused":    {acp.MethodLoad, &RPCError{Method: acp.MethodLoad}, approvedOnce},
		"fork, given up":   {acp.MethodFork, context.Canceled, approvedOnce},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNetStage(t)
			i := n.seen(t).instance
			i.gaveUp(test.method, "unknown", test.err)
			i.gaveUp(test.method, "s1", test.err)
			n.settled(t, i, injectedOffer("1", "s1", "c1", listTool))
			assert.Equal(t, []string{test.want}, n.decisions())
		})
	}
}

// A call whose id is longer than any that is followed would end unseen.
func TestCallsWithEndlessIDsAreAsked(t *testing.T) {
	n := newNetStage(t)
	i := n.seen(t).instance
	n.settled(t, i, injectedOffer("1", "s1", strings.Repeat("c", nets.MaxFollowed), listTool), injectedOffer("2", "s1", strings.Repeat("c", nets.MaxFollowed+1), listTool))
	assert.Equal(t, []string{approvedOnce, "pend call_id_too_long"}, n.decisions())
}
