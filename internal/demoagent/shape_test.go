package demoagent

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// captured are frames of the real claude-agent-acp 0.101.0.
const captured = "../../dialects/testdata/claude-acp/0.101.0-v1.json"

// paths are the members of a value with their types. What is below rawInput is
// the tool's own.
func paths(at string, v any) []string {
	switch v := v.(type) {
	case object:
		all := []string{at + " object"}
		for key, member := range v {
			if key == "rawInput" {
				all = append(all, at+"."+key)
				continue
			}
			all = append(all, paths(at+"."+key, member)...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	case []any:
		all := []string{at + " list"}
		for _, each := range v {
			all = append(all, paths(at+"[]", each)...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	case string:
		return []string{at + " string"}
	case float64:
		return []string{at + " number"}
	}
	return []string{at + " other"}
}

// A host sees from the demo agent what it sees from Claude: the same members of
// the same types, from the announcement of a call to the question.
func TestFramesHaveClaudesShape(t *testing.T) {
	data, err := os.ReadFile(captured)
	require.NoError(t, err)
	var file struct {
		Lines []struct{ Frame object }
	}
	require.NoError(t, json.Unmarshal(data, &file))

	_, servers := twoServers(t)
	c := start(t, Options{})
	c.open(servers...)
	got := c.prompt("plan shell", always(selects("reject")))
	frames := map[string]object{}
	for _, f := range got.frames {
		frames[kindOf(f.object)] = f.object
	}
	checked := 0
	for _, line := range file.Lines {
		kind := kindOf(line.Frame)
		mine, ok := frames[kind]
		if !ok {
			continue
		}
		want := slices.DeleteFunc(paths("", line.Frame), func(p string) bool { // of a command that names a file
			return p == ".params.toolCall.locations list" || p == ".params.toolCall.locations[] object" || p == ".params.toolCall.locations[].path string"
		})
		assert.Equal(t, want, paths("", mine), kind)
		checked++
	}
	assert.GreaterOrEqual(t, checked, 6)
}

// kindOf says what a frame is: of a shell command or of an MCP tool, and which.
func kindOf(frame object) string {
	method, _ := frame["method"].(string)
	params, _ := frame["params"].(object)
	call, ok := params["toolCall"].(object)
	if !ok {
		call, _ = params["update"].(object)
	}
	update, _ := call["sessionUpdate"].(string)
	status, _ := call["status"].(string)
	of := "MCP"
	if _, commanded := call["content"].([]any); update == "tool_call_update" && commanded || call["kind"] == "execute" {
		of = "shell"
	}
	return of + " " + method + " " + update + " " + status
}
