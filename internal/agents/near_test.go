package agents

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestNear(t *testing.T) {
	for id, want := range map[string][]string{
		"claude":      {"claude-acp"},
		"claud-acp":   {"claude-acp"},
		"Claude-ACP":  {"claude-acp"},
		"codex_acp":   {"codex-acp"},
		"gemini":      {"gemini-acp"},
		"claude-acp":  nil, // known
		"gemini-acp":  nil,
		"my-agent":    nil,
		"a-b":         nil,
		"":            nil,
		"unheard-of!": nil,
	} {
		assert.Equal(t, want, Near(id), id)
	}
}

func TestNearOf(t *testing.T) {
	names := []string{"listen", "hosts", "data"}
	for name, want := range map[string][]string{"listem": {"listen"}, "host": {"hosts"}, "dota": {"data"}, "colour": nil, "": nil, "data_folder": nil} {
		assert.Equal(t, want, NearOf(name, names), name)
	}
}

func TestDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[abc]{0,6}`)
		a, b, c := text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "c")
		assert.Equal(t, a == b, distance(a, b) == 0)
		assert.Equal(t, distance(a, b), distance(b, a))
		assert.LessOrEqual(t, distance(a, c), distance(a, b)+distance(b, c))
		assert.Equal(t, 1, distance(a, a+"x"))
	})
}
