package pending

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
)

func TestAPersonCancels(t *testing.T) {
	s, w, other := newStore(t), &wire{}, &wire{}
	key := register(t, s, offer("i", "s", "1", w))
	same := register(t, s, offer("i", "s", "2", other))
	resolves(t, s, key, Cancel())
	got := w.last(t)
	assert.Equal(t, pipeline.Cancel, got.Verdict)
	assert.Equal(t, ReasonCancelled, got.Reason)
	assert.Equal(t, someone, got.By)
	assert.Equal(t, []Key{same}, listed(s), "nothing else of the session is touched")
	fails(t, s, key, Cancel(), Error{Code: CodeAlreadyResolved, Same: true})
	fails(t, s, key, Allow(), Error{Code: CodeAlreadyResolved})
	assert.Equal(t, "cancel", Cancel().LogValue().String())
}
