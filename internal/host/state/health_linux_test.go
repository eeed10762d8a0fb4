package state

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fullDir makes the test program use a store in this folder whose disk is full for a
// while.
const fullDir = "ASSENT_STATE_TEST_FULL"

func init() {
	if dir := os.Getenv(fullDir); dir != "" {
		fillUp(dir)
		os.Exit(0)
	}
}

// While nothing can be written every write fails and the store says so;
// with room again it takes entries without a restart, and has what was acknowledged.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), fullDir+"="+dir), os.Stderr
	said, err := cmd.Output()
	require.NoError(t, err, "%s", said)
	assert.Equal(t, "writable\nfull\nnot writable\nwritable\nwritten\n", string(said))
	s := open(t, Options{Dir: dir})
	stored := values(t, bucket(t, s, "things"))
	assert.Equal(t, "after", stored["after"])
	assert.Equal(t, strings.Repeat("x", 1<<10), stored["0"])
	assert.NotContains(t, stored, "")
}

// fillUp is the child. The limit of the size of files stands for a full disk: it is for
// a whole process, and needs no rights.
func fillUp(dir string) {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	s, err := Open(ctx, Options{Dir: dir})
	must(err)
	b, err := s.Bucket(ctx, "things")
	must(err)
	_, err = b.Create(ctx, "0", []byte(strings.Repeat("x", 1<<10)))
	must(err)
	say := func() {
		text := "writable"
		if s.Writable(ctx) != nil {
			text = "not writable"
		}
		fmt.Println(text)
	}
	say()
	var before syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 16 << 10, Max: before.Max}))
	for n := 1; ; n++ {
		if _, err := b.Create(ctx, fmt.Sprint(n), []byte(strings.Repeat("x", 1<<10))); err != nil {
			break
		}
	}
	fmt.Println("full")
	say()
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))
	for until := time.Now().Add(30 * time.Second); s.Writable(ctx) != nil && time.Now().Before(until); {
		<-time.After(100 * time.Millisecond)
	}
	say()
	_, err = b.Create(ctx, "after", []byte("after"))
	must(err)
	fmt.Println("written")
	must(s.Close())
}
