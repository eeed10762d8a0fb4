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
	// Offers that have had their answer, until the id is used again: the latest
	// ones, and those before.
	settled, earlier map[string]struct{}
}

// Bounds of what is remembered of settled offers: how many, twice over, and how long
// their ids are in bytes. Real ids have some forty.
const (
	maxSettled   = 2048
	maxSettledID = 512
)

// maxOpen bounds the requests that wait for the client at one time, and its
// answers that are owed. Further offers are answered "cancelled".
const maxOpen = 1 << 16

func newLedger() *ledger {
	return &ledger{open: map[string]*asked{}, owed: map[string]int{}, settled: map[string]struct{}{}}
}

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
	key := id.Key()
	delete(l.settled, key)
	delete(l.earlier, key)
	if l.open[key] == nil && len(l.open) < maxOpen {
		l.open[key] = a
	}
}

// settle notes that an offer was answered without the client.
func (l *ledger) settle(id acp.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.open[id.Key()]; !open {
		l.settleKey(id.Key())
	}
}

// settleKey notes that an offer has its answer: another one is nobody's.
func (l *ledger) settleKey(key string) {
	if len(key) > maxSettledID {
		return
	}
	if len(l.settled) >= maxSettled {
		l.settled, l.earlier = map[string]struct{}{}, l.settled
	}
	l.settled[key] = struct{}{}
}

// isSettled says whether the latest request with an id was an offer and has its
// answer.
func (l *ledger) isSettled(key string) bool {
	_, late := l.settled[key]
	_, early := l.earlier[key]
	return late || early
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
	if delete(l.open, key); a != nil {
		l.settleKey(key)
	}
	return a, open || !forOffer && !l.isSettled(key)
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
			l.settleKey(key)
		}
	}
	return cancelled
}
