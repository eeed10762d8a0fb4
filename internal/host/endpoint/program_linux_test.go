package endpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/upstream"
)

// Nothing of a program is left when the endpoint is closed, whatever it does
// about its end: not what it has started either.
func TestNoProgramIsLeft(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell to play a stubborn program")
	}
	for name, script := range map[string]string{
		"stubborn":     `trap '' TERM; echo $$ > "$0"; exec </dev/null; while :; do sleep 1; done`,
		"grandchild":   `sleep 1000 & echo $! > "$0"; cat > /dev/null`,
		"never reads":  `echo $$ > "$0"; exec sleep 1000`,
		"ends at once": `sleep 1000 & echo $! > "$0"`,
	} {
		t.Run(name, func(t *testing.T) {
			note := t.TempDir() + "/pid"
			b := front(t, upstream.Target{Command: []string{"sh", "-c", script, note}})
			s := b.session(t)
			agent, ended := b.connector(t, s), make(chan struct{})
			go func() { agent(); close(ended) }()
			require.Eventually(t, func() bool { text, err := os.ReadFile(note); return err == nil && len(text) > 1 }, streamWait, streamTick)
			require.NoError(t, b.Close())
			<-ended
			text, err := os.ReadFile(note)
			require.NoError(t, err)
			require.Eventually(t, func() bool { return !alive(t, strings.TrimSpace(string(text))) }, streamWait, streamTick, "%s is still there", text)
		})
	}
}

// connector makes a function that begins an MCP session, with whatever outcome.
func (b bench) connector(t *testing.T, s *Session) func() {
	client := httpClient(t, s.Authorization())
	return func() {
		transport := &mcp.StreamableClientTransport{Endpoint: b.url("127.0.0.1", "/mcp"), HTTPClient: client, MaxRetries: -1}
		if cs, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(context.Background(), transport, nil); err == nil {
			_ = cs.Close()
		}
	}
}

// alive says whether a process runs; one that nobody has waited for does not.
func alive(t *testing.T, pid string) bool {
	t.Helper()
	_, err := strconv.Atoi(pid)
	require.NoError(t, err)
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
