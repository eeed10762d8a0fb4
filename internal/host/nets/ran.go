package nets

import (
	"hash/maphash"
	"sync"

	"github.com/kandev/assent/internal/host/audit"
)

// maxRan bounds the calls that are remembered: at least so many of the latest.
const maxRan = 8192

// ran remembers which tool calls were asked for, so that those are found which ran
// although nobody was asked. It only counts, and decides nothing.
type ran struct {
	seed maphash.Seed

	mu sync.Mutex
	// The latest calls in two generations: the older one goes when the younger one
	// is full.
	young, old map[callKey]ranCall
	// spare are calls that reached the endpoint without saying which tool call of
	// their session they are, and without an offer: their ends are still to come.
	spare map[string]int
}

// callKey stands for a session and a call. They can have any length, and an agent
// cannot find two with one key: it does not know the seed.
type callKey uint64

type ranCall struct {
	kind audit.Kind
	// accounted: an offer was made, or it was told already. over: it has ended.
	accounted, over bool
}

func newRan() *ran {
	return &ran{seed: maphash.MakeSeed(), young: map[callKey]ranCall{}, spare: map[string]int{}}
}

func (r *ran) key(session, call string) callKey {
	return callKey(maphash.Comparable(r.seed, [2]string{session, call}))
}

func (r *ran) get(k callKey) ranCall {
	if c, ok := r.young[k]; ok {
		return c
	}
	return r.old[k]
}

func (r *ran) put(k callKey, c ranCall) {
	if _, known := r.young[k]; !known && len(r.young) >= maxRan {
		r.young, r.old = map[callKey]ranCall{}, r.young
	}
	r.young[k] = c
}

// account says that an offer was made for a call, or that it was told by other
// means. An empty session stands for every one.
func (r *ran) account(session, call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.key(session, call)
	c := r.get(k)
	c.accounted, c.over = true, false
	r.put(k, c)
}

// nameless says that a call of the session reached the endpoint that had no offer,
// and did not say which one it is.
func (r *ran) nameless(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spare[session] > 0 || len(r.spare) < maxRan {
		r.spare[session]++
	}
}

// turnEnded says that no call of the session goes on.
func (r *ran) turnEnded(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.spare, session)
}

// update takes what is new of a call. It says whether the call has run now and
// nobody had been asked, and of which kind it is.
func (r *ran) update(u update) (unasked bool, kind audit.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.key(u.session, u.call)
	c := r.get(k)
	if u.start && c.over { // an id that is used again
		c = ranCall{}
	}
	if u.kind != "" {
		c.kind = u.kind
	}
	first := u.status != "" && !c.over
	c.over = c.over || first
	switch {
	case !first || u.status != statusCompleted || c.accounted || r.get(r.key("", u.call)).accounted:
	case r.spare[u.session] > 0:
		r.spare[u.session]--
	default:
		unasked = true
	}
	c.accounted = c.accounted || first
	r.put(k, c)
	return unasked, c.kind
}

// replayed takes an update that repeats history: what it is about ran before.
func (r *ran) replayed(u update) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(r.key(u.session, u.call), ranCall{accounted: true, over: u.status != ""})
}
