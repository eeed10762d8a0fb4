package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// buffer is a file in memory.
type buffer struct {
	bytes.Buffer
	fail error
}

func (b *buffer) Write(p []byte) (int, error) {
	if b.fail != nil {
		return 0, b.fail
	}
	return b.Buffer.Write(p)
}

func (b *buffer) Close() error { return nil }

func TestLinesAreWrittenAsTheyWere(t *testing.T) {
	var out buffer
	w, err := New(&out, Header{Agent: "claude-acp", Port: 41001})
	require.NoError(t, err)
	for _, line := range []string{
		`{"id":9007199254740993, "x":"\u0061"}`,
		`{"a":1,"a":2}`,
		`starting …`,
		`42`,
		"{\"a\":1}\r",
		"\xff",
		`{"x":"\ud800"}`,
	} {
		require.NoError(t, w.Agent([]byte(line)))
	}
	require.NoError(t, w.Client([]byte(`{"id":1}`)))
	require.NoError(t, w.Close())
	assert.Equal(t, strings.Join([]string{
		`{"header":{"agent":"claude-acp","port":41001}}`,
		`{"dir":"agent->client","frame":{"id":9007199254740993, "x":"\u0061"}}`,
		`{"dir":"agent->client","raw":"{\"a\":1,\"a\":2}"}`,
		`{"dir":"agent->client","raw":"starting …"}`,
		`{"dir":"agent->client","raw":"42"}`,
		`{"dir":"agent->client","raw":"{\"a\":1}\r"}`,
		`{"dir":"agent->client","raw_b64":"/w=="}`,
		`{"dir":"agent->client","raw":"{\"x\":\"\\ud800\"}"}`,
		`{"dir":"client->agent","frame":{"id":1}}`,
		``,
	}, "\n"), out.String())
}

func TestAHiddenSecretIsNowhere(t *testing.T) {
	var out buffer
	w, err := New(&out, Header{})
	require.NoError(t, err)
	w.Hide("")
	w.Hide("s3cret")
	require.NoError(t, w.Client([]byte(`{"headers":[{"name":"Authorization","value":"Bearer s3cret"}]}`)))
	require.NoError(t, w.Agent([]byte(`got s3cret s3cret`)))
	assert.NotContains(t, out.String(), "s3cret")
	assert.Contains(t, out.String(), `"value":"Bearer redacted"`)
}

func TestTheFirstErrorStays(t *testing.T) {
	full := errors.New("disk full")
	var out buffer
	w, err := New(&out, Header{})
	require.NoError(t, err)
	out.fail = full
	assert.ErrorIs(t, w.Agent([]byte(`{}`)), full)
	out.fail = nil
	assert.ErrorIs(t, w.Agent([]byte(`{}`)), full, "a gap must not look like a whole recording")
	assert.ErrorIs(t, w.Close(), full)
}

func TestTheFileIsItsOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes")
	}
	path := filepath.Join(t.TempDir(), "traffic.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("an older and longer recording that everyone may read"), 0o644))
	w, err := Create(path, Header{Guessed: "codex-acp"})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, `{"header":{"guessed":"codex-acp"}}`+"\n", string(text))
}

func TestAFileThatCannotBeMade(t *testing.T) {
	_, err := Create(filepath.Join(t.TempDir(), "missing", "traffic.jsonl"), Header{})
	assert.ErrorIs(t, err, os.ErrNotExist)
}
