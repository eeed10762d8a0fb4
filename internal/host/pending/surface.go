package pending

// Scope says which offers are meant. An empty field means all.
type Scope struct {
	Instance InstanceID
	Session  string
}

func (c Scope) covers(e *entry) bool {
	return (c.Instance == "" || c.Instance == e.instance.id) &&
		(c.Session == "" || c.Session == e.field(fieldSession))
}

// maxScopes bounds what is remembered of surfaces that were there. Beyond it
// every offer waits.
const maxScopes = 4096

// Attach says that a surface is there which can show the offers in scope to a
// person. From then on they wait, also when the surface has gone: a closed laptop
// must lose nothing.
func (s *Store) Attach(scope Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if scope == (Scope{}) || len(s.scopes) >= maxScopes {
		s.everywhere = true
		return
	}
	s.scopes[scope] = struct{}{}
}

// seen says whether a surface was ever there that could show the offer.
func (s *Store) seen(e *entry) bool {
	if s.everywhere || len(s.scopes) == 0 {
		return s.everywhere
	}
	session := e.field(fieldSession)
	for _, scope := range [...]Scope{{Instance: e.instance.id}, {e.instance.id, session}, {Session: session}} {
		if _, ok := s.scopes[scope]; ok {
			return true
		}
	}
	return false
}

// forgetScopes drops what was remembered for an instance that is gone.
func (s *Store) forgetScopes(id InstanceID) {
	for scope := range s.scopes {
		if scope.Instance == id && id != "" {
			delete(s.scopes, scope)
		}
	}
}
