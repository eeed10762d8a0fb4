package audit

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/pipeline"
)

// childRole makes the test program play the part of a host.
const childRole = "ASSENT_AUDIT_TEST_CHILD"

// childRoles are filled by the files of systems that can do them.
var childRoles = map[string]func(path string){}

func TestMain(m *testing.M) {
	if role, path, ok := strings.Cut(os.Getenv(childRole), " "); ok {
		childRoles[role](path)
		return
	}
	goleak.VerifyTestMain(m)
}

// numberedRecord is a record that can be told from others.
func numberedRecord(n int) Record {
	return Record{
		Event: Decision, Instance: "1", Agent: "claude-acp", Session: "session", Request: fmt.Sprint(n),
		Verdict: pipeline.Select, Stage: "option", Reason: "injected_mcp", OptionKind: pipeline.AllowOnce, Tool: tool("kandev", "list_tasks"),
	}
}

func tool(server, name string) pipeline.Identity {
	id, _ := pipeline.NewIdentity(pipeline.ClaimTool(server, name))
	return id
}

// readAll reads an audit file whose every line must be a record.
func readAll(t *testing.T, path string) []Record {
	t.Helper()
	var records []Record
	require.NoError(t, Read(path, func(l Line) error {
		require.NoError(t, l.Err, "%s:%d: %s", l.File, l.Number, l.Text)
		records = append(records, l.Record)
		return nil
	}))
	return records
}

// requests are the request ids of the records that are no gaps.
func requests(records []Record) []string {
	var ids []string
	for _, r := range records {
		if r.Event != Gap {
			ids = append(ids, r.Request)
		}
	}
	return ids
}

func numbers(from, to int) []string {
	var ids []string
	for n := from; n < to; n++ {
		ids = append(ids, fmt.Sprint(n))
	}
	return ids
}

// parseAll parses lines that a sink got.
func parseAll(t *testing.T, text string) []Record {
	t.Helper()
	var records []Record
	for line := range strings.Lines(text) {
		r, err := Parse([]byte(line))
		require.NoError(t, err, line)
		records = append(records, r)
	}
	return records
}
