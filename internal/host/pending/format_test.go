package pending

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
)

// However a value is printed or logged, what the agent wrote is not in it.
func TestValuesHideWhatTheAgentWrote(t *testing.T) {
	const secret = "s3cr3t"
	s, w := newStore(t), &wire{}
	o := offer("i", "s", "1", w, pipeline.Option{ID: secret, Kind: secret, Label: secret})
	o.Request.Call.Title, o.Request.Call.ID = pipeline.NewText(secret), secret
	o.Frame = read(lineOf(`"title":"` + secret + `","rawInput":{"command":"` + secret + `"}`))
	key := register(t, s, o)
	snapshot, err := s.Get(key)
	assert.NoError(t, err)
	detail, err := s.Detail(key)
	assert.NoError(t, err)
	resolves(t, s, key, Select(secret))
	outcome := w.last(t)
	assert.Equal(t, secret, outcome.OptionID)

	request := string(key.Request)
	for want, v := range map[string]any{
		"offer of instance i": o,
		"option":              Select(secret),
		"select of request " + request + " (person_selected)":     outcome,
		"request " + request + " of instance i (nobody_approved)": snapshot,
		"1 options": snapshot.Options,
		"closed: request " + request + " of instance i (nobody_approved)": Event{Kind: Closed, Snapshot: snapshot, Outcome: outcome},
		"(hidden)": detail,
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			assert.Equal(t, want, fmt.Sprintf(verb, v))
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		assert.NotContains(t, log.String(), secret)
	}
}
