package process

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/kandev/assent/internal/host/config"
)

// secrets are the texts that the host itself gave to an agent and that must not
// come back in what the agent says about its troubles.
type secrets struct {
	mu   sync.Mutex
	list []string // the longest first: one may be a part of another
}

// shortestSecret: shorter values are no secrets but words such as "1" or "true".
const shortestSecret = 8

func newSecrets(servers config.Servers) *secrets {
	s := &secrets{}
	for _, m := range servers {
		for _, h := range m.Headers {
			s.addHeader(h.Value)
		}
		for _, e := range m.Env {
			s.add(e.Value)
		}
		s.addURL(m.URL)
	}
	return s
}

// addHeader adds the value of a header, and what stands behind a scheme in it, such
// as the token of "Bearer <token>" (RFC 9110, 11.4).
func (s *secrets) addHeader(value string) {
	s.add(value)
	scheme, credentials, _ := strings.Cut(value, " ")
	credentials = strings.TrimSpace(credentials)
	s.add(credentials)
	if strings.EqualFold(scheme, "Basic") { // RFC 7617: name and password
		if pair, err := base64.StdEncoding.DecodeString(credentials); err == nil {
			_, password, _ := strings.Cut(string(pair), ":")
			s.add(password)
		}
	}
}

// addURL adds what can be a credential in a URL, as it is written and as it is
// meant: user and password, and the values of its query.
func (s *secrets) addURL(text string) {
	u, err := url.Parse(text)
	if err != nil { // nobody knows which part is one
		s.add(text)
		return
	}
	if u.User != nil {
		password, _ := u.User.Password()
		written, _, _ := strings.Cut(text, "@"+u.Host)
		_, written, _ = strings.Cut(written, "//")
		name, secret, _ := strings.Cut(written, ":")
		for _, part := range []string{u.User.Username(), password, name, secret} {
			s.add(part)
		}
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, found := strings.Cut(pair, "=")
		if !found {
			value = name
		}
		s.add(value)
		if meant, err := url.QueryUnescape(value); err == nil {
			s.add(meant)
		}
	}
}

func (s *secrets) add(text string) {
	if len(text) < shortestSecret {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.list, text) {
		s.list = append(s.list, text)
		slices.SortStableFunc(s.list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
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
