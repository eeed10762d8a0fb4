//go:build unix

package serve

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

	path := AuditFile(r.dir)
	require.NoError(t, os.Rename(path, path+".away"))
	require.NoError(t, os.Mkdir(path, 0o700))
	for range 2 {
		assert.Equal(t, "unavailable", p.refused("permission.resolve", offer.resolve(`{"choice":"deny"}`)))
	}
	assert.Equal(t, "already_resolved", p.refused("permission.resolve", offer.resolve(`{"choice":"allow"}`)))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Rename(path+".away", path))
	require.NoError(t, r.audit.Flush(t.Context()))
	var answered answeredResult
	p.ask("permission.resolve", offer.resolve(`{"choice":"deny"}`), &answered)
	assert.Equal(t, answeredResult{Answered: true, Already: true}, answered)
	records := r.records()
	assert.Equal(t, "person_denied", string(records[len(records)-1].Reason))
}
