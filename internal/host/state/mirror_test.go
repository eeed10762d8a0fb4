package state

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// copyOf is what a user of a mirror keeps.
type copyOf struct {
	mu     sync.Mutex
	values map[string]string
	told   []string
	last   map[string]uint64
	wrong  []string
}

func (c *copyOf) apply(ch Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch.Entry.Revision < c.last[ch.Entry.Key] {
		c.wrong = append(c.wrong, ch.Entry.Key)
	}
	c.last[ch.Entry.Key] = ch.Entry.Revision
	if ch.Kind == Deleted {
		delete(c.values, ch.Entry.Key)
		c.told = append(c.told, "-"+ch.Entry.Key)
		return
	}
	c.values[ch.Entry.Key] = string(ch.Entry.Value)
	c.told = append(c.told, ch.Entry.Key+"="+string(ch.Entry.Value))
}

func (c *copyOf) all() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.values)
}

func (c *copyOf) revision(key string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last[key]
}

func mirror(t *testing.T, b *Bucket) (*Mirror, *copyOf) {
	t.Helper()
	c := &copyOf{values: map[string]string{}, last: map[string]uint64{}}
	m, err := b.Mirror(t.Context(), c.apply)
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return m, c
}

// Own writes are told before the write returns, and only once.
func TestMirrorTellsOwnWritesAtOnce(t *testing.T) {
	b := bucket(t, open(t, Options{Dir: t.TempDir()}), "things")
	_, err := b.Create(t.Context(), "old", []byte("0"))
	require.NoError(t, err)
	m, c := mirror(t, b)
	assert.Equal(t, map[string]string{"old": "0"}, c.all())

	require.NoError(t, m.Create(t.Context(), "a", []byte("1")))
	assert.Equal(t, "1", c.all()["a"])
	require.NoError(t, m.Update(t.Context(), "a", []byte("2"), c.revision("a")))
	assert.Equal(t, "2", c.all()["a"])
	assert.ErrorIs(t, m.Update(t.Context(), "a", []byte("late"), c.revision("a")-1), ErrConflict)
	assert.ErrorIs(t, m.Delete(t.Context(), "a", 1), ErrConflict)
	require.NoError(t, m.Delete(t.Context(), "a", c.revision("a")))
	assert.NotContains(t, c.all(), "a")
	require.NoError(t, m.Create(t.Context(), "a", []byte("3")))
	assert.ErrorIs(t, m.Create(t.Context(), "a", nil), ErrConflict)

	m.Close()
	assert.Equal(t, []string{"old=0", "a=1", "a=2", "-a", "a=3"}, c.told)
}

// Of what is deleted nothing is kept, and what comes late about it is not told.
func TestMirrorForgetsWhatIsDeleted(t *testing.T) {
	b := bucket(t, open(t, Options{Dir: t.TempDir()}), "things")
	m, c := mirror(t, b)
	for n := range 20 {
		require.NoError(t, m.Create(t.Context(), fmt.Sprint("key", n), []byte("1")))
	}
	late := Entry{"key3", []byte("1"), c.revision("key3")}
	for n := range 19 {
		require.NoError(t, m.Delete(t.Context(), fmt.Sprint("key", n), c.revision(fmt.Sprint("key", n))))
	}
	assert.Eventually(t, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.last) == 1
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, m.wrote(late, nil)) // it was read before the deletion
	assert.Equal(t, map[string]string{"key19": "1"}, c.all())
	require.NoError(t, m.Create(t.Context(), "key3", []byte("2")))
	assert.Equal(t, map[string]string{"key19": "1", "key3": "2"}, c.all(), "one that is made anew is told")
}

func TestMirrorRefresh(t *testing.T) {
	b := bucket(t, open(t, Options{Dir: t.TempDir()}), "things")
	m, c := mirror(t, b)
	m.Close() // it hears of nothing by itself any more
	_, err := b.Create(t.Context(), "a", []byte("theirs"))
	require.NoError(t, err)
	assert.NotContains(t, c.all(), "a")
	require.NoError(t, m.Refresh(t.Context(), "a"))
	assert.Equal(t, "theirs", c.all()["a"])
	assert.ErrorIs(t, m.Refresh(t.Context(), "missing"), ErrNotFound)
}

// Two mirrors that write and delete at the same time end up the same.
func TestMirrorsAgree(t *testing.T) {
	stores(t, func(t *testing.T, s *State) {
		b := bucket(t, s, "things")
		one, oneCopy := mirror(t, b)
		two, twoCopy := mirror(t, b)
		var all sync.WaitGroup
		for m, c := range map[*Mirror]*copyOf{one: oneCopy, two: twoCopy} {
			all.Go(func() {
				for n := range 60 {
					key := fmt.Sprint("key", n%4)
					switch n % 3 {
					case 0:
						_ = m.Create(t.Context(), key, []byte(fmt.Sprintf("%p %d", m, n)))
					case 1:
						_ = m.Update(t.Context(), key, []byte(fmt.Sprintf("%p %d", m, n)), c.revision(key))
					default:
						_ = m.Delete(t.Context(), key, c.revision(key))
					}
				}
			})
		}
		all.Wait()
		want := values(t, b)
		for _, c := range []*copyOf{oneCopy, twoCopy} {
			assert.Eventually(t, func() bool { return maps.Equal(want, c.all()) }, 10*time.Second, time.Millisecond)
			assert.Empty(t, c.wrong)
		}
	})
}

func TestMirrorOfAClosedStore(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	b := bucket(t, s, "things")
	m, _ := mirror(t, b)
	require.NoError(t, s.Close())
	m.Close()
	assert.ErrorIs(t, m.Create(t.Context(), "a", nil), ErrUnavailable)
	_, err := b.Mirror(t.Context(), func(Change) {})
	assert.Error(t, err)
	_, err = b.All(t.Context())
	assert.ErrorIs(t, err, ErrUnavailable)
}
