package state

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/testlog"
)

// childDir makes the test program write into the store in this folder.
const childDir = "ASSENT_STATE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		writeForEver(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// open opens a store, which is closed at the end of the test.
func open(t *testing.T, o Options) *State {
	t.Helper()
	if o.Logger == nil {
		o.Logger = new(testlog.Buffer).Logger()
	}
	s, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func bucket(t *testing.T, s *State, name string) *Bucket {
	t.Helper()
	b, err := s.Bucket(t.Context(), name)
	require.NoError(t, err)
	return b
}

// values reads everything as text.
func values(t *testing.T, b *Bucket) map[string]string {
	t.Helper()
	entries, err := b.All(context.Background())
	require.NoError(t, err)
	all := map[string]string{}
	for _, e := range entries {
		all[e.Key] = string(e.Value)
	}
	return all
}
