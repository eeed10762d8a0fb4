package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/dispatch"
	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/internal/host/task"
)

type auditPayload struct {
	Limit *int   `json:"limit,omitempty" jsonschema:"at most this many records, 1 or more; more than 1000 is 1000, and 100 without it"`
	After string `json:"after,omitempty" jsonschema:"only records after this time, in RFC 3339, as a record has it"`
}

const (
	defaultRecords = 100
	maxRecords     = 1000
	maxTail        = 2 << 20 // bytes of the file's end that are looked at
)

// auditTail gives the last records of the file. What is older than its last part is
// for `assent audit`.
func (s *Server) auditTail(_ context.Context, o dispatch.Origin, in auditPayload) (any, error) {
	var after time.Time
	if in.After != "" {
		var err error
		if after, err = time.Parse(time.RFC3339Nano, in.After); err != nil {
			return nil, &dispatch.Error{Code: dispatch.CodeInvalidPayload, Message: "after is no time in RFC 3339"}
		}
	}
	limit := defaultRecords
	if in.Limit != nil {
		limit = min(*in.Limit, maxRecords)
	}
	if limit < 1 {
		return nil, &dispatch.Error{Code: dispatch.CodeInvalidPayload, Message: "limit is below 1"}
	}
	text, err := tail(s.auditFile, maxTail)
	if err != nil {
		return nil, err
	}
	seen := s.auditSeen(o)
	records := []jsontext.Value{}
	lines := bytes.Split(text, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		if len(records) == limit {
			break
		}
		r, err := audit.Parse(line)
		if err != nil || !r.Time.After(after) {
			continue
		}
		if line = seen(&r, line); line != nil {
			records = append(records, jsontext.Value(line))
		}
	}
	slices.Reverse(records)
	return map[string]any{"records": records}, nil
}

// auditSeen says how somebody sees a record and its line; nil is not at all. Not every
// record of an agent names its task, and instances are those of a run, so that a limited
// token sees this run's. A task above that acted on one of its tasks is not named to it.
func (s *Server) auditSeen(o dispatch.Origin) func(*audit.Record, []byte) []byte {
	p, ok := o.Person()
	if !ok || p.Tasks == nil {
		return func(_ *audit.Record, line []byte) []byte { return line }
	}
	visible := s.visible(actor(o), "")
	return func(r *audit.Record, line []byte) []byte {
		of, known := task.ID(r.Task), true
		if of == "" {
			of, known = s.runner.owner(pending.InstanceID(r.Instance))
		}
		switch {
		case !known || r.Run != s.audit.Run() || !visible(of):
			return nil
		case r.Surface == surfaceAgent && !visible(task.ID(r.By)):
			return withoutBy(r, line)
		}
		return line
	}
}

// withoutBy is the line of a record without the task that acted; nil when it does not
// hold its id as it was written.
func withoutBy(r *audit.Record, line []byte) []byte {
	before, after, found := bytes.Cut(line, []byte(`,"by":"`+r.By+`"`))
	if !found {
		return nil
	}
	return slices.Concat(before, after)
}

// tail reads the last bytes of a file, from the beginning of a line.
func tail(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || path == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	from := max(0, size-most)
	text, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
	if err != nil || from == 0 {
		return text, err
	}
	_, text, _ = bytes.Cut(text, []byte("\n"))
	return text, nil
}
