package proxy

import (
	"sync"

	"github.com/kandev/assent/pipeline/acp"
)

// ledger knows the requests of the agent that the client has to answer, by the
// exact id. It never holds two offers of one id: an answer could be for either.
type ledger struct {
	mu    sync.Mutex
	open  map[string]*asked
	other map[string]int // requests that are no offers
	owed  map[string]int // offers that were answered for the client
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
	return &ledger{open: map[string]*asked{}, other: map[string]int{}, owed: map[string]int{}, settled: map[string]struct{}{}}
}

// free says whether an offer with this id can be told apart from all others.
func (l *ledger) free(id acp.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := id.Key()
	return l.open[key] == nil && l.other[key] == 0 && l.owed[key] == 0 && len(l.open) < maxOpen && len(l.owed) < maxOpen
}

// ask notes that the client is about to be asked.
func (l *ledger) ask(a *asked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.anew(a.id.Key())
	l.open[a.id.Key()] = a
}

// request notes that the client gets a request that is no offer. Of too many, the
// answers are relayed all the same.
func (l *ledger) request(id acp.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := id.Key()
	l.anew(key)
	if l.other[key] > 0 || len(l.other) < maxOpen {
		l.other[key]++
	}
}

// anew forgets what an id was used for before.
func (l *ledger) anew(key string) {
	delete(l.settled, key)
	delete(l.earlier, key)
}

// settle notes that an offer was answered without the client.
func (l *ledger) settle(id acp.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[id.Key()] == nil && l.other[id.Key()] == 0 {
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

// answer takes an answer of the client: for an offer in its form, an error, which can
// be for anything, or another result. It is relayed if the agent waits for it.
func (l *ledger) answer(id acp.ID, forOffer, failed bool) (a *asked, relay bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := id.Key()
	a = l.open[key]
	switch other := l.other[key] > 0; {
	case l.owed[key] > 0 && (forOffer || a == nil && !other):
		count(l.owed, key)
		return nil, false
	case other && !forOffer && (a == nil || !failed):
		count(l.other, key)
		return nil, true
	case a != nil:
		delete(l.open, key)
		l.settleKey(key)
		return a, true
	case other: // an odd answer to it
		count(l.other, key)
		return nil, true
	}
	return nil, !forOffer && !l.isSettled(key)
}

// count takes one away.
func count(of map[string]int, key string) {
	if of[key]--; of[key] <= 0 {
		delete(of, key)
	}
}

// cancel takes the open offers of a session. The client still owes an answer to each.
func (l *ledger) cancel(session string) (cancelled []*asked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, a := range l.open {
		if a.session == session && !a.unreadable {
			cancelled = append(cancelled, a)
			delete(l.open, key)
			l.owed[key]++
			l.settleKey(key)
		}
	}
	return cancelled
}
