package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listening counts this process's sockets that wait for connections.
func listening(t *testing.T) int {
	t.Helper()
	own := map[string]bool{}
	fds, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	for _, fd := range fds {
		if link, err := os.Readlink(fd); err == nil {
			own[link] = true
		}
	}
	count := 0
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		text, _ := os.ReadFile(table) // a machine without IPv6 has one of them
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && own["socket:["+f[9]+"]"] {
				count++
			}
		}
	}
	return count
}

func TestEmbeddedServerHasNoPort(t *testing.T) {
	before := listening(t)
	open(t, Options{Dir: t.TempDir()})
	assert.Equal(t, before, listening(t))
	startCluster(t)
	assert.Equal(t, before+1, listening(t), "the count sees a port")
}
