package process

import (
	"strings"
	"sync"

	"github.com/kandev/assent/internal/host/config"
)

// secrets are the texts that the host itself gave to an agent and that must not
// come back in what the agent says about its troubles.
type secrets struct {
	mu   sync.Mutex
	list []string
}

// shortestSecret: shorter values are no secrets but words such as "1" or "true".
const shortestSecret = 8

func newSecrets(servers config.Servers) *secrets {
	s := &secrets{}
	for _, m := range servers {
		for _, h := range m.Headers {
			s.add(h.Value)
		}
		for _, e := range m.Env {
			s.add(e.Value)
		}
	}
	return s
}

func (s *secrets) add(text string) {
	if len(text) < shortestSecret {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, text)
}

// redact replaces every known secret.
func (s *secrets) redact(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.list {
		text = strings.ReplaceAll(text, secret, "(hidden)")
	}
	return text
}
