package acp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What may be an update of a tool call is found on the way through the line,
// however it is written; what is not one costs no second look.
func TestWhatMayBeAToolCall(t *testing.T) {
	for line, want := range map[string]bool{
		`{"params":{"update":{"sessionUpdate":"tool_call"}}}`:                                     true,
		`{"params":{"update":{"sessionUpdate":"tool_call_update"}}}`:                              true,
		`{"params":{"update":{"sessionUpdate":"agent_message_chunk"}}}`:                           false,
		`{"params":{"update":{"sessionUpdate":"agent_message_chunk","text":"tool_call \u0041"}}}`: false,
		`{"params":{"update":{"sessionUpdate":"t\u006fol_call"}}}`:                                true,
		`{"params":{"update":{"session\u0055pdate":"tool_call"}}}`:                                true,
		`{"params":{"\u0075pdate":{"sessionUpdate":"tool_call"}}}`:                                true,
		`{"p\u0061rams":{"update":{"sessionUpdate":"tool_call"}}}`:                                true,
		`{"params":{"update":{"sessionUpdate":"plan","sessionUpdate":"tool_call"}}}`:              true,
		`{"params":{"update":{"sessionUpdate":"tool_call","sessionUpdate":"plan"}}}`:              true,
		`{"params":{"update":{},"update":{"sessionUpdate":"tool_call"}}}`:                         true,
		`{"params":{},"params":{"update":{"sessionUpdate":"tool_call"}}}`:                         true,
		`{"params":{"update":{"x":{"sessionUpdate":"tool_call"}}}}`:                               false,
		`{"params":{"update":["sessionUpdate","tool_call"]}}`:                                     false,
		`{"params":["update"]}`:                                false,
		`{"params":{"update":{"sessionUpdate":"plan" "x":1}}}`: true, // cannot be walked
		`{"update":{"sessionUpdate":"tool_call"}}`:             false,
	} {
		f, err := Peek([]byte(line))
		require.NoError(t, err, line)
		assert.Equal(t, want, f.toolCall, line)
	}
}

// Depth counts the same on both ways through params.
func TestDepthInParams(t *testing.T) {
	for _, form := range []string{`{"params":X}`, `{"params":{"a":X}}`, `{"params":{"update":X}}`, `{"params":{"update":{"a":X}}}`} {
		outer := strings.Count(form, "{")
		for _, deep := range []int{maxDepth, maxDepth + 1} {
			nested := strings.Repeat("[", deep-outer) + strings.Repeat("]", deep-outer)
			f, err := Peek([]byte(strings.Replace(form, "X", nested, 1)))
			require.NoError(t, err)
			assert.Equal(t, deep > maxDepth, f.deep, "%s %d", form, deep)
		}
	}
}
