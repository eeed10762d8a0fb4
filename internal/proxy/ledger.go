package proxy

import (
	"sync"

	"github.com/kandev/assent/pipeline/acp"
)

// ledger knows the requests of the agent that the client has to answer, by the
// exact id. It never holds two of one id: an answer could be for either.
type ledger struct {
	mu   sync.Mutex
	open map[string]*asked // nil: another request than an offer
	owed map[string]int    // offers that were answered for the client
}

// maxOpen bounds the requests that wait for the client at one time, and its
// answers that are owed. Further offers are answered "cancelled".
const maxOpen = 1 << 16

func newLedger() *ledger { return &ledger{open: map[string]*asked{}, owed: map[string]int{}} }

// free says whether an offer with this id can be told apart from all others.
func (l *ledger) free(id acp.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, open := l.open[id.Key()]
	return !open && l.owed[id.Key()] == 0 && len(l.open) < maxOpen && len(l.owed) < maxOpen
}

// ask notes that the client is about to be asked; a is nil for a request that is
// no offer, or none that can be read. It never takes the place of an open offer.
func (l *ledger) ask(id acp.ID, a *asked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key := id.Key(); l.open[key] == nil && len(l.open) < maxOpen {
		l.open[key] = a
	}
}

// answer takes an answer of the client. It is relayed if the agent waits for it.
func (l *ledger) answer(id acp.ID, forOffer bool) (a *asked, relay bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := id.Key()
	a, open := l.open[key]
	if l.owed[key] > 0 && (forOffer || !open) {
		if l.owed[key]--; l.owed[key] == 0 {
			delete(l.owed, key)
		}
		return nil, false
	}
	delete(l.open, key)
	return a, open || !forOffer
}

// cancel takes the open offers of a session. The client still owes an answer to each.
func (l *ledger) cancel(session string) (cancelled []*asked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, a := range l.open {
		if a != nil && a.session == session {
			cancelled = append(cancelled, a)
			delete(l.open, key)
			l.owed[key]++
		}
	}
	return cancelled
}
