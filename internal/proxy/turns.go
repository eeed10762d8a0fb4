package proxy

import "sync"

// turns follows the prompts of the client, by request id.
type turns struct {
	mu        sync.Mutex
	open      map[string]string // session of each prompt that has no answer yet
	cancelled map[string]bool   // those that were open when their session was cancelled
}

// maxTurns bounds the prompts that are followed at one time.
const maxTurns = 1 << 12

func newTurns() *turns { return &turns{open: map[string]string{}, cancelled: map[string]bool{}} }

// begin notes a prompt.
func (t *turns) begin(key, session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) < maxTurns {
		t.open[key] = session
	}
}

// cancel notes that the client cancelled what goes on in a session.
func (t *turns) cancel(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, s := range t.open {
		if s == session {
			t.cancelled[key] = true
		}
	}
}

// end notes an answer of the agent. It says whether a session has no turn left.
func (t *turns) end(key string) (session string, over bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	session, prompt := t.open[key]
	if !prompt {
		return "", false
	}
	delete(t.open, key)
	delete(t.cancelled, key)
	for _, s := range t.open {
		if s == session {
			return session, false
		}
	}
	return session, true
}

// cancelling says whether everything that goes on in a session was cancelled.
func (t *turns) cancelling(session string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := false
	for key, s := range t.open {
		if s != session {
			continue
		}
		if !t.cancelled[key] {
			return false
		}
		was = true
	}
	return was
}
