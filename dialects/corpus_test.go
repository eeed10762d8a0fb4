package dialects_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// captured is one file of the corpus; testdata/README.md says what it holds.
type captured struct {
	Source, Package, Version, Why string
	Agent                         pipeline.Agent
	Lines                         []line
	Want                          []want
}

type line struct {
	Dir   string
	Frame json.RawMessage
	Raw   string
}

type want struct {
	Claim  *struct{ Name, Server, Tool string }
	Reason pipeline.Reason
	Absent bool
}

func (w want) outcome() outcome {
	switch {
	case w.Claim == nil && w.Absent:
		return silent(w.Reason)
	case w.Claim == nil:
		return wrong(w.Reason)
	case w.Claim.Server != "" || w.Claim.Tool != "":
		return saidApart(w.Claim.Server, w.Claim.Tool)
	}
	return said(w.Claim.Name)
}

// corpus reads the files of one agent, by name.
func corpus(t testing.TB, agent pipeline.Agent) map[string]captured {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", string(agent), "*.json"))
	require.NoError(t, err)
	files := map[string]captured{}
	for _, name := range names {
		if filepath.Base(name) == "agent.json" {
			continue
		}
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		var c captured
		require.NoError(t, json.Unmarshal(data, &c), name)
		require.NotEmpty(t, c.Why, "%s: why", name)
		require.Equal(t, agent, c.Agent, "%s: agent", name)
		require.Contains(t, []string{"captured", "made"}, c.Source, name)
		files[filepath.Base(name)] = c
	}
	return files
}

// requests decodes the lines as the edge does and gives every permission request.
func requests(t testing.TB, d dialects.Dialect, lines []line) []pipeline.Request {
	t.Helper()
	dec := acp.NewDecoder(acp.Options{Dialect: d})
	var all []pipeline.Request
	for i, l := range lines {
		text := []byte(l.Raw)
		if l.Raw == "" {
			text = l.Frame
		}
		if l.Dir == "client->agent" {
			_, err := dec.FromClient(text, "")
			require.NoError(t, err, "line %d", i+1)
			continue
		}
		m, err := dec.FromAgent(text)
		require.NoError(t, err, "line %d", i+1)
		if m.Offer != nil {
			require.Empty(t, m.Offer.Reason, "line %d", i+1)
			all = append(all, m.Offer.Request)
		}
	}
	return all
}

// TestCorpus holds every dialect against the frames of its agent.
func TestCorpus(t *testing.T) {
	for _, d := range dialects.All() {
		for name, c := range corpus(t, d.Agent()) {
			t.Run(string(d.Agent())+"/"+name, func(t *testing.T) {
				reqs := requests(t, d, c.Lines)
				require.Len(t, reqs, len(c.Want), "one want for each permission request")
				for i := range reqs {
					assert.Equal(t, c.Want[i].outcome(), claim(d, &reqs[i]), "request %d: %s", i+1, c.Why)
				}
			})
		}
	}
}

// TestCorpusIsComplete: a dialect that claims something shows how its agent looks
// when it is accepted, silent, malformed and contradictory; one that claims
// nothing shows a captured request; and every version that is named has frames.
func TestCorpusIsComplete(t *testing.T) {
	type version struct {
		agent            pipeline.Agent
		packaged, number string
	}
	shown := map[version]bool{}
	for _, d := range dialects.All() {
		var accepted, absent, refused int
		for _, c := range corpus(t, d.Agent()) {
			if c.Source == "made" {
				assert.Empty(t, c.Package+c.Version)
			} else {
				shown[version{c.Agent, c.Package, c.Version}] = true
			}
			for _, w := range c.Want {
				switch {
				case w.Claim != nil:
					accepted++
				case w.Absent:
					absent++
				default:
					refused++
				}
			}
		}
		assert.Positive(t, absent, "%s: silent", d.Agent())
		if accepted > 0 {
			assert.GreaterOrEqual(t, refused, 2, "%s: malformed and contradictory", d.Agent())
		}
	}
	for _, a := range dialects.Tested() {
		assert.True(t, shown[version{a.Agent, a.Package, a.Version}], "no captured frames of %v", a)
	}
	assert.Len(t, shown, len(dialects.Tested()), "a version with frames is missing in an agent.json")
}

// The startup alarm, from the frames in which it was captured.
func TestCorpusStartupAlarm(t *testing.T) {
	d := dialects.NewCodex()
	for name, want := range map[string]bool{"2.6.0-server-not-started.json": true, "2.6.0.json": false} {
		for _, req := range requests(t, d, corpus(t, d.Agent())[name].Lines) {
			assert.Equal(t, want, req.Session.StartupAlarm, name)
		}
	}
}
