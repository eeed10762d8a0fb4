package pending

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The id of an offer that does not wait is no other's, and answers nothing.
func TestNextID(t *testing.T) {
	s, w := newStore(t), &wire{}
	first := register(t, s, offer("i", "s", "1", w))
	id := s.NextID()
	second := register(t, s, offer("i", "s", "2", w))
	assert.Len(t, map[RequestID]bool{first.Request: true, id: true, second.Request: true}, 3)
	fails(t, s, Key{"i", "s", id}, Allow(), ErrNotFound)
	assert.Equal(t, []Key{first, second}, listed(s))
	resolves(t, s, second, Allow())
	resolves(t, s, first, Allow())
}
