// Package record writes the traffic between a host and an agent to a file, in
// the format that `assent replay` reads: JSONL, a header, then one object per
// line of the traffic, in the order in which the decisions saw them.
//
// A line that is one unambiguous JSON object is written as it is ("frame"); any
// other one as a string ("raw"), and one that is no UTF-8 in base64 ("raw_b64").
// Nothing is ever re-encoded: a recording has to decide like the traffic did.
//
// A recording holds everything that the agent and its user said, so the file is
// for its owner alone (mode 0600). Only secrets that were named with
// [Writer.Hide] are left out.
package record

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Header is the first line of a recording.
type Header struct {
	// Agent is the configured agent id. One that was guessed belongs into
	// Guessed: a replay would trust it more than the run did.
	Agent   string `json:"agent,omitzero"`
	Guessed string `json:"guessed,omitzero"`
	Package string `json:"package,omitzero"`
	Version string `json:"version,omitzero"`
	// Port of the injected MCP server; 0 for none.
	Port int `json:"port,omitzero"`
	// Name of that server; empty means [pipeline.DefaultReservedName].
	Name string `json:"name,omitzero"`
	// Others are injected beside it.
	Others   []Server `json:"others,omitzero"`
	Scenario string   `json:"scenario,omitzero"`
}

// Server is one injected MCP server.
type Server struct {
	Name string `json:"name"`
	Port int    `json:"port"`
}

// What a recording says, for its readers too.
const (
	// Redacted stands where a hidden secret stood.
	Redacted = "redacted"
	// RedactedAuthorization is so what stands for the injected entry's header.
	RedactedAuthorization = "Bearer " + Redacted
	// FromAgent and FromClient are the directions of a line.
	FromAgent  = "agent->client"
	FromClient = "client->agent"
)

// Writer writes one recording. It is safe for concurrent use.
type Writer struct {
	mu      sync.Mutex
	w       io.WriteCloser
	secrets [][]byte
	buf     []byte
	err     error
}

// ErrNotEmpty says that a recording would replace something.
var ErrNotEmpty = errors.New("the file is there and not empty: remove it, or give another name")

// Create makes the file, readable by its owner alone, and writes the header. A
// file that is there has to be empty ([ErrNotEmpty]).
func Create(path string, h Header) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := ownersAlone(f); err != nil {
		return nil, errors.Join(fmt.Errorf("record: %s: %w", path, err), f.Close())
	}
	return New(f, h)
}

// ownersAlone takes rights of others away before anything is written. What is no
// regular file, such as a pipe, stays as it is.
func ownersAlone(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if info.Size() > 0 {
		return ErrNotEmpty
	}
	return f.Chmod(0o600)
}

// New writes a recording to w and begins with the header.
func New(w io.WriteCloser, h Header) (*Writer, error) {
	line, err := json.Marshal(struct {
		Header Header `json:"header"`
	}{h})
	if err != nil {
		return nil, errors.New("record: the header cannot be encoded: a text in it is no valid UTF-8")
	}
	r := &Writer{w: w}
	r.write(append(line, '\n'))
	return r, r.err
}

// Hide keeps a secret out of everything that is written from now on.
func (r *Writer) Hide(secret string) {
	if secret == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = append(r.secrets, []byte(secret))
}

// Agent records a line of the agent, without its line end.
func (r *Writer) Agent(line []byte) error { return r.add(FromAgent, line) }

// Client records a line to the agent, without its line end.
func (r *Writer) Client(line []byte) error { return r.add(FromClient, line) }

// Close closes the file. It returns the first error that the recording met: after
// that one it is not complete.
func (r *Writer) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.w.Close(); r.err == nil {
		r.err = err
	}
	return r.err
}

func (r *Writer) add(dir string, line []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	for _, s := range r.secrets {
		line = hide(line, s)
	}
	r.buf = append(append(append(r.buf[:0], `{"dir":"`...), dir...), `",`...)
	r.buf = append(appendLine(r.buf, line), '}', '\n')
	r.write(r.buf)
	if cap(r.buf) > keepBuffer {
		r.buf = nil
	}
	return r.err
}

// keepBuffer is how much memory is kept between two long lines, in bytes.
const keepBuffer = 1 << 20

// appendLine writes the line as the member that tells exactly what it was.
func appendLine(dst, line []byte) []byte {
	// No line feed can be in a line, and a return would end it for some readers.
	if bytes.HasPrefix(line, []byte("{")) && jsontext.Value(line).IsValid() && !bytes.ContainsAny(line, "\r\n") {
		return append(append(dst, `"frame":`...), line...)
	}
	quoted, err := jsontext.AppendQuote(append(dst, `"raw":`...), line)
	if err == nil {
		return quoted
	}
	dst = append(dst, `"raw_b64":"`...)
	return append(base64.StdEncoding.AppendEncode(dst, line), '"')
}

// write writes at once, so that a recording is whole up to the moment at which
// its process dies.
func (r *Writer) write(b []byte) {
	if r.err == nil {
		_, r.err = r.w.Write(b)
	}
}
