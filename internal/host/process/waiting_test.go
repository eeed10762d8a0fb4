package process

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// An offer that would hold a lot while it waits is cancelled; one with a long id
// that it can hold waits like any other.
func TestOffersThatAreTooLargeDoNotWait(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	s.turn(t, session, "offer 1 s1 "+strings.Repeat("x", maxWaiting)+"\nend")
	s.heard(t, `{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"cancelled"}}}`)
	s.none(t)
	assert.Equal(t, []string{"cancel offer_too_large"}, s.decisions())

	s.turn(t, session, "offer 2 s1 "+strings.Repeat("x", maxWaiting/2)+"\nend")
	q := s.next(t)
	assert.Equal(t, "ls", q.Action.Command)
	q.selects(t, 0)
	s.heard(t, `{"jsonrpc":"2.0","id":2,"result":{"outcome":{"outcome":"selected","optionId":"a"}}}`)
}
