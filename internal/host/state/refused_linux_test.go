package state

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refusingDir makes the test program write to a store in this folder until its disk
// refuses it.
const refusingDir = "ASSENT_STATE_TEST_REFUSING"

func init() {
	if dir := os.Getenv(refusingDir); dir != "" {
		writeUntilRefused(dir)
		os.Exit(0)
	}
}

// The first write that a full disk refuses fails soon and says why, as each later one does.
func TestTheFirstWriteOnAFullDisk(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), refusingDir+"="+t.TempDir()), os.Stderr
	said, err := cmd.Output()
	require.NoError(t, err, "%s", said)
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	require.Len(t, lines, 3)
	for _, line := range lines {
		assert.Equal(t, "soon: state: the store does not answer: read the entry again to learn whether it was written (state: the disk refuses what is written: is it full?)", line)
	}
}

// writeUntilRefused is the child. The limit of the size of files stands for a full disk.
func writeUntilRefused(dir string) {
	ctx := context.Background()
	s, err := Open(ctx, Options{Dir: dir})
	must(err)
	b, err := s.Bucket(ctx, "things")
	must(err)
	kept, err := b.Create(ctx, "kept", []byte("x"))
	must(err)
	var before syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 16 << 10, Max: before.Max}))
	say := func(began time.Time, err error) {
		when := "late"
		if time.Since(began) < answerWithin/2 {
			when = "soon"
		}
		fmt.Printf("%s: %v\n", when, err)
	}
	for n := 0; ; n++ {
		began := time.Now()
		if _, err := b.Create(ctx, fmt.Sprint(n), []byte(strings.Repeat("x", 1<<10))); err != nil {
			say(began, err)
			break
		}
	}
	began := time.Now()
	_, err = b.Update(ctx, "kept", nil, kept)
	say(began, err)
	began = time.Now()
	say(began, b.Delete(ctx, "kept", kept))
	must(s.Close())
}

// must ends a child that cannot go on.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A write that only takes its time goes on, however often the server is looked at; one
// that is refused at last is given up.
func TestASlowWriteIsNotGivenUp(t *testing.T) {
	b := bucket(t, open(t, Options{Dir: t.TempDir()}), "things")
	for name, refused := range map[string]bool{"slow": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, giveUp := context.WithCancelCause(t.Context())
				looks, began := 0, time.Now()
				go look(ctx, func() bool {
					looks++
					return b.state.embedded.refuses(b.kv.Bucket()) || refused && looks == 3
				}, giveUp)
				if refused {
					<-ctx.Done()
					assert.ErrorIs(t, context.Cause(ctx), ErrRefused)
				} else {
					time.Sleep(3*lookEvery + lookEvery/2)
					synctest.Wait()
					assert.NoError(t, ctx.Err())
				}
				assert.Equal(t, 3, looks)
				assert.GreaterOrEqual(t, time.Since(began), 3*lookEvery)
				giveUp(nil)
			})
		})
	}
	_, err := b.Create(t.Context(), "a", nil)
	assert.NoError(t, err)
}

// Nothing looks any more when a write has ended.
func TestTheLookEndsWithTheWrite(t *testing.T) {
	b := bucket(t, open(t, Options{Dir: t.TempDir()}), "things")
	ctx, ended := b.looking(t.Context())
	require.NoError(t, ctx.Err())
	assert.NoError(t, ended(nil))
	assert.Error(t, ctx.Err())
}
