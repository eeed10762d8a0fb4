package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
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

// An agent may write a secret with escapes, and JSON with it into a text.
func TestAHiddenSecretIsNowhereWhenItIsDecoded(t *testing.T) {
	const secret = "s3cr/é-t"
	escaped := func(text string) string {
		var b strings.Builder
		for _, r := range text {
			fmt.Fprintf(&b, `\u%04X`, r)
		}
		return b.String()
	}
	quoted := func(text string) string { return strings.ReplaceAll(text, `\`, `\\`) }
	for name, line := range map[string]string{
		"as it is, beside an escape": `{"x":"\n` + secret + `"}`,
		"one character":              `{"x":"s3\u0063r/é-t"}`,
		"its slash":                  `{"x":"s3cr\/é-t"}`,
		"all of them":                `{"x":"` + escaped(secret) + `"}`,
		"twice":                      `{"x":"` + escaped(secret) + escaped(secret) + `"}`,
		"JSON in a text":             `{"x":"{\"y\":\"` + quoted(escaped(secret)) + `\"}"}`,
		"and once more":              `{"x":"` + quoted(quoted(escaped(secret))) + `"}`,
		"no JSON":                    `got ` + escaped(secret),
	} {
		t.Run(name, func(t *testing.T) {
			var out buffer
			w, err := New(&out, Header{})
			require.NoError(t, err)
			w.Hide(secret)
			require.NoError(t, w.Agent([]byte(line)))
			text := out.String()
			for range 5 { // decoded as often as it could be
				assert.NotContains(t, text, secret)
				text = regexp.MustCompile(`\\u[0-9A-F]{4}|\\.`).ReplaceAllStringFunc(text, func(e string) string {
					if code, err := strconv.ParseUint(strings.TrimPrefix(e, `\u`), 16, 32); err == nil && len(e) == 6 {
						return string(rune(code))
					}
					return e[1:]
				})
			}
			assert.Contains(t, text, Redacted)
		})
	}
	var out buffer
	w, err := New(&out, Header{})
	require.NoError(t, err)
	w.Hide(secret)
	for _, line := range []string{`{"x":"s3cr\u0065t \\ \n \ud800"}`, `{"x":"s3c\`, `\u00`} { // nothing of it
		require.NoError(t, w.Agent([]byte(line)))
	}
	assert.NotContains(t, out.String(), Redacted)
	assert.Contains(t, out.String(), `s3cr\\u0065t \\\\ \\n`)
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
	require.NoError(t, os.WriteFile(path, nil, 0o644))
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

// What was recorded before is not lost to a command that was typed again.
func TestCreateReplacesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traffic.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("precious\n"), 0o644))
	_, err := Create(path, Header{})
	require.ErrorIs(t, err, ErrNotEmpty)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "precious\n", string(text))

	require.NoError(t, os.Truncate(path, 0))
	w, err := Create(path, Header{})
	require.NoError(t, err)
	assert.NoError(t, w.Close())
}
