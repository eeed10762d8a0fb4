package child

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// An agent is the leader of its own session, so it has no controlling terminal,
// and of its own group, so a signal reaches all that it started.
func TestAgentHasASessionOfItsOwn(t *testing.T) {
	cmd := exec.Command("cat")
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	session, err := unix.Getsid(cmd.Process.Pid)
	require.NoError(t, err)
	assert.Equal(t, cmd.Process.Pid, session)
	group, err := unix.Getpgid(cmd.Process.Pid)
	require.NoError(t, err)
	assert.Equal(t, cmd.Process.Pid, group)
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
}
