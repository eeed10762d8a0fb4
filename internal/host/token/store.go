package token

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kandev/assent/internal/host/state"
)

// Store is the tokens in a store of state. It is safe for concurrent use.
type Store struct {
	log    *slog.Logger
	mirror *state.Mirror

	mu       sync.RWMutex
	ended    func(name string) // nil: nobody is told
	byName   map[string]stored
	byDigest map[digest]Token
}

// stored is what is there under a name, readable or not.
type stored struct {
	token    Token
	valid    bool
	revision uint64
}

// Open reads the tokens. One that cannot be read is logged, by its name, and is
// not valid; it can be deleted. The logger can be nil.
func Open(ctx context.Context, s *state.State, log *slog.Logger) (*Store, error) {
	bucket, err := s.Bucket(ctx, "tokens")
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	t := &Store{log: log, byName: map[string]stored{}, byDigest: map[digest]Token{}}
	if t.mirror, err = bucket.Mirror(ctx, t.apply); err != nil {
		return nil, err
	}
	return t, nil
}

// Close ends it. The store of state stays open.
func (s *Store) Close() { s.mirror.Close() }

// Ended lets f be told of each token that is deleted or changed from now on, wherever
// that was done, once its secret is unknown here. F must not use the store to write.
func (s *Store) Ended(f func(name string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = f
}

// apply takes what the bucket says, and tells of a token that is not any more what it was.
func (s *Store) apply(c state.Change) {
	if tell := s.replace(c); tell != nil {
		tell(c.Entry.Key)
	}
}

// replace gives whom to tell, if a valid token has ended.
func (s *Store) replace(c state.Change) (tell func(name string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := c.Entry.Key
	if old, ok := s.byName[key]; ok && old.valid {
		delete(s.byDigest, old.token.digest)
		tell = s.ended
	}
	if c.Kind == state.Deleted {
		delete(s.byName, key)
		return tell
	}
	t, err := decode(key, c.Entry.Value)
	if err != nil {
		s.log.Error("a stored token cannot be read; it is not valid: delete it and make it anew", "token", key, "error", err)
		s.byName[key] = stored{token: Token{Name: key}, revision: c.Entry.Revision}
		return tell
	}
	s.byName[key] = stored{t, true, c.Entry.Revision}
	s.byDigest[t.digest] = t
	return tell
}

// Create makes a token; tasks nil: it is not limited. The secret is known to the
// caller alone, from now on. Errors: [ErrInvalid], [ErrExists], [ErrFull] and
// those of the store.
func (s *Store) Create(ctx context.Context, name string, scopes []string, tasks []string) (secret string, t Token, err error) {
	parsed, err := ParseScopes(scopes)
	if err != nil {
		return "", Token{}, err
	}
	secret = newSecret()
	t = Token{Name: name, Scopes: parsed, Tasks: slices.Clone(tasks), Created: time.Now().UTC().Truncate(time.Second), digest: digestOf(secret)}
	if err := t.check(); err != nil {
		return "", Token{}, err
	}
	if s.len() >= MaxTokens {
		return "", Token{}, ErrFull
	}
	text, err := t.encode()
	if err != nil {
		return "", Token{}, err
	}
	err = s.mirror.Create(ctx, name, text)
	if errors.Is(err, state.ErrConflict) {
		return "", Token{}, ErrExists
	}
	if err != nil {
		return "", Token{}, fmt.Errorf("token: %w", err)
	}
	return secret, t, nil
}

func (s *Store) len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.byName)
}

// Find gives the token of a secret; false for an unknown secret. Looking up a
// digest tells nothing about the secret by its timing, and what was found is
// compared in constant time.
func (s *Store) Find(secret string) (Token, bool) {
	if len(secret) != secretLen {
		return Token{}, false
	}
	d := digestOf(secret)
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, ok := s.byDigest[d]
	if !ok || subtle.ConstantTimeCompare(t.digest[:], d[:]) != 1 {
		return Token{}, false
	}
	return t, true
}

// List gives the tokens, by name. Those that cannot be read have no scopes.
func (s *Store) List() []Token {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []Token
	for e := range maps.Values(s.byName) {
		list = append(list, e.token)
	}
	slices.SortFunc(list, func(a, b Token) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Delete ends a token: its secret is unknown from now on. [ErrNotFound] when
// there is none of that name.
func (s *Store) Delete(ctx context.Context, name string) error {
	for {
		s.mu.RLock()
		e, ok := s.byName[name]
		s.mu.RUnlock()
		if !ok {
			return ErrNotFound
		}
		err := s.mirror.Delete(ctx, name, e.revision)
		if err == nil {
			return nil
		}
		if !errors.Is(err, state.ErrConflict) {
			return fmt.Errorf("token: %w", err)
		}
		err = s.mirror.Refresh(ctx, name)
		if errors.Is(err, state.ErrNotFound) {
			return ErrNotFound // somebody else was faster
		}
		if err != nil {
			return fmt.Errorf("token: %w", err)
		}
	}
}
