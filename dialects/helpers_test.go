package dialects_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
)

// outcome is everything a dialect can say about a request, to be compared whole.
type outcome struct {
	claim pipeline.Claim
	err   error
}

func said(name string) outcome              { return outcome{claim: pipeline.ClaimName(name)} }
func saidApart(server, tool string) outcome { return outcome{claim: pipeline.ClaimTool(server, tool)} }

// silent is a reason to make no claim, wrong one to refuse the frames.
func silent(r pipeline.Reason) outcome {
	return outcome{err: dialects.Error{Reason: r, Absent: true}}
}

func wrong(r pipeline.Reason) outcome { return outcome{err: dialects.Error{Reason: r}} }

func claim(d dialects.Dialect, req *pipeline.Request) outcome {
	c, err := d.Claim(req)
	return outcome{claim: c, err: err}
}

// row is one request and what a dialect says about it.
type row struct {
	// twin names the row that differs from this one in a single thing and is
	// accepted; empty in rows that are accepted themselves.
	twin string
	req  pipeline.Request
	want outcome
}

// checkRows runs a table. Every refusing row needs an accepted twin, and every
// reason of the dialect a row.
func checkRows(t *testing.T, d dialects.Dialect, rows map[string]row, reasons []pipeline.Reason) {
	t.Helper()
	seen := map[pipeline.Reason]bool{}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, r.want, claim(d, &r.req))
			if r.want.err == nil {
				return
			}
			twin, ok := rows[r.twin]
			assert.Truef(t, ok && twin.want.err == nil, "the row needs an accepted twin; %q is none", r.twin)
			assert.NotEqual(t, twin.req, r.req, "the twin must differ")
			assert.Equal(t, r.want.err.(dialects.Error).Absent, errors.Is(r.want.err, dialects.ErrAbsent))
		})
		if e, ok := r.want.err.(dialects.Error); ok {
			seen[e.Reason] = true
		}
	}
	for _, reason := range reasons {
		assert.Truef(t, seen[reason], "no row for reason %q", reason)
	}
}

// object makes metadata from keys and values in turn.
func object(keysAndValues ...any) pipeline.Meta {
	members := make([]pipeline.Member, 0, len(keysAndValues)/2)
	for i := 0; i < len(keysAndValues); i += 2 {
		m, ok := keysAndValues[i+1].(pipeline.Meta)
		if !ok {
			m = pipeline.MetaText(keysAndValues[i+1].(string))
		}
		members = append(members, pipeline.Member{Key: keysAndValues[i].(string), Value: m})
	}
	return pipeline.NewMetaObject(members...)
}

var (
	null     = pipeline.MetaOf(pipeline.MetaNull)
	yes      = pipeline.MetaOf(pipeline.MetaTrue)
	no       = pipeline.MetaOf(pipeline.MetaFalse)
	number   = pipeline.MetaOf(pipeline.MetaNumber)
	array    = pipeline.MetaOf(pipeline.MetaArray)
	tooLarge = pipeline.MetaOf(pipeline.MetaTooLarge)
	missing  pipeline.Meta
)
