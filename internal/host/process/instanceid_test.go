package process

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The id of an instance is another one's never, and says nothing of how many there are.
func TestInstanceIDs(t *testing.T) {
	s := newStage(t, "", injected(nil))
	seen := map[InstanceID]bool{}
	for n := range 10 {
		i := &Instance{conn: &conn{}}
		require.NoError(t, s.manager.register(i))
		defer s.manager.forget(i)
		assert.Regexp(t, "^[a-z2-7]{13}$", i.ID())
		seen[i.ID()] = true
		assert.Len(t, seen, n+1)
	}
}
