package state

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stream that was being made when the process ended, or being deleted, holds nothing
// that is missed: the store is opened, the stream is made anew, and keeps what is written
// from then on. One that holds something is not passed over.
func TestAStreamThatWasNotMadeToTheEnd(t *testing.T) {
	remove := func(files ...string) func(*testing.T, string) {
		return func(t *testing.T, stream string) {
			for _, file := range files {
				require.NoError(t, os.RemoveAll(filepath.Join(stream, filepath.FromSlash(file))))
			}
		}
	}
	half := func(t *testing.T, stream string) {
		edit(t, filepath.Join(stream, "meta.inf"), func(b []byte) []byte { return b[:len(b)/2] })
	}
	for name, test := range map[string]struct {
		filled bool
		change func(*testing.T, string)
		says   string // empty: it is opened
	}{
		"no description":              {false, remove("meta.inf", "meta.sum"), ""},
		"no folders":                  {false, remove("meta.inf", "meta.sum", "msgs", "obs"), ""},
		"no checksum of it":           {false, remove("meta.sum"), ""},
		"half of a description":       {false, half, ""},
		"no description, but entries": {true, remove("meta.inf", "meta.sum"), "KV_assent_more has no description"},
		"no checksum, but entries":    {true, remove("meta.sum"), "KV_assent_more has no description"},
		"half of one, and entries":    {true, half, "KV_assent_more has no description"},
		"being deleted": {true, func(t *testing.T, stream string) {
			remove("meta.inf")(t, stream)
			require.NoError(t, os.Rename(stream, filepath.Join(filepath.Dir(stream), ".KV_assent_more")))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, things := written(t)
			more := filepath.Join(filepath.Dir(things), "KV_assent_more")
			s := open(t, Options{Dir: dir})
			if b := bucket(t, s, "more"); test.filled {
				_, err := b.Create(t.Context(), "a", []byte("1"))
				require.NoError(t, err)
			}
			require.NoError(t, s.Close())
			test.change(t, more)
			if test.says != "" {
				_, err := Open(t.Context(), Options{Dir: dir})
				require.ErrorContains(t, err, test.says)
				return
			}
			s = open(t, Options{Dir: dir})
			assert.Len(t, values(t, bucket(t, s, "things")), 3)
			_, err := bucket(t, s, "more").Create(t.Context(), "b", []byte("2"))
			require.NoError(t, err)
			require.NoError(t, s.Close())
			s = open(t, Options{Dir: dir})
			assert.Equal(t, map[string]string{"b": "2"}, values(t, bucket(t, s, "more")))
		})
	}
}

// A process that is killed in its first start, while it makes a stream, leaves a folder
// that the next one opens.
func TestKilledInTheFirstStart(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), childDir+"="+dir), os.Stderr
		require.NoError(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		stream := filepath.Join(dir, storeFolder, streamsFolder, "KV_assent_things")
		for begun := false; !begun; {
			select {
			case err := <-ended:
				require.FailNow(t, "the child ended by itself", "%v", err)
			default:
				_, err := os.Stat(stream)
				begun = err == nil
			}
		}
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, <-ended, "it was killed")
		s := open(t, Options{Dir: dir})
		_, err := bucket(t, s, "things").Create(t.Context(), "a", nil)
		assert.NoError(t, err)
		require.NoError(t, s.Close())
		open(t, Options{Dir: dir})
	}
}
