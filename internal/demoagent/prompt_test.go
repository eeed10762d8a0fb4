package demoagent

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	type parsed struct{ word, text string }
	for prompt, want := range map[string]struct {
		orders  []parsed
		unknown []string
	}{
		"":                              {},
		"  \n\t ":                       {},
		"plan":                          {orders: []parsed{{"plan", ""}}},
		" Plan, then? shell.":           {orders: []parsed{{"plan", "then?"}, {"shell", ""}}},
		"plan\nother\tshell mixed help": {orders: []parsed{{"plan", ""}, {"other", ""}, {"shell", ""}, {"mixed", ""}, {"help", ""}}},
		`plan "shell" it`:               {orders: []parsed{{"plan", "shell it"}}},
		`plan "Write the notes" other`:  {orders: []parsed{{"plan", "Write the notes"}, {"other", ""}}},
		`plan "no end shell`:            {orders: []parsed{{"plan", "no end shell"}}},
		`plan"x"`:                       {unknown: []string{`plan"x"`}},
		"shell rm -rf":                  {orders: []parsed{{"shell", ""}}, unknown: []string{"rm", "-rf"}},
		`shell "rm -rf"`:                {orders: []parsed{{"shell", ""}}, unknown: []string{"rm -rf"}},
		"write a poem plan":             {orders: []parsed{{"plan", ""}}, unknown: []string{"write", "a", "poem"}},
		`plan "`:                        {orders: []parsed{{"plan", ""}}},
		"planner":                       {unknown: []string{"planner"}},
		`mixed "日本語" "two"`:             {orders: []parsed{{"mixed", "日本語 two"}}},
		"plan\u00a0shell":               {orders: []parsed{{"plan", ""}, {"shell", ""}}},
	} {
		orders, unknown := parse(prompt)
		var got []parsed
		for _, o := range orders {
			got = append(got, parsed{o.command.word, o.text})
		}
		assert.Equal(t, want.orders, got, "%q", prompt)
		assert.Equal(t, want.unknown, unknown, "%q", prompt)
	}
}

// What is not understood runs nothing, not even the part that is.
func TestNotUnderstood(t *testing.T) {
	ran, servers := twoServers(t)
	c := start(t, Options{})
	c.open(servers...)
	for prompt, said := range map[string]string{
		"":                  "I understand these words",
		"help":              "calls a tool of the first server",
		"write a poem plan": `I do not understand "write", so I did nothing.`,
		"shell rm":          `I do not understand "rm", so I did nothing.`,
		"日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語": "…",
	} {
		got := c.prompt(prompt, always(selects("allow-once")))
		assert.Contains(t, got.said, said)
		assert.Empty(t, got.asked)
		assert.Equal(t, "end_turn", got.stop)
	}
	id := c.request("session/prompt", object{"sessionId": c.session, "prompt": []object{
		{"type": "image", "data": "", "mimeType": "image/png"}, {"type": "text", "text": "help"}, {"type": "text", "text": "plan"},
	}})
	got := c.play(id, always(selects("allow-once")))
	assert.Empty(t, got.asked, "the first text block counts")
	assert.Contains(t, got.said, Help())
	assert.Empty(t, ran.all())
}

func TestHelpNamesEveryCommand(t *testing.T) {
	for _, c := range commands() {
		assert.Contains(t, Help(), "\n  "+c.word+" ")
		assert.Contains(t, Help(), c.does)
	}
}
