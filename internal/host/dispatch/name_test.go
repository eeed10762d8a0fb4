package dispatch

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestInternal(t *testing.T) {
	internal := []string{
		"mcp.", "mcp.stop_task", "mcp.not_there_yet", "mcp..", "MCP.stop_task", "Mcp.x", " mcp.x", "\tmcp.x", "\u00a0mcp.x", "\u2003mcp.x", "mcp.x ",
		"ｍｃｐ.stop_task", "mcp．stop_task", "mcp․stop_task", "mcp﹒stop_task", "ⅿⅽp.x", "ⅯⅭP.x", "𝐦𝐜𝐩.x", "ⓜⓒⓟ.x", "ᵐᶜᵖ.x",
		"m\u200bcp.x", "\ufeffmcp.x", "mc\u00adp.x", "mcp\u2060.x", "\u202emcp.x", "m\x00cp.x", "m\u034fcp.x", "mcp\ufe0f.x", "m\u115fcp.x", "\u200b mcp.x", " \u200bmcp.x",
		"mcp\U000e0001.x", "mcp…x",
	}
	public := []string{"", "mcp", "mcp_stop", "task.stop", "xmcp.stop", "task.mcp.stop", "m.cp", "mc p.x", "мсp.x" /* Cyrillic: no reading of it is mcp */, "mcṗ.x"}
	for _, name := range internal {
		assert.True(t, Internal(name), "%q", name)
	}
	for _, name := range public {
		assert.False(t, Internal(name), "%q", name)
	}
}

// However a name is disguised by what its canonical form takes away, it is internal;
// and the canonical form is its own.
func TestInternalProperties(t *testing.T) {
	hidden := rapid.SampledFrom([]string{"", "", "", "\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\x00", "\x1b", "\ufe0f", "\U000e0020"})
	space := rapid.SampledFrom([]string{"", " ", "\t", "\n", "\u00a0", "\u3000"})
	letters := map[rune][]string{'m': {"m", "M", "ｍ", "Ｍ", "ⅿ", "𝓂"}, 'c': {"c", "C", "ｃ", "ⅽ", "ℂ"}, 'p': {"p", "P", "ｐ", "ℙ"}, '.': {".", "．", "․"}}
	rapid.Check(t, func(t *rapid.T) {
		name := space.Draw(t, "space")
		for _, r := range "mcp." {
			name += hidden.Draw(t, "hidden") + rapid.SampledFrom(letters[r]).Draw(t, "letter")
		}
		name += rapid.String().Draw(t, "rest")
		assert.True(t, Internal(name), "%q", name)
	})
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		assert.Equal(t, canonical(name), canonical(canonical(name)), "%q", name)
	})
}

func FuzzInternal(f *testing.F) {
	f.Add("mcp.stop_task")
	f.Add("ｍ\u200bCP．x")
	f.Fuzz(func(t *testing.T, name string) {
		once := canonical(name)
		assert.Equal(t, once, canonical(once))
		assert.Equal(t, Internal(name), Internal(once))
	})
}
