package endpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/upstream"
	"github.com/kandev/assent/internal/need"
)

// Nothing of a program is left when the endpoint is closed, whatever it does
// about its end: not what it has started either.
func TestNoProgramIsLeft(t *testing.T) {
	_, err := exec.LookPath("sh")
	need.Of(t, "a shell", err)
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

// A session that ends takes its program along. The one of another session goes on.
func TestAProgramEndsWithItsSession(t *testing.T) {
	_, err := exec.LookPath("sh")
	need.Of(t, "a shell", err)
	at, notes := serveTarget(t, "stdio").at, t.TempDir()
	at.Command = append([]string{"sh", "-c", `echo > "$0/$$"; exec "$1"`, notes}, at.Command...)
	b := front(t, at)
	begin := func() (s *Session, cs *mcp.ClientSession, pid string) {
		before, err := os.ReadDir(notes)
		require.NoError(t, err)
		s = b.session(t)
		cs = b.connect(t, s, "127.0.0.1", "/mcp", legacy)
		now, err := os.ReadDir(notes)
		require.NoError(t, err)
		require.Len(t, now, len(before)+1)
		for _, entry := range now {
			if !slices.ContainsFunc(before, func(b fs.DirEntry) bool { return b.Name() == entry.Name() }) {
				pid = entry.Name()
			}
		}
		return s, cs, pid
	}
	gone, _, its := begin()
	_, cs, other := begin()
	require.True(t, alive(t, its))
	b.Revoke(gone)
	require.Eventually(t, func() bool { return !alive(t, its) }, streamWait, streamTick)
	require.True(t, alive(t, other))
	_, err = call(t.Context(), cs, "echo", nil, nil)
	require.NoError(t, err)
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
