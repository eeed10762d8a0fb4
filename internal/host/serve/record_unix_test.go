//go:build unix

package serve

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/task"
)

// While the audit cannot be written nobody is told that an answer counts, neither at
// first nor when it is sent again; once it can, the same answer is told so.
func TestAnAnswerWithoutItsRecord(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	made := p.start("hello", "shell")
	offer := p.opens(made.ID)
	require.NotEmpty(t, r.records())

	restore := r.breakAudit()
	for range 2 {
		assert.Equal(t, "unavailable", p.refused("permission.resolve", offer.resolve(`{"choice":"deny"}`)))
	}
	assert.Equal(t, "already_resolved", p.refused("permission.resolve", offer.resolve(`{"choice":"allow"}`)))
	restore()
	require.NoError(t, r.audit.Flush(t.Context(), r.audit.Stats()))
	var answered answeredResult
	p.ask("permission.resolve", offer.resolve(`{"choice":"deny"}`), &answered)
	assert.Equal(t, answeredResult{Answered: true, Already: true}, answered)
	records := r.records()
	assert.Equal(t, "person_denied", string(records[len(records)-1].Reason))
}

// breakAudit lets nothing be written to the audit file until restore is called.
func (r *rig) breakAudit() (restore func()) {
	r.t.Helper()
	path := AuditFile(r.dir)
	require.NoError(r.t, os.Rename(path, path+".away"))
	require.NoError(r.t, os.Mkdir(path, 0o700))
	return func() {
		require.NoError(r.t, os.Remove(path))
		require.NoError(r.t, os.Rename(path+".away", path))
	}
}

// Of an answer whose record is lost nobody is told that it counts, ever: who asks, the
// log and readiness say so. The next answer, whose record is written, counts.
func TestAnAnswerWhoseRecordIsLost(t *testing.T) {
	r := begin(t, nil)
	p := r.dial(r.token("desk", all))
	p.watch()
	lost, kept := p.opens(p.start("hello", "shell").ID), p.opens(p.start("hello", "shell").ID)
	require.NotEmpty(t, r.records())
	require.NoError(t, r.ready.ask())

	restore := r.breakAudit()
	for r.audit.Stats().Dropped == 0 { // nothing has room any more
		r.audit.Append(audit.Record{Event: audit.Decision, Instance: "1"})
	}
	answer := lost.resolve(`{"choice":"deny"}`)
	m, ok := p.call("permission.resolve", answer)
	require.True(t, ok)
	require.NotNil(t, m.Error)
	assert.Equal(t, "internal", m.Error.Code)
	assert.Contains(t, m.Error.Message, "its audit record may be lost")
	assert.NotZero(t, r.log.Count("its audit record may be lost"))
	assert.Equal(t, errNoAudit, r.ready.ask())

	restore()
	require.NoError(t, r.audit.Flush(t.Context(), r.audit.Stats()))
	assert.Equal(t, "internal", p.refused("permission.resolve", answer), "it is lost for good")
	var answered answeredResult
	p.ask("permission.resolve", kept.resolve(`{"choice":"deny"}`), &answered)
	assert.Equal(t, answeredResult{Answered: true}, answered)
	require.NoError(t, r.ready.ask())
	var recorded []string
	for _, record := range r.records() {
		recorded = append(recorded, record.Request+" "+string(record.Reason))
	}
	assert.Contains(t, recorded, kept.Request+" person_denied")
	assert.NotContains(t, recorded, lost.Request+" person_denied")
}

// Nobody is told that a stop, a cancelled turn or an answered question counts before its
// record is written, although it does; with a disk that takes it everybody is told.
func TestActsWithoutTheirRecord(t *testing.T) {
	for name, broken := range map[string]bool{"broken": true, "written": false} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, nil)
			p := r.dial(r.token("desk", all))
			p.watch()
			waits, asks := p.start("waits", "shell"), p.start("asks", `ask "Which?"`)
			p.opens(waits.ID)
			asked := until(p, "question.opened", func(e struct {
				Question questionView `json:"question"`
			}) bool {
				return e.Question.Task == asks.ID
			}).Question
			require.NotEmpty(t, r.records())

			restore := func() {}
			if broken {
				restore = r.breakAudit()
			}
			for _, act := range [][2]string{
				{"task.cancel", fmt.Sprintf(`{"task":%q}`, waits.ID)}, {"task.stop", fmt.Sprintf(`{"task":%q}`, waits.ID)},
				{"question.answer", fmt.Sprintf(`{"question":%q,"answer":"this"}`, asked.ID)},
			} {
				if broken {
					assert.Equal(t, "unavailable", p.refused(act[0], act[1]), act[0])
				} else {
					p.ask(act[0], act[1], nil)
				}
			}
			assert.Equal(t, task.Stopped, r.stateOf(string(waits.ID)), "it counts all the same")
			restore()
			records := r.records()
			for _, event := range []audit.Event{audit.Interrupt, audit.Stop, audit.Question} {
				assert.Len(t, of(records, event), 1, event)
			}
		})
	}
}
