package token

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
)

func TestTokensComeAndGo(t *testing.T) {
	dir := t.TempDir()
	state := openState(t, dir)
	s := openStore(t, state, &testlog.Buffer{})
	secret, made := create(t, s, "wall", nil, "view")
	other, _ := create(t, s, "desk", []string{"task-1"}, "view", "answer")

	got, ok := s.Find(secret)
	assert.True(t, ok)
	assert.Equal(t, made, got)
	for _, wrong := range []string{"", "assent_", secret + "x", secret[:len(secret)-1], secret[:len(secret)-1] + "~", strings.ToUpper(secret), strings.Replace(secret, "assent_", "assent-", 1), " " + secret, strings.Repeat("x", len(secret))} {
		_, ok := s.Find(wrong)
		assert.False(t, ok, "%d bytes", len(wrong))
	}
	_, _, err := s.Create(t.Context(), "wall", []string{"view"}, nil)
	assert.ErrorIs(t, err, ErrExists)
	_, ok = s.Find(secret)
	assert.True(t, ok, "the first one stays")

	require.NoError(t, s.Delete(t.Context(), "desk"))
	assert.ErrorIs(t, s.Delete(t.Context(), "desk"), ErrNotFound)
	_, ok = s.Find(other)
	assert.False(t, ok)
	again, _ := create(t, s, "desk", nil, "view")
	assert.NotEqual(t, other, again)

	s.Close()
	require.NoError(t, state.Close())
	s = openStore(t, openState(t, dir), &testlog.Buffer{})
	got, ok = s.Find(secret)
	assert.True(t, ok, "after a restart")
	assert.Equal(t, made, got)
	_, ok = s.Find(other)
	assert.False(t, ok, "after a restart")
	var names []string
	for _, token := range s.List() {
		names = append(names, token.Name)
	}
	assert.Equal(t, []string{"desk", "wall"}, names)
}

// Another process that deletes a token is heard.
func TestTokensOfTwoStores(t *testing.T) {
	state := openState(t, t.TempDir())
	one, two := openStore(t, state, &testlog.Buffer{}), openStore(t, state, &testlog.Buffer{})
	secret, _ := create(t, one, "wall", nil, "view")
	found := func(s *Store) bool { _, ok := s.Find(secret); return ok }
	ended := make(chan string, 3)
	one.Ended(func(name string) {
		assert.False(t, found(one), "its secret is unknown then")
		ended <- name
	})
	assert.Eventually(t, func() bool { return found(two) }, 5*time.Second, time.Millisecond)
	require.NoError(t, two.Delete(t.Context(), "wall"))
	assert.False(t, found(two))
	assert.Eventually(t, func() bool { return !found(one) }, 5*time.Second, time.Millisecond)
	assert.ErrorIs(t, one.Delete(t.Context(), "wall"), ErrNotFound)
	create(t, one, "desk", nil, "view") // nothing has ended with it
	require.NoError(t, one.Delete(t.Context(), "desk"))
	assert.Equal(t, "wall", <-ended)
	assert.Equal(t, "desk", <-ended)
	assert.Empty(t, ended)
}

// Of many who make a token of one name, and of many who delete it, one succeeds.
func TestOneOfMany(t *testing.T) {
	state := openState(t, t.TempDir())
	stores := []*Store{openStore(t, state, &testlog.Buffer{}), openStore(t, state, &testlog.Buffer{})}
	var made, deleted atomic.Int32
	var all sync.WaitGroup
	for n := range 10 {
		all.Go(func() {
			_, _, err := stores[n%2].Create(t.Context(), "wall", []string{"view"}, nil)
			if err == nil {
				made.Add(1)
				return
			}
			assert.ErrorIs(t, err, ErrExists)
		})
	}
	all.Wait()
	for _, s := range stores {
		assert.Eventually(t, func() bool { return len(s.List()) == 1 }, 5*time.Second, time.Millisecond)
	}
	for n := range 10 {
		all.Go(func() {
			err := stores[n%2].Delete(t.Context(), "wall")
			if err == nil {
				deleted.Add(1)
				return
			}
			assert.ErrorIs(t, err, ErrNotFound)
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, made.Load())
	assert.EqualValues(t, 1, deleted.Load())
}

func TestTokenThatCannotBeRead(t *testing.T) {
	state := openState(t, t.TempDir())
	bucket, err := state.Bucket(t.Context(), "tokens")
	require.NoError(t, err)
	var log testlog.Buffer
	s := openStore(t, state, &log)
	secret, token := create(t, s, "wall", nil, "view")
	text, err := token.encode()
	require.NoError(t, err)
	e, err := bucket.Get(t.Context(), "wall")
	require.NoError(t, err)
	_, err = bucket.Update(t.Context(), "wall", []byte(strings.Replace(string(text), "view", "sesame", 1)), e.Revision)
	require.NoError(t, err)

	assert.Eventually(t, func() bool { return log.Count("token=wall") == 1 }, 5*time.Second, time.Millisecond)
	_, ok := s.Find(secret)
	assert.False(t, ok)
	assert.Zero(t, log.Count("sesame"))
	require.Len(t, s.List(), 1)
	assert.Empty(t, s.List()[0].Scopes)
	_, _, err = s.Create(t.Context(), "wall", []string{"view"}, nil)
	assert.ErrorIs(t, err, ErrExists)
	require.NoError(t, s.Delete(t.Context(), "wall"))
	create(t, s, "wall", nil, "view")
}

func TestTooManyTokens(t *testing.T) {
	s := openStore(t, openState(t, t.TempDir()), &testlog.Buffer{})
	s.mu.Lock()
	for n := range MaxTokens - 1 {
		s.byName[fmt.Sprint("n", n)] = stored{}
	}
	s.mu.Unlock()
	create(t, s, "last", nil, "view")
	_, _, err := s.Create(t.Context(), "more", []string{"view"}, nil)
	assert.ErrorIs(t, err, ErrFull)
}

// The secret is in no file and no log.
func TestSecretsAreStoredNowhere(t *testing.T) {
	dir := t.TempDir()
	var log testlog.Buffer
	state := openState(t, dir)
	s := openStore(t, state, &log)
	secret, token := create(t, s, "wall", nil, "view")
	_, _, err := s.Create(t.Context(), "wall", []string{"view"}, nil)
	require.Error(t, err)
	require.NoError(t, state.Close())
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	}))
	assert.Contains(t, all.String(), `"wall"`, "the files are those of the tokens")
	for _, text := range []string{all.String(), log.String(), err.Error(), fmt.Sprintf("%#v", token)} {
		assert.NotContains(t, text, strings.TrimPrefix(secret, secretPrefix))
	}
}
