package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/task"
)

type auditRecords struct {
	Records []struct {
		Time    string `json:"time"`
		Event   string `json:"event"`
		Request string `json:"request_id"`
		Reason  string `json:"reason"`
		Task    string `json:"task"`
		By      string `json:"by"`
		Surface string `json:"surface"`
	} `json:"records"`
}

// The end of the audit, for everybody and for somebody who may see a part of it.
func TestAuditTail(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	mine, theirs := p.start("mine", "shell"), p.start("theirs", "shell")
	first, second := p.opens(mine.ID), p.opens(theirs.ID)
	p.ask("permission.resolve", first.resolve(`{"choice":"deny"}`), nil)
	p.ask("permission.resolve", second.resolve(`{"choice":"deny"}`), nil)

	var whole, some, later, own auditRecords
	p.ask("audit.tail", "{}", &whole)
	require.Len(t, whole.Records, 4, "what was answered is written before the answer comes")
	assert.Equal(t, second.Request, whole.Records[3].Request)
	assert.Equal(t, "person_denied", whole.Records[3].Reason)
	p.ask("audit.tail", `{"limit":2}`, &some)
	assert.Equal(t, whole.Records[2:], some.Records)
	p.ask("audit.tail", fmt.Sprintf(`{"after":%q}`, whole.Records[2].Time), &later)
	assert.Equal(t, whole.Records[3:], later.Records)
	for _, payload := range []string{`{"after":"yesterday"}`, `{"limit":0}`, `{"limit":-1}`, `{"limit":1.5}`} {
		assert.Equal(t, "invalid_payload", p.refused("audit.tail", payload), payload)
	}

	r.dial(r.token("guest", all, string(mine.ID))).ask("audit.tail", "{}", &own)
	require.Len(t, own.Records, 2)
	for _, record := range own.Records {
		assert.Equal(t, first.Request, record.Request)
	}
}

// Who is limited to a task learns that an agent stopped it, and not which one: the id of
// the task above is not theirs. Who sees that one, too, learns it.
func TestAuditTailNamesNoTaskAbove(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	parent := p.start("parent", `create-child "shell"`)
	child := until(p, "task.changed", func(e taskEvent) bool { return e.Task.Parent == parent.ID }).Task
	p.opens(child.ID)
	p.settles(parent.ID, task.Idle)
	p.ask("task.prompt", fmt.Sprintf(`{"task":%q,"text":"stop-child"}`, parent.ID), nil)
	p.says(parent.ID, "Ran: stop_task_kandev of kandev.")
	for name, test := range map[string]struct {
		tasks []string
		by    string
	}{
		"of-the-child": {[]string{string(child.ID)}, ""}, "of-the-parent": {[]string{string(parent.ID)}, string(parent.ID)},
		"of-both": {[]string{string(child.ID), string(parent.ID)}, string(parent.ID)}, "of-everything": {nil, string(parent.ID)},
	} {
		var got auditRecords
		m, ok := r.dial(r.token(name, all, test.tasks...)).call("audit.tail", "{}")
		require.True(t, ok)
		require.NoError(t, json.Unmarshal(m.Result, &got))
		var stops int
		for _, record := range got.Records {
			if record.Event == string(audit.Stop) {
				stops++
				assert.Equal(t, [...]string{string(child.ID), test.by, "agent"}, [...]string{record.Task, record.By, record.Surface}, name)
			}
		}
		assert.Equal(t, 1, stops, name)
		assert.Equal(t, test.by != "", strings.Contains(string(m.Result), string(parent.ID)), name)
	}
}

// More than can be had at once is as much as can be had, and not less.
func TestAuditTailOfMany(t *testing.T) {
	r := begin(t, nil)
	for range maxRecords + 1 {
		r.audit.Append(audit.Record{Event: audit.Gap, Reason: audit.GapLineCut})
	}
	require.NoError(t, r.audit.Flush(t.Context(), r.audit.Stats()))
	p := r.dial(r.token("desk", all))
	for payload, want := range map[string]int{`{}`: defaultRecords, `{"limit":1}`: 1, `{"limit":500}`: 500, `{"limit":1000}`: maxRecords, `{"limit":1001}`: maxRecords} {
		var got auditRecords
		p.ask("audit.tail", payload, &got)
		assert.Len(t, got.Records, want, payload)
	}
}

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines")
	for most, want := range map[int64]string{100: "one\ntwo\nthree\n", 14: "one\ntwo\nthree\n", 13: "two\nthree\n", 7: "three\n", 3: "", 0: ""} {
		require.NoError(t, os.WriteFile(file, []byte("one\ntwo\nthree\n"), 0o600))
		got, err := tail(file, most)
		require.NoError(t, err)
		assert.Equal(t, want, string(got), most)
	}
	got, err := tail(filepath.Join(t.TempDir(), "none"), 10)
	assert.NoError(t, err)
	assert.Empty(t, got)
}
