package proxy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Another process of the same user cannot write into the connection between us and
// the agent through /proc/<pid>/fd, neither on the agent's side nor on ours: it is
// made of sockets. With pipes it could.
func TestNobodyWritesIntoTheConnection(t *testing.T) {
	r := start(t, "tells its number", nil)
	pid := said(t, r.line())
	for _, fd := range []string{"0", "1"} {
		path := "/proc/" + pid + "/fd/" + fd
		target, err := os.Readlink(path)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(target, "socket:"), target)
		assert.Error(t, forge(path), path)
	}
	ours := 0
	entries, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	for _, path := range entries {
		if target, err := os.Readlink(path); err == nil && strings.HasPrefix(target, "socket:") {
			ours++
			assert.Error(t, forge(path), path)
		}
	}
	assert.GreaterOrEqual(t, ours, 2, "our ends of the two connections are among them")

	self, err := os.Executable()
	require.NoError(t, err)
	piped := exec.Command(self)
	piped.Env = append(os.Environ(), roleVariable+"=stays")
	in, err := piped.StdinPipe()
	require.NoError(t, err)
	out, err := piped.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, piped.Start())
	for _, fd := range []string{"0", "1"} {
		assert.NoError(t, forge("/proc/"+strconv.Itoa(piped.Process.Pid)+"/fd/"+fd), "this is what the sockets are for")
	}
	require.NoError(t, piped.Process.Kill())
	_, _ = in.Close(), out.Close()
	_ = piped.Wait()
}

// forge tries to open a connection for writing.
func forge(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_ = f.Close()
	}
	return err
}

// said is the text of a [say].
func said(t *testing.T, line string) string {
	t.Helper()
	var m struct {
		Params string `json:"params"`
	}
	require.NoError(t, json.Unmarshal([]byte(line), &m), line)
	return m.Params
}
