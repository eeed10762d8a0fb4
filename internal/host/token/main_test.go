package token

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/host/state"
	"github.com/kandev/assent/internal/testlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openState(t *testing.T, dir string) *state.State {
	t.Helper()
	s, err := state.Open(t.Context(), state.Options{Dir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func openStore(t *testing.T, s *state.State, log *testlog.Buffer) *Store {
	t.Helper()
	store, err := Open(t.Context(), s, log.Logger())
	require.NoError(t, err)
	t.Cleanup(store.Close)
	return store
}

func create(t *testing.T, s *Store, name string, tasks []string, scopes ...string) (string, Token) {
	t.Helper()
	secret, token, err := s.Create(t.Context(), name, scopes, tasks)
	require.NoError(t, err)
	return secret, token
}
