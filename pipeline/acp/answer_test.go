package acp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// L24: the exact bytes of every answer, with the id as it came.
func TestL24_Answers(t *testing.T) {
	cancelled := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"outcome":{"outcome":"cancelled"}}}`
	}
	selected := func(id, option string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"outcome":{"outcome":"selected","optionId":` + option + `}}}`
	}
	offer := func(id string, ids ...string) *acp.Offer {
		o := &acp.Offer{ID: acp.NewID(id)}
		for _, option := range ids {
			o.Request.Options = append(o.Request.Options, pipeline.Option{ID: option})
		}
		return o
	}
	form := offer("7", "a")
	form.Reason = acp.ReasonUnreadable
	tests := map[string]struct{ got, want string }{
		"a number":                    {string(offer("0", "a").Select(0)), selected("0", `"a"`)},
		"a big number":                {string(offer("9007199254740993", "a").Select(0)), selected("9007199254740993", `"a"`)},
		"a fraction":                  {string(offer("1.50", "a").Select(0)), selected("1.50", `"a"`)},
		"a string":                    {string(offer(`"7"`, "a").Select(0)), selected(`"7"`, `"a"`)},
		"an escaped string":           {string(offer(`"\u0061\/"`, "a").Select(0)), selected(`"\u0061\/"`, `"a"`)},
		"the second option":           {string(offer("1", "a", "b").Select(1)), selected("1", `"b"`)},
		"twins":                       {string(offer("1", "a", "a").Select(1)), selected("1", `"a"`)},
		"an empty option id":          {string(offer("1", "").Select(0)), selected("1", `""`)},
		"quotes and control bytes":    {string(offer("1", "\"\\\n\x00\x7f").Select(0)), selected("1", "\"\\\"\\\\\\n\\u0000\x7f\"")},
		"text as it is":               {string(offer("1", "✓ <a&b> \u2028 😀").Select(0)), selected("1", "\"✓ <a&b> \u2028 😀\"")},
		"an index too far":            {string(offer("1", "a").Select(1)), cancelled("1")},
		"an index below":              {string(offer("1", "a").Select(-1)), cancelled("1")},
		"nothing offered":             {string(offer("1").Select(0)), cancelled("1")},
		"an option id of bad bytes":   {string(offer("1", "\xff").Select(0)), cancelled("1")},
		"an unreadable offer":         {string(form.Select(0)), cancelled("7")},
		"cancelled":                   {string(offer("0", "a").Cancelled()), cancelled("0")},
		"cancelled, a string":         {string(offer(`"x"`).Cancelled()), cancelled(`"x"`)},
		"the result select":           {string(offer("1", "a", "b").Answer(result(pipeline.Select, 1))), selected("1", `"b"`)},
		"the result select, too far":  {string(offer("1", "a", "b").Answer(result(pipeline.Select, 2))), cancelled("1")},
		"the result cancel":           {string(offer("1", "a").Answer(result(pipeline.Cancel, 0))), cancelled("1")},
		"the result pend: no answer":  {string(offer("1", "a").Answer(result(pipeline.Pend, 0))), ""},
		"the result continue: none":   {string(offer("1", "a").Answer(result(pipeline.Continue, 0))), ""},
		"the zero result: no answer":  {string(offer("1", "a").Answer(pipeline.Result{})), ""},
		"an unknown verdict: none":    {string(offer("1", "a").Answer(result(pipeline.Verdict(99), 0))), ""},
		"a batch":                     {string(acp.BatchRefusal()), `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not supported: send one message per line"}}`},
		"select under an own verdict": {string(form.Answer(result(pipeline.Select, 0))), cancelled("7")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, test.got)
			if test.want != "" {
				assert.True(t, json.Valid([]byte(test.got)))
			}
		})
	}
}

func result(v pipeline.Verdict, option int) pipeline.Result {
	return pipeline.Result{Decision: pipeline.Decision{Verdict: v, Option: option, Reason: "test"}}
}

// Answers do not share memory: each of them can be kept.
func TestAnswersAreApart(t *testing.T) {
	o := fromAgent(t, acp.NewDecoder(acp.Options{}), offerIn("s", ""))
	first, second := o.Select(0), o.Cancelled()
	copied := string(first)
	for i := range second {
		second[i] = 'x'
	}
	assert.Equal(t, copied, string(first))
	refusal := acp.BatchRefusal()
	refusal[0] = 'x'
	assert.NotEqual(t, refusal, acp.BatchRefusal())
}

// An offer does not point into its line: the reader uses the memory again.
func TestOffersOutliveTheirLine(t *testing.T) {
	d := acp.NewDecoder(acp.Options{Dialect: observer{}})
	feedCopy := func(line string) *acp.Offer {
		memory := []byte(line)
		m, err := d.FromAgent(memory)
		require.NoError(t, err)
		for i := range memory {
			memory[i] = '#'
		}
		return m.Offer
	}
	feedCopy(updateOf(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"earlier title","rawInput":{"server":"some server","tool":"some tool"},"_meta":{"key of it":"text of it"}}`))
	o := feedCopy(strings.Replace(offerIn("s", `,"name":"programmatic name","kind":"kind of it"`), `"id":7`, `"id":"id of it"`, 1))
	want := plain(call(func(c *pipeline.ToolCall) {
		c.Name, c.Title, c.Kind = given("programmatic name"), given("earlier title"), given("kind of it")
		c.Meta = object(member("key of it", pipeline.MetaText("text of it")))
		c.Facts = pipeline.DialectFacts{Server: "some server", Tool: "some tool"}
	}))
	want.ID = acp.NewID(`"id of it"`)
	assert.Equal(t, want, o)
}

// observer keeps server and tool of the last rawInput.
type observer struct{}

func (observer) Observe(u *pipeline.ToolCallUpdate, f pipeline.DialectFacts) pipeline.DialectFacts {
	if u.RawInput.Given() {
		f.Server, _ = u.RawInput.Get("server").Text()
		f.Tool, _ = u.RawInput.Get("tool").Text()
	}
	return f
}

// StartupFailed is the startup alarm of the tests.
func (observer) StartupFailed(u *pipeline.ToolCallUpdate, server string) bool {
	return u.Status == "failed" && u.ID == "alarm."+server
}
