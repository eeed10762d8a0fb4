package serve

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

	"github.com/kandev/assent/internal/host/state"
)

// fullDir makes the test program ask a store in this folder whether it is ready.
const fullDir = "ASSENT_SERVE_TEST_FULL"

func init() {
	if dir := os.Getenv(fullDir); dir != "" {
		askFull(dir)
		os.Exit(0)
	}
}

// The daemon is not ready while its disk is full, and ready again with room.
func TestReadinessOfAFullDisk(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), fullDir+"="+t.TempDir()), os.Stderr
	said, err := cmd.Output()
	require.NoError(t, err, "%s", said)
	assert.Equal(t, "<nil>\nthe store cannot be written\n<nil>\n", string(said))
}

// askFull is the child. The limit of the size of files, which is for a whole process,
// stands for a full disk.
func askFull(dir string) {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	s, err := state.Open(ctx, state.Options{Dir: dir})
	must(err)
	tasks, err := s.Bucket(ctx, "tasks")
	must(err)
	tokens, err := s.Bucket(ctx, "tokens")
	must(err)
	ready := readiness{state: s, bucket: tokens}
	fmt.Println(ready.check())
	var before syscall.Rlimit
	must(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 16 << 10, Max: before.Max}))
	for n := 0; err == nil; n++ {
		_, err = tasks.Create(ctx, fmt.Sprint(n), []byte(strings.Repeat("x", 1<<10)))
	}
	<-time.After(time.Second) // what was asked before counts no more
	fmt.Println(ready.check())
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))
	for until := time.Now().Add(time.Minute); ready.check() != nil && time.Now().Before(until); {
		<-time.After(100 * time.Millisecond)
	}
	fmt.Println(ready.check())
	must(s.Close())
}
