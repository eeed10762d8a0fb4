package replay

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each recording, replayed, gives exactly its expectations: in order, one line
// per request, every field that the expectation has.
func TestRecordings(t *testing.T) {
	for _, file := range recordings(t) {
		name, _ := filepath.Rel(filepath.Join("testdata", "recordings"), file)
		t.Run(name, func(t *testing.T) {
			want := read(t, strings.TrimSuffix(file, ".jsonl")+".want.jsonl")
			decisions, err := replay(t, read(t, file), Instance{})
			require.NoError(t, err)
			assert.Empty(t, differences(decisions, want))
			for _, d := range decisions {
				assert.NotEmpty(t, d.Reason)
				assert.NotEmpty(t, d.Stage)
			}
		})
	}
}

// Every folder of recordings is in the table of README.md, with the package and
// the version that stand in the headers.
func TestRecordingsNameTheirSource(t *testing.T) {
	readme := read(t, filepath.Join("testdata", "README.md"))
	for _, file := range recordings(t) {
		first, _, _ := strings.Cut(read(t, file), "\n")
		var e struct {
			Header struct{ Agent, Package, Version string }
		}
		require.NoError(t, json.Unmarshal([]byte(first), &e), file)
		row := "| `" + filepath.Base(filepath.Dir(file)) + "` | `" + e.Header.Agent + "` | `" + e.Header.Package + "` | " + e.Header.Version + " |"
		if e.Header.Package == "none" {
			row = "| `made` | `" + e.Header.Agent + "` | none: written by hand | – |"
		}
		assert.Contains(t, readme, row, file)
	}
}

// The check can fail: an expectation with one field changed is not met.
func TestRecordingsWithAWrongExpectation(t *testing.T) {
	const recording = "testdata/recordings/claude-agent-acp-0.101.0/allow.v1"
	decisions, err := replay(t, read(t, recording+".jsonl"), Instance{})
	require.NoError(t, err)
	right := read(t, recording+".want.jsonl")
	require.Empty(t, differences(decisions, right))
	for name, change := range map[string][2]string{
		"verdict":          {`"verdict":"select"`, `"verdict":"pend"`},
		"option":           {`"option":"allow-once"`, `"option":"allow-with-updates"`},
		"option of a pend": {`"option":null`, `"option":"allow-once"`},
		"tool":             {`"tool":"list_tasks"`, `"tool":"create_task"`},
		"id":               {`"id":1`, `"id":2`},
		"type of an id":    {`"id":1`, `"id":"1"`},
		"session":          {`"session":"`, `"session":"x`},
		"call":             {`"tool_call":"`, `"tool_call":"x`},
		"unknown field":    {`"verdict"`, `"nobody_knows":null,"verdict"`},
		"one more":         {"}\n", "}\n{\"id\":9,\"verdict\":\"pend\"}\n"},
		"one missing":      {right[:strings.Index(right, "\n")+1], ""},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := strings.Replace(right, change[0], change[1], 1)
			require.NotEqual(t, right, wrong)
			assert.NotEmpty(t, differences(decisions, wrong))
		})
	}
}

// An expectation in which two requests changed places is not met either.
func TestRecordingsInOrder(t *testing.T) {
	const recording = "testdata/recordings/claude-agent-acp-0.101.0/allow.v1"
	decisions, err := replay(t, read(t, recording+".jsonl"), Instance{})
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(read(t, recording+".want.jsonl")), "\n")
	lines[0], lines[1] = lines[1], lines[0]
	assert.NotEmpty(t, differences(decisions, strings.Join(lines, "\n")))
}

// What stood in a frame stays out of the decision but for ids and names: neither
// titles nor arguments nor labels are part of a decision line.
func TestDecisionLinesHoldNoArguments(t *testing.T) {
	decisions, err := replay(t, `{"header":{"agent":"claude-acp"}}
{"dir":"agent->client","frame":{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","name":"Bash","title":"s3cret","kind":"execute","rawInput":{"command":"s3cret"},"_meta":{"s3cret":"s3cret"}},"options":[{"optionId":"a","name":"s3cret","kind":"allow_once"}]}}}
`, Instance{})
	require.NoError(t, err)
	require.Len(t, decisions, 1)
	text, err := json.Marshal(decisions[0])
	require.NoError(t, err)
	assert.NotContains(t, string(text), "s3cret")
	assert.NotContains(t, decisions[0].Result.Explain(), "s3cret")
}
