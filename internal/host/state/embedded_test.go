package state

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEntriesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	revision, err := bucket(t, s, "things").Create(t.Context(), "a", []byte("1"))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "again")

	b := bucket(t, open(t, Options{Dir: dir}), "things")
	assert.Equal(t, map[string]string{"a": "1"}, values(t, b))
	_, err = b.Update(t.Context(), "a", []byte("2"), revision)
	assert.NoError(t, err)
}

func TestOneProcessPerFolder(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	_, err := Open(t.Context(), Options{Dir: dir})
	assert.ErrorContains(t, err, "is in use by another process ("+strconv.Itoa(os.Getpid())+"): stop that one, or choose another folder with --data")
	require.NoError(t, s.Close())
	open(t, Options{Dir: dir})
}

func TestFolderIsForItsOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "state"), 0o755))
	open(t, Options{Dir: dir})
	for name, want := range map[string]os.FileMode{"state": 0o700, "state.lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		if os.PathSeparator == '/' {
			assert.Equal(t, want, info.Mode().Perm(), name)
		}
	}
}

func TestFolderThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	inside := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(inside, "state"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(inside, "state", "jetstream"), nil, 0o600))
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"a file":             {Options{Dir: file}, "state: the data folder: "},
		"a file in it":       {Options{Dir: inside}, "cannot be used: Can't start JetStream"},
		"none":               {Options{}, "state: no data folder: name one with --data"},
		"credentials for it": {Options{Dir: inside, Creds: file}, "--nats-creds needs --nats"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), test.options)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestStartIsBounded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	_, err := Open(ctx, Options{Dir: dir})
	assert.ErrorIs(t, err, context.Canceled)
	open(t, Options{Dir: dir}) // and nothing of it is left
}
