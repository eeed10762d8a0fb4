package state

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// taken is what nats.go takes as a key, without its dots and slashes.
var taken = regexp.MustCompile(`^[-=a-zA-Z0-9]+$`)

func TestKeysOfAnyText(t *testing.T) {
	for key, want := range map[string]string{
		"task-a7": "task-a7", ".": "=2e", "*": "=2a", ">": "=3e", "a b": "a=20b", "=41": "=3d41", "é": "=c3=a9", "\x00\xff": "=00=ff", "_": "=5f",
	} {
		got, err := encodeKey(key)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := encodeKey(strings.Repeat("é", MaxKey/2))
	assert.NoError(t, err)
	for _, key := range []string{"", strings.Repeat("x", MaxKey+1)} {
		_, err := encodeKey(key)
		assert.Equal(t, ErrInvalidKey, err)
	}
}

func TestKeysComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := string(rapid.SliceOfN(rapid.Byte(), 1, MaxKey).Draw(t, "key"))
		encoded, err := encodeKey(key)
		require.NoError(t, err)
		assert.Regexp(t, taken, encoded)
		back, ok := decodeKey(encoded)
		assert.True(t, ok)
		assert.Equal(t, key, back)
	})
}

func TestForeignKeys(t *testing.T) {
	for _, encoded := range []string{"", "a.b", "a_b", "=", "=4", "=zz", "=2E", "=61", "a=2", strings.Repeat("x", MaxKey+1)} {
		_, ok := decodeKey(encoded)
		assert.False(t, ok, "%q", encoded)
	}
}

// One key has one form: what is read back was written by this package.
func FuzzDecodeKey(f *testing.F) {
	for _, s := range []string{"task-a7", "=2e", "=2E", "=", "a.b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, encoded string) {
		key, ok := decodeKey(encoded)
		if !ok {
			return
		}
		again, err := encodeKey(key)
		if err != nil || again != encoded {
			t.Fatalf("%q is %q, which is written as %q (%v)", encoded, key, again, err)
		}
	})
}
