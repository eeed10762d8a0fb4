package acp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// numbered is a tool_call with a number as its id and name.
func numbered(session string, i int, more string) string {
	return updateIn(session, fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"c%d","name":"n%d"%s}`, i, i, more))
}

// nameOf asks about a numbered call and gives the effective name.
func nameOf(t testing.TB, d *acp.Decoder, session string, i int, own string) string {
	t.Helper()
	o := fromAgent(t, d, request(fmt.Sprintf(`{"sessionId":"%s","toolCall":{"toolCallId":"c%d"%s},"options":%s}`, session, i, own, yesNo)))
	if o.Request.Call.Contradictory {
		return "contradictory"
	}
	name, _ := o.Request.Call.Name.Value()
	return name
}

// At least 1,024 running calls of a session are held, and as many sessions. Beyond
// the bound, wherever it is, an offer needs its identity in its own frame: also one
// for a call that is still held.
func TestTrackerHoldsCalls(t *testing.T) {
	d := acp.NewDecoder(acp.Options{})
	for i := range 1024 {
		fromAgent(t, d, numbered("s", i, ``))
	}
	for i := range 1024 {
		require.Equal(t, fmt.Sprintf("n%d", i), nameOf(t, d, "s", i, ``))
	}
	last := 1024
	for ; nameOf(t, d, "s", 0, ``) == "n0"; last++ {
		require.Less(t, last, 1<<20, "the tracker has no bound")
		fromAgent(t, d, numbered("s", last, ``))
	}
	assert.Equal(t, "", nameOf(t, d, "s", last-1, ``), "lost: nothing is joined")
	assert.Equal(t, "own", nameOf(t, d, "s", 0, `,"name":"own"`))
	assert.Equal(t, "contradictory", nameOf(t, d, "s", last-1, `,"name":"own"`), "a name that is still known contradicts")
	fromAgent(t, d, numbered("s", last, ``))
	assert.Equal(t, "", nameOf(t, d, "s", last, ``), "a lost session stays lost")
	fromAgent(t, d, numbered("r", 1, ``))
	assert.Equal(t, "n1", nameOf(t, d, "r", 1, ``), "another session is not")
}

func TestTrackerHoldsSessions(t *testing.T) {
	d := acp.NewDecoder(acp.Options{})
	for i := range 64 {
		fromAgent(t, d, numbered(fmt.Sprintf("s%d", i), 1, ``))
	}
	for i := range 64 {
		require.Equal(t, "n1", nameOf(t, d, fmt.Sprintf("s%d", i), 1, ``))
	}
}

// Calls that ended make room, and are known to have ended for long.
func TestTrackerEndedCalls(t *testing.T) {
	d := acp.NewDecoder(acp.Options{})
	fromAgent(t, d, numbered("s", 0, ``))
	for i := 1; i <= 9_000; i++ {
		fromAgent(t, d, numbered("s", i, `,"status":"completed"`))
	}
	assert.Equal(t, "n0", nameOf(t, d, "s", 0, ``), "still running, nothing was lost")
	late := updateOf(`{"sessionUpdate":"tool_call_update","toolCallId":"c%d","name":"late"}`)
	for _, i := range []int{1, 2_000, 8_999, 9_000} {
		fromAgent(t, d, fmt.Sprintf(late, i))
		assert.Equal(t, "", nameOf(t, d, "s", i, ``), "an update of call %d that comes late", i)
	}
	fromAgent(t, d, numbered("s", 1, ``), fmt.Sprintf(late, 9_001))
	assert.Equal(t, "n1", nameOf(t, d, "s", 1, ``), "until it starts anew")
}

// An id that is too long to be kept costs the session what came before.
func TestTrackerLongIDs(t *testing.T) {
	id := func(n int) string { return strings.Repeat("i", n) }
	update := func(n int) string {
		return updateOf(`{"sessionUpdate":"tool_call","toolCallId":"` + id(n) + `","name":"n"}`)
	}
	offer := func(n int, own string) string {
		return request(`{"sessionId":"s","toolCall":{"toolCallId":"` + id(n) + `"` + own + `},"options":` + yesNo + `}`)
	}
	twice := func(session, call int) string {
		return updateIn(id(session), `{"sessionUpdate":"tool_call","toolCallId":"`+id(call)+`","x":1,"x":2}`)
	}
	const most = pipeline.MaxText
	name := func(lines ...string) (pipeline.Text, bool) {
		o := fromAgent(t, acp.NewDecoder(acp.Options{}), lines...)
		return o.Request.Call.Name, o.Request.Call.Contradictory
	}
	for _, test := range []struct {
		what          string
		lines         []string
		name          pipeline.Text
		contradictory bool
	}{
		{"the longest id", []string{update(most), offer(most, ``)}, given("n"), false},
		{"one byte more", []string{update(most + 1), offer(most+1, ``)}, pipeline.Text{}, false},
		{"with a name of its own", []string{update(most + 1), offer(most+1, `,"name":"m"`)}, given("m"), false},
		{"every call of the session", []string{update(1), update(most + 1), offer(1, ``)}, pipeline.Text{}, false},
		{"also those that come later", []string{update(most + 1), update(1), offer(1, ``)}, pipeline.Text{}, false},
		{"a long id in an ambiguous update", []string{update(1), twice(1, most+1), strings.ReplaceAll(offer(1, ``), `"s"`, `"i"`)}, pipeline.Text{}, false},
		{"the longest id in one", []string{twice(1, most), strings.ReplaceAll(offer(most, ``), `"s"`, `"i"`)}, pipeline.Text{}, true},
	} {
		got, contradictory := name(test.lines...)
		assert.Equal(t, test.name, got, test.what)
		assert.Equal(t, test.contradictory, contradictory, test.what)
	}

	// A session id that is too long to be told apart makes its calls contradictory;
	// one that cannot even be kept for that makes everything untrusted.
	inLong := func(n int) (bool, bool) {
		d := acp.NewDecoder(acp.Options{EverySession: &pipeline.ServerList{}})
		fromAgent(t, d, updateIn(id(n), `{"sessionUpdate":"tool_call","toolCallId":"c","name":"n"}`))
		o := fromAgent(t, d, offerIn(id(n), `,"name":"n"`))
		return o.Request.Call.Contradictory, fromAgent(t, d, offerIn("other", ``)).Request.Session.Untrusted
	}
	contradicts, distrusts := inLong(most)
	assert.False(t, contradicts || distrusts)
	contradicts, distrusts = inLong(most + 1)
	assert.True(t, contradicts && !distrusts)
	_, distrusts = inLong(10 * most)
	assert.True(t, distrusts)
}

// An ambiguous update is about every call that it could name.
func TestTrackerSeveralTargets(t *testing.T) {
	d := acp.NewDecoder(acp.Options{EverySession: &pipeline.ServerList{}})
	ambiguous := `{"method":"session/update","params":{"sessionId":"a","sessionId":"b","update":{"sessionUpdate":"tool_call","toolCallId":"c1","toolCallId":"c\u0032"},"update":{"toolCallId":"c3"}}}`
	fromAgent(t, d, ambiguous)
	for _, session := range []string{"a", "b", "c"} {
		for i := 1; i <= 4; i++ {
			want := "own"
			if session != "c" && i != 4 {
				want = "contradictory"
			}
			assert.Equal(t, want, nameOf(t, d, session, i, `,"name":"own"`), "%s %d", session, i)
		}
	}
	// Too many to tell: then nothing is trusted on this connection.
	many := func(n int) string {
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprintf(`"toolCallId":"c%d"`, i))
		}
		return updateOf(`{"sessionUpdate":"tool_call",` + strings.Join(ids, ",") + `}`)
	}
	o := fromAgent(t, d, many(30), offerIn("x", ``))
	assert.False(t, o.Request.Session.Untrusted)
	o = fromAgent(t, d, many(100), offerIn("x", ``))
	assert.True(t, o.Request.Session.Untrusted)
}

// What a dialect keeps of rawInput: short strings of its direct members.
func TestTrackerRawInput(t *testing.T) {
	long := strings.Repeat("x", pipeline.MaxText+1)
	text, tooLarge := pipeline.MetaText, pipeline.MetaOf(pipeline.MetaTooLarge)
	var many []string
	for i := range 5000 {
		many = append(many, fmt.Sprintf(`"%d":1`, i))
	}
	tests := map[string]struct {
		raw  string
		want pipeline.Meta
	}{
		"strings":                {`{"server":"s","tool":"\u0074"}`, object(member("server", text("s")), member("tool", text("t")))},
		"deeper values":          {`{"a":{"b":1},"c":[1],"d":null,"e":true,"f":false,"g":1}`, object(member("a", tooLarge), member("c", pipeline.MetaOf(pipeline.MetaArray)), member("d", pipeline.MetaOf(pipeline.MetaNull)), member("e", pipeline.MetaOf(pipeline.MetaTrue)), member("f", pipeline.MetaOf(pipeline.MetaFalse)), member("g", pipeline.MetaOf(pipeline.MetaNumber)))},
		"a long string":          {`{"server":"` + long + `","tool":"t"}`, object(member("server", tooLarge), member("tool", text("t")))},
		"a lone surrogate":       {`{"server":"\ud800","tool":"t"}`, object(member("server", tooLarge), member("tool", text("t")))},
		"bad bytes":              {"{\"server\":\"\xff\",\"tool\":\"t\"}", object(member("server", tooLarge), member("tool", text("t")))},
		"a duplicate key":        {`{"server":"s","server":"s"}`, tooLarge},
		"written differently":    {`{"server":"s","s\u0065rver":"s"}`, tooLarge},
		"a duplicate deeper":     {`{"server":"s","a":{"b":1,"b":2}}`, object(member("server", text("s")), member("a", tooLarge))},
		"a long key":             {`{"` + long + `":1}`, tooLarge},
		"a bad key":              {`{"\ud800":1}`, tooLarge},
		"many members":           {`{` + strings.Join(many, ",") + `}`, tooLarge},
		"an array":               {`["s"]`, pipeline.MetaOf(pipeline.MetaArray)},
		"a string":               {`"s"`, text("s")},
		"null":                   {`null`, pipeline.MetaOf(pipeline.MetaNull)},
		"nothing":                {``, pipeline.Meta{}},
		"an object without keys": {`{}`, object()},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			raw := `,"rawInput":` + test.raw
			if test.raw == "" {
				raw = ""
			}
			for _, change := range []func(string) string{func(s string) string { return s }, padded} {
				var seen recorder
				fromAgent(t, acp.NewDecoder(acp.Options{Dialect: &seen}), change(start(raw)))
				assert.Equal(t, recorder{{ID: "c", Start: true, RawInput: test.want}}, seen)
			}
		})
	}
}

// recorder keeps what an observer sees.
type recorder []pipeline.ToolCallUpdate

func (r *recorder) Observe(u *pipeline.ToolCallUpdate, f pipeline.DialectFacts) pipeline.DialectFacts {
	*r = append(*r, *u)
	f.Tool += u.Status + "."
	return f
}

// An observer sees each update of a running call once, and its facts stay with
// the call until it ends; also when it starts anew.
func TestTrackerFacts(t *testing.T) {
	var seen recorder
	d := acp.NewDecoder(acp.Options{Dialect: &seen})
	facts := func(lines ...string) pipeline.DialectFacts {
		return fromAgent(t, d, append(lines, offerIn("s", ``))...).Request.Call.Facts
	}
	assert.Equal(t, pipeline.DialectFacts{}, facts())
	assert.Equal(t, pipeline.DialectFacts{Tool: "a."}, facts(start(`,"status":"a"`)))
	assert.Equal(t, pipeline.DialectFacts{Tool: "a.b."}, facts(then(`,"status":"b","_meta":{"x":"1"}`)))
	assert.Equal(t, pipeline.DialectFacts{Tool: "a.b.c."}, facts(start(`,"status":"c"`)), "anew, and known")
	assert.Equal(t, pipeline.DialectFacts{}, facts(then(`,"status":"failed"`)))
	assert.Equal(t, pipeline.DialectFacts{}, facts(then(`,"status":"late"`)))
	assert.Equal(t, pipeline.DialectFacts{Tool: "d."}, facts(start(`,"status":"d"`)), "anew, and forgotten")
	assert.Equal(t, pipeline.DialectFacts{Tool: "d."}, facts(then(`,"x":1,"x":2`)), "an ambiguous update is not seen")
	assert.Equal(t, recorder{
		{ID: "c", Start: true, Status: "a"},
		{ID: "c", Status: "b", Meta: object(member("x", pipeline.MetaText("1")))},
		{ID: "c", Start: true, Status: "c"},
		{ID: "c", Status: "failed"},
		{ID: "c", Start: true, Status: "d"},
	}, seen)
}
