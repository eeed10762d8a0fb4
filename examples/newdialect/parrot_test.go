package newdialect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/examples/newdialect"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// captured is one file of testdata: a frame, where it is from, and what the
// dialect makes of it. testdata/README.md says more.
type captured struct {
	Source, Package, Version, Why string
	Frame                         json.RawMessage
	Want                          struct {
		Claim  string
		Reason pipeline.Reason
		Absent bool
	}
}

func TestParrot(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.Len(t, files, 4, "accepted, absent, malformed, contradicting")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var c captured
			require.NoError(t, json.Unmarshal(text, &c))

			message, err := acp.NewDecoder(acp.Options{}).FromAgent(c.Frame)
			require.NoError(t, err)
			claim, err := newdialect.New().Claim(&message.Offer.Request)
			if c.Want.Reason == "" {
				require.NoError(t, err)
				assert.Equal(t, pipeline.ClaimName(c.Want.Claim), claim)
				return
			}
			assert.Equal(t, dialects.Error{Reason: c.Want.Reason, Absent: c.Want.Absent}, err)
		})
	}
}
