package child

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TryWrite waits for nobody, what it says was taken arrives, and after the end nothing
// is taken.
func TestTryWrite(t *testing.T) {
	sleeping, err := exec.LookPath("sleep")
	require.NoError(t, err)
	cat, err := exec.LookPath("cat")
	require.NoError(t, err)
	for _, o := range []Options{{}, {Blocking: true}} {
		p, err := Start(Command{Path: sleeping, Args: []string{"60"}}, o) // it does not read
		require.NoError(t, err)
		block, taken := bytes.Repeat([]byte("x"), 1<<10), 0
		for n := len(block); n > 0; taken += n {
			n = p.TryWrite(block)
			require.Less(t, taken, 64<<20)
		}
		assert.Positive(t, taken)
		p.Kill()
		<-p.Exited()
		<-p.Quiet()
		assert.Zero(t, p.TryWrite(block), "nobody is there")
		_, _ = p.Stdin.Close(), p.Stdout.Close()
		assert.Zero(t, p.TryWrite(block), "it is closed")
	}
	p, err := Start(Command{Path: cat}, Options{Blocking: true})
	require.NoError(t, err)
	assert.Equal(t, 6, p.TryWrite([]byte("hello\n")))
	require.NoError(t, p.Stdin.Close())
	said, err := io.ReadAll(p.Stdout)
	require.NoError(t, err)
	assert.Equal(t, "hello\n", string(said))
	p.Stop(context.Background(), Graces{Close: time.Minute, Term: time.Minute})
	<-p.Quiet()
	require.NoError(t, p.Stdout.Close())
}
