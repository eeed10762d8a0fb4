package state

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/internal/testlog"
)

// written makes a store with a few entries, one of which was written twice and one
// deleted, and gives its folder and that of its stream.
func written(t *testing.T) (dir, stream string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, Options{Dir: dir})
	b := bucket(t, s, "things")
	revisions := map[string]uint64{}
	for _, key := range []string{"one", "two", "three"} {
		revision, err := b.Create(t.Context(), key, []byte("the value of "+key))
		require.NoError(t, err)
		revisions[key] = revision
	}
	_, err := b.Update(t.Context(), "one", []byte("another value"), revisions["one"])
	require.NoError(t, err)
	require.NoError(t, b.Delete(t.Context(), "two", revisions["two"]))
	_, err = b.Create(t.Context(), "last", []byte("the last value"))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	return dir, filepath.Join(dir, storeFolder, streamsFolder, "KV_assent_things")
}

// edit changes a file.
func edit(t *testing.T, file string, change func([]byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, change(text), 0o600))
}

// A store that is damaged is not opened, and stays as it is; one that is whole is, and so
// is one whose last write was cut off.
func TestDamage(t *testing.T) {
	flip := func(at float64) func([]byte) []byte {
		return func(b []byte) []byte { b[int(float64(len(b))*at)] ^= 0x80; return b }
	}
	whole := map[string]string{"one": "another value", "three": "the value of three", "last": "the last value"}
	for name, test := range map[string]struct {
		file   string
		change func([]byte) []byte
		says   string // empty: it is opened
		gone   string // the key that is not there then
	}{
		"nothing":                       {"msgs/1.blk", func(b []byte) []byte { return b }, "", ""},
		"a byte at the beginning":       {"msgs/1.blk", flip(0.01), "msgs/1.blk holds from byte 0 on", ""},
		"a byte in the middle":          {"msgs/1.blk", flip(0.5), "msgs/1.blk holds from byte ", ""},
		"a byte at the end":             {"msgs/1.blk", flip(0.99), "msgs/1.blk holds from byte ", ""},
		"the last write was cut off":    {"msgs/1.blk", func(b []byte) []byte { return b[:len(b)-3] }, "", "last"},
		"empty space after the end":     {"msgs/1.blk", func(b []byte) []byte { return append(b, make([]byte, 100)...) }, "", ""},
		"the description":               {"meta.inf", flip(0.5), "KV_assent_things has no description", ""},
		"the checksum of the former":    {"meta.sum", flip(0.5), "KV_assent_things has no description", ""},
		"the index, which is made anew": {"msgs/index.db", flip(0.5), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, stream := written(t)
			file := filepath.Join(stream, filepath.FromSlash(test.file))
			edit(t, file, test.change)
			before, err := os.ReadFile(file)
			require.NoError(t, err)
			s, err := Open(t.Context(), Options{Dir: dir})
			if test.says != "" {
				require.ErrorContains(t, err, test.says)
				assert.ErrorContains(t, err, filepath.Join(dir, storeFolder))
				assert.ErrorContains(t, err, "from a backup")
				after, err := os.ReadFile(file)
				require.NoError(t, err)
				assert.Equal(t, before, after)
				return
			}
			require.NoError(t, err)
			defer func() { assert.NoError(t, s.Close()) }()
			stored := values(t, bucket(t, s, "things"))
			for key, value := range whole {
				if key != test.gone {
					assert.Equal(t, value, stored[key])
				}
			}
		})
	}
}

// Whichever byte of a block is another one, it is found, but for the length of the last
// record, which can then look like one that was cut off, and those of subjects. A block
// that ends anywhere is readable, if it is the last one.
func TestEachByteOfABlock(t *testing.T) {
	_, stream := written(t)
	block, err := os.ReadFile(filepath.Join(stream, "msgs", "1.blk"))
	require.NoError(t, err)
	_, ok := readable(block, "KV_assent_things", 1, false)
	require.True(t, ok)
	_, ok = readable(block, "KV_assent_things", 2, true)
	require.False(t, ok, "it is another block's")
	last, subjects := 0, map[int]bool{} // where records begin
	for at := range block {
		begins, ok := readable(block[:at], "KV_assent_things", 1, true)
		require.True(t, ok)
		last = begins
		subjects[begins+atSubject], subjects[begins+atSubject+1] = true, true
	}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(block)-1).Draw(t, "at")
		changed := append([]byte(nil), block...)
		changed[at] ^= rapid.ByteRange(1, 255).Draw(t, "by")
		where, ok := readable(changed, "KV_assent_things", 1, true)
		if subjects[at] {
			return
		}
		if at < last || at >= last+recordLength {
			assert.False(t, ok)
		}
		assert.LessOrEqual(t, where, at)
		_, ok = readable(changed, "KV_assent_things", 1, false)
		assert.False(t, ok)
	})
}

// A record of several pages at the end of a file, of which the machine wrote the size and
// not the last pages, was never acknowledged. Anywhere else it is damage, and so is one
// whose last page has a byte, or whose end the machine wrote.
func TestTheSizeIsOnTheDiskBeforeThePages(t *testing.T) {
	dir, stream := written(t)
	s := open(t, Options{Dir: dir})
	_, err := bucket(t, s, "things").Create(t.Context(), "long", bytes.Repeat([]byte("x"), 3*pageSize))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	whole, err := os.ReadFile(filepath.Join(stream, "msgs", "1.blk"))
	require.NoError(t, err)
	require.Greater(t, len(whole)%pageSize, 1)
	empty := func(from, to int) []byte {
		b := bytes.Clone(whole)
		clear(b[from:to])
		return b
	}
	last := len(whole) / pageSize * pageSize
	for name, test := range map[string]struct {
		block []byte
		ends  bool // in the last block of a stream
	}{
		"the last page":             {empty(last, len(whole)), true},
		"all pages but the first":   {empty(pageSize, len(whole)), true},
		"a page before the last":    {empty(pageSize, 2*pageSize), false},
		"the last page in part":     {empty(last+1, len(whole)), false},
		"something follows":         {append(empty(last, len(whole)), 'x'), false},
		"a whole record follows":    {append(empty(last, len(whole)), whole...), false},
		"nothing is there any more": {empty(0, len(whole)), true},
		"room for a record":         {append(bytes.Clone(whole), make([]byte, maxRecord)...), true},
		"room for more than one":    {append(bytes.Clone(whole), make([]byte, maxRecord+1)...), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, ok := readable(test.block, "KV_assent_things", 1, true)
			assert.Equal(t, test.ends, ok)
			_, ok = readable(test.block, "KV_assent_things", 1, false)
			assert.False(t, ok, "a block that is not the last")
		})
	}
	edit(t, filepath.Join(stream, "msgs", "1.blk"), func([]byte) []byte { return empty(last, len(whole)) })
	stored := values(t, bucket(t, open(t, Options{Dir: dir}), "things"))
	assert.Equal(t, map[string]string{"one": "another value", "three": "the value of three", "last": "the last value"}, stored)
}

// What the server's own index tells of was written, and is damage when it is empty, be it
// one record; without that index it can have been the last write.
func TestWhatWasWrittenIsEmpty(t *testing.T) {
	for name, test := range map[string]struct {
		index func(t *testing.T, file string)
		says  string
	}{
		"the index tells of it": {func(*testing.T, string) {}, "is empty, and was not"},
		"there is no index":     {func(t *testing.T, file string) { require.NoError(t, os.Remove(file)) }, ""},
		"the index is damaged": {func(t *testing.T, file string) {
			edit(t, file, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, stream := written(t)
			block := filepath.Join(stream, "msgs", "1.blk")
			require.EqualValues(t, 6, known(os.DirFS(filepath.Dir(stream)), filepath.Base(stream)))
			test.index(t, filepath.Join(stream, "msgs", "index.db"))
			edit(t, block, func(b []byte) []byte {
				require.EqualValues(t, 6, newestOf(b))
				last := 0
				for at := 0; at < len(b); at += int(binary.LittleEndian.Uint32(b[at:]) &^ hasHeaders) {
					last = at
				}
				clear(b[last:])
				return b
			})
			s, err := Open(t.Context(), Options{Dir: dir})
			if test.says != "" {
				require.ErrorContains(t, err, test.says)
				return
			}
			require.NoError(t, err)
			defer func() { assert.NoError(t, s.Close()) }()
			assert.Equal(t, map[string]string{"one": "another value", "three": "the value of three"}, values(t, bucket(t, s, "things")))
		})
	}
}

// The search for damage ends with its context.
func TestTheSearchForDamageIsGivenUp(t *testing.T) {
	dir, _ := written(t)
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, findDamage(ctx, filepath.Join(dir, storeFolder)))
	cancel()
	assert.ErrorIs(t, findDamage(ctx, filepath.Join(dir, storeFolder)), context.Canceled)
}

// What cannot be read while the server runs is waited for in vain, but not for ever. That
// can be damage, which the next start finds, or a slow disk.
func TestWhatIsNotReadInTime(t *testing.T) {
	for name, damage := range map[string]bool{"a byte is another one": true, "all is there": false} {
		t.Run(name, func(t *testing.T) {
			dir, stream := written(t)
			s := open(t, Options{Dir: dir})
			s.embedded.within = 500 * time.Millisecond
			if damage {
				edit(t, filepath.Join(stream, "msgs", "1.blk"), func(b []byte) []byte { b[len(b)-20] ^= 1; return b })
			} else {
				s.embedded.within = time.Minute
			}
			m, err := bucket(t, s, "things").Mirror(t.Context(), func(Change) {})
			if damage {
				assert.ErrorContains(t, err, "was not read within 500ms: is the disk slow?")
				assert.NotContains(t, err.Error(), "damaged")
				return
			}
			require.NoError(t, err)
			m.Close()
		})
	}
}

// What the embedded server warns of is logged as a warning, with errors and without
// anything else; what it says otherwise is not.
func TestTheServersWarnings(t *testing.T) {
	var log testlog.Buffer
	l := newServerLog(log.Logger())
	l.Warnf("stream %q: %v", "secret", os.ErrInvalid)
	l.Errorf("consumer %q", "secret")
	assert.Contains(t, log.String(), "level=WARN")
	assert.Contains(t, log.String(), "level=ERROR")
	assert.Contains(t, log.String(), os.ErrInvalid.Error())
	warned := log.String()
	l.Noticef("starting")
	assert.NotContains(t, log.String()[len(warned):], "level=WARN")
	assert.NotContains(t, log.String(), "secret")
}
