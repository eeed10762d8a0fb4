package process

import "sync"

// owed counts the offers in the store, and those that have left it and whose
// answers are on their way.
type owed struct {
	mu   sync.Mutex
	n    int
	none sync.Cond
}

func (o *owed) more() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.n++
}

func (o *owed) paid() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n--; o.n == 0 {
		o.none.Broadcast()
	}
}

// wait waits until there are none. No more are taken by the store by then.
func (o *owed) wait() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.none.L = &o.mu; o.n > 0; {
		o.none.Wait()
	}
}
