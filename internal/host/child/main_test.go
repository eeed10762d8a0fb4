package child

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestItSpeaksAndEnds(t *testing.T) {
	cat, err := exec.LookPath("cat")
	require.NoError(t, err)
	p, err := Start(Command{Path: cat}, Options{})
	require.NoError(t, err)
	_, err = p.Stdin.WriteString("hello\n")
	require.NoError(t, err)
	require.NoError(t, p.Stdin.Close())
	said, err := io.ReadAll(p.Stdout)
	require.NoError(t, err)
	assert.Equal(t, "hello\n", string(said))
	assert.False(t, p.Stop(context.Background(), Graces{Close: time.Minute, Term: time.Minute}), "it ended by itself")
	<-p.Quiet()
	assert.True(t, p.State().Success())
	require.NoError(t, p.Stdout.Close())
}

func TestStderrOfTheCaller(t *testing.T) {
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	for name, own := range map[string]bool{"given": true, "kept": false} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			o := Options{}
			if own {
				o.Stderr = w
			}
			p, err := Start(Command{Path: sh, Args: []string{"-c", "echo trouble >&2"}}, o)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			<-p.Exited()
			<-p.Quiet()
			given, err := io.ReadAll(r)
			require.NoError(t, err)
			require.NoError(t, r.Close())
			if own {
				assert.Equal(t, "trouble\n", string(given))
				assert.Empty(t, p.Stderr())
			} else {
				assert.Empty(t, given)
				assert.Equal(t, "trouble", p.Stderr())
			}
			require.NoError(t, p.Stdin.Close())
			require.NoError(t, p.Stdout.Close())
		})
	}
}

func TestStartErrorNamesTheProgramAlone(t *testing.T) {
	_, err := Start(Command{Path: "/no/such/dir/agent", Args: []string{"--key=canary"}}, Options{})
	var start *StartError
	require.ErrorAs(t, err, &start)
	assert.Equal(t, "agent", start.Program)
	assert.NotContains(t, err.Error(), "canary")
}
