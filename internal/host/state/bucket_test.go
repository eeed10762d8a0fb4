package state

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
)

// stores are the two kinds of store; each test of a bucket runs on both.
func stores(t *testing.T, test func(t *testing.T, s *State)) {
	t.Run("embedded", func(t *testing.T) { test(t, open(t, Options{Dir: t.TempDir()})) })
	t.Run("external", func(t *testing.T) {
		c := startCluster(t)
		test(t, open(t, Options{URL: c.url(), Creds: c.creds}))
	})
}

func TestEntries(t *testing.T) {
	stores(t, func(t *testing.T, s *State) {
		ctx, b := t.Context(), bucket(t, s, "things")
		const key = "an id > with * everything. in/it é\x00"
		_, err := b.Get(ctx, key)
		assert.ErrorIs(t, err, ErrNotFound)

		first, err := b.Create(ctx, key, []byte("one"))
		require.NoError(t, err)
		got, err := b.Get(ctx, key)
		require.NoError(t, err)
		assert.Equal(t, Entry{key, []byte("one"), first}, got)

		_, err = b.Create(ctx, key, []byte("again"))
		assert.ErrorIs(t, err, ErrConflict)
		second, err := b.Update(ctx, key, []byte("two"), first)
		require.NoError(t, err)
		_, err = b.Update(ctx, key, []byte("late"), first)
		assert.ErrorIs(t, err, ErrConflict)
		assert.ErrorIs(t, b.Delete(ctx, key, first), ErrConflict)
		assert.Equal(t, map[string]string{key: "two"}, values(t, b))

		require.NoError(t, b.Delete(ctx, key, second))
		assert.ErrorIs(t, b.Delete(ctx, key, second), ErrConflict)
		_, err = b.Update(ctx, key, []byte("late"), second)
		assert.ErrorIs(t, err, ErrConflict)
		_, err = b.Get(ctx, key)
		assert.ErrorIs(t, err, ErrNotFound)
		assert.Empty(t, values(t, b))

		_, err = b.Create(ctx, key, []byte("anew"))
		require.NoError(t, err)
		assert.Equal(t, map[string]string{key: "anew"}, values(t, bucket(t, s, "things")))
		assert.Empty(t, values(t, bucket(t, s, "others")))
	})
}

func TestBounds(t *testing.T) {
	b := bucket(t, open(t, Options{Dir: t.TempDir()}), "things")
	_, err := b.Create(t.Context(), strings.Repeat("é", MaxKey/2), make([]byte, MaxValue))
	assert.NoError(t, err)
	_, err = b.Create(t.Context(), "big", make([]byte, MaxValue+1))
	assert.ErrorIs(t, err, ErrTooLarge)
	for _, key := range []string{"", strings.Repeat("x", MaxKey+1)} {
		_, err = b.Get(t.Context(), key)
		assert.ErrorIs(t, err, ErrInvalidKey)
		_, err = b.Update(t.Context(), key, nil, 1)
		assert.ErrorIs(t, err, ErrInvalidKey)
		assert.ErrorIs(t, b.Delete(t.Context(), key, 1), ErrInvalidKey)
	}
}

// Writers that read, add and write: no addition is lost.
func TestTwoWritersLoseNothing(t *testing.T) {
	const writers, each = 4, 25
	b := bucket(t, open(t, Options{Dir: t.TempDir()}), "things")
	_, err := b.Create(t.Context(), "sum", []byte("0"))
	require.NoError(t, err)
	add := func() error {
		for {
			e, err := b.Get(t.Context(), "sum")
			if err != nil {
				return err
			}
			n, _ := strconv.Atoi(string(e.Value))
			_, err = b.Update(t.Context(), "sum", []byte(strconv.Itoa(n+1)), e.Revision)
			if err == nil || err != ErrConflict {
				return err
			}
		}
	}
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				assert.NoError(t, add())
			}
		})
	}
	all.Wait()
	assert.Equal(t, map[string]string{"sum": strconv.Itoa(writers * each)}, values(t, b))
}

func TestWatch(t *testing.T) {
	stores(t, func(t *testing.T, s *State) {
		b := bucket(t, s, "things")
		first, err := b.Create(t.Context(), "a", []byte("1"))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		changes, err := b.Watch(ctx)
		require.NoError(t, err)
		assert.Equal(t, Change{Put, Entry{"a", []byte("1"), first}}, <-changes)
		assert.Equal(t, Change{Kind: Current}, <-changes)

		second, err := b.Update(t.Context(), "a", []byte("2"), first)
		require.NoError(t, err)
		assert.Equal(t, Change{Put, Entry{"a", []byte("2"), second}}, <-changes)
		require.NoError(t, b.Delete(t.Context(), "a", second))
		gone := <-changes
		assert.Equal(t, Deleted, gone.Kind)
		assert.Equal(t, "a", gone.Entry.Key)
		assert.Greater(t, gone.Entry.Revision, second)

		cancel()
		for range changes { // it ends
		}
	})
}

// A bucket that forgets is refused, one that somebody made properly is taken.
func TestBucketsMadeBySomebodyElse(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	for name, test := range map[string]struct {
		config jetstream.KeyValueConfig
		want   string
	}{
		"good":    {jetstream.KeyValueConfig{History: 5}, ""},
		"expires": {jetstream.KeyValueConfig{TTL: 1e12}, "for a limited time"},
		"memory":  {jetstream.KeyValueConfig{Storage: jetstream.MemoryStorage}, "in memory"},
	} {
		test.config.Bucket = prefix + name
		_, err := s.js.CreateKeyValue(t.Context(), test.config)
		require.NoError(t, err)
		_, err = s.Bucket(t.Context(), name)
		if test.want == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorContains(t, err, test.want, name)
	}
}

func TestNothingStoredIsLogged(t *testing.T) {
	var log testlog.Buffer
	s := open(t, Options{Dir: t.TempDir(), Logger: log.Logger()})
	b := bucket(t, s, "things")
	for i := range 3 {
		_, err := b.Create(t.Context(), fmt.Sprint("sesame-key-", i), []byte("sesame-value"))
		require.NoError(t, err)
	}
	_, err := b.Create(t.Context(), "sesame-key-0", nil)
	require.ErrorIs(t, err, ErrConflict)
	require.NoError(t, s.Close())
	assert.NotZero(t, log.Count("the embedded NATS server says something"))
	assert.Zero(t, log.Count("sesame"))
	assert.Zero(t, log.Count("level=INFO")+log.Count("level=WARN")+log.Count("level=ERROR"))
}
