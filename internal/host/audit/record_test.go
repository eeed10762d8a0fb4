package audit

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/pipeline"
)

// full has every member.
func full() Record {
	at := time.Date(2026, 11, 7, 10, 11, 12, 130, time.UTC)
	return Record{
		Time: at, Event: Answer, Run: "0123456789abcdef", Instance: "3", Agent: "claude-acp", Task: "task-1", Session: "s-1", Request: "r-7",
		Verdict: pipeline.Select, Stage: "pending", Reason: "person_allowed", OptionKind: pipeline.AllowOnce,
		Tool: tool("kandev", "create_task"), Kind: "execute", By: "anna", Surface: "terminal", Waited: 1500 * time.Millisecond,
		Net: Tripwire, Dropped: 4, Since: at.Add(-time.Minute),
	}
}

func encode(r Record) string {
	r = r.clean()
	return string(appendRecord(nil, &r))
}

func TestLine(t *testing.T) {
	assert.Equal(t, `{"time":"2026-11-07T10:11:12.000000130Z","event":"answer","run":"0123456789abcdef","instance":"3",`+
		`"agent":"claude-acp","task":"task-1","session":"s-1","request_id":"r-7","verdict":"select","stage":"pending","reason":"person_allowed",`+
		`"option_kind":"allow_once","server":"kandev","tool":"create_task","kind":"execute","by":"anna","surface":"terminal","waited_ms":1500,`+
		`"net":"tripwire","dropped":4,"since":"2026-11-07T10:10:12.000000130Z"}`+"\n", encode(full()))
}

// What is not in this list is never written: no title, label, option id, argument,
// metadata, header or environment.
func TestNothingElseIsWritten(t *testing.T) {
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(encode(full())), &line))
	assert.Equal(t, []string{
		"agent", "by", "dropped", "event", "instance", "kind", "net", "option_kind", "reason", "request_id", "run", "server",
		"session", "since", "stage", "surface", "task", "time", "tool", "verdict", "waited_ms",
	}, slices.Sorted(maps.Keys(line)))
	fields := reflect.VisibleFields(reflect.TypeFor[Record]())
	assert.Len(t, fields, 20, "a new member needs a bound in clean, a place in the line and in docs/audit.md")
}

func TestMembersOfOneEventOnly(t *testing.T) {
	r := full()
	r.Event = NetFired
	line := encode(r)
	assert.NotContains(t, line, "verdict")
	assert.NotContains(t, line, "waited_ms")
	r.Event, r.Waited = Answer, -time.Second
	assert.Contains(t, encode(r), `"waited_ms":0`, "an answer at once has waited, for no time")
}

func TestSetsAreClosed(t *testing.T) {
	line := encode(Record{
		Event: "hostile", Net: "hostile", Kind: "hostile", OptionKind: "hostile", Stage: "a stage of words", Reason: pipeline.Reason(strings.Repeat("x", 65)),
		Tool: pipeline.OtherIdentity(), Verdict: 77,
	})
	assert.Equal(t, `{"time":"0001-01-01T00:00:00.000000000Z","event":"other","stage":"other","reason":"other","option_kind":"other","kind":"other","net":"other"}`+"\n", line)
}

func TestHostileTextIsEscaped(t *testing.T) {
	line := encode(Record{Event: Decision, Session: "a\n\"\\\x1b[31m\u202e\u009b\x7f🚀\xff"})
	assert.Contains(t, line, `"session":"a\u000a\"\\\u001b[31m\u202e\u009b\u007f\ud83d\ude80?"`)
}

func TestBounded(t *testing.T) {
	long := strings.Repeat("é", 500)
	assert.Equal(t, "short", bounded("short", 20))
	assert.Regexp(t, `^é{18}…[0-9a-f]{16}$`, bounded(long, 56))
	assert.NotEqual(t, bounded(long+"1", 56), bounded(long+"2", 56), "two sessions stay two")
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		limit := rapid.IntRange(32, 300).Draw(t, "limit")
		got := bounded(s, limit)
		if len(got) > limit || !utf8.ValidString(got) || bounded(got, limit) != got {
			t.Fatalf("%q", got)
		}
	})
}

// anyRecord draws records as hostile agents and clumsy hosts would make them.
func anyRecord(t *rapid.T) Record {
	text := rapid.OneOf(rapid.String(), rapid.StringN(0, 400, 1500), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	at := rapid.Int64Range(0, 4e18)
	r := Record{
		Time: time.Unix(0, at.Draw(t, "time")), Event: rapid.SampledFrom([]Event{Decision, Answer, NetFired, Unasked, Gap, Stop, Interrupt, Question, "x"}).Draw(t, "event"),
		Run: text.Draw(t, "run"), Instance: text.Draw(t, "instance"), Agent: pipeline.Agent(text.Draw(t, "agent")),
		Task: text.Draw(t, "task"), Session: text.Draw(t, "session"), Request: text.Draw(t, "request"), Verdict: pipeline.Verdict(rapid.IntRange(0, 5).Draw(t, "verdict")),
		Stage: pipeline.Name(text.Draw(t, "stage")), Reason: pipeline.Reason(text.Draw(t, "reason")), OptionKind: text.Draw(t, "kind"),
		By: text.Draw(t, "by"), Surface: text.Draw(t, "surface"), Waited: time.Duration(rapid.Int64().Draw(t, "waited")),
		Net: Net(text.Draw(t, "net")), Dropped: rapid.Uint64().Draw(t, "dropped"),
	}
	if rapid.Bool().Draw(t, "named") {
		r.Tool = tool(rapid.StringMatching(`[a-z]{1,128}`).Draw(t, "server"), rapid.StringMatching(`[a-z]{1,128}`).Draw(t, "tool"))
	}
	if rapid.Bool().Draw(t, "gap") {
		r.Since = time.Unix(0, at.Draw(t, "since"))
	}
	return r
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRecord(t)
		line := encode(r)
		if len(line) > maxLine || strings.Count(line, "\n") != 1 {
			t.Fatalf("%d bytes: %q", len(line), line)
		}
		for _, c := range []byte(strings.TrimSuffix(line, "\n")) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q is not printable", c)
			}
		}
		if string(ASCII([]byte(strings.TrimSuffix(line, "\n"))))+"\n" != line {
			t.Fatalf("escaped again: %q", line)
		}
		got, err := Parse([]byte(line))
		if err != nil || got != r.clean() {
			t.Fatalf("%v\n%#v\n%#v", err, got, r.clean())
		}
	})
}

func TestParseRefuses(t *testing.T) {
	const begin = `{"time":"2026-11-07T10:11:12Z","event":"decision"`
	for _, c := range []struct {
		line string
		want error
	}{
		{``, errNoRecord},
		{`[]`, errNoRecord},
		{`{}`, errNoTime},
		{`null`, errNoTime},
		{`{"time":"yesterday","event":"decision"}`, errNoTime},
		{`{"Time":"2026-11-07T10:11:12Z","event":"decision"}`, errNoTime},
		{`{"time":"9999-12-31T23:59:59-01:00","event":"decision"}`, errNoTime},
		{`{"time":"2026-11-07T10:11:12Z"}`, errNoEvent},
		{begin + `,"event":"answer"}`, errNoRecord},
		{begin + `,"session":7}`, errNoRecord},
		{begin + `,"verdict":"continue"}`, errNoVerdict},
		{begin + `,"server":"kandev"}`, errNoTool},
		{begin + `,"server":"a__b","tool":"c"}`, errNoTool},
		{begin + `,"waited_ms":-1}`, errNoRecord},
		{begin + `,"waited_ms":18446744073709551615}`, errNoWait},
		{begin + `,"since":"x"}`, errNoTime},
		{begin + `}}`, errNoRecord},
		{begin, errNoRecord},
	} {
		_, err := Parse([]byte(c.line))
		assert.Equal(t, c.want, err, c.line)
	}
}

func TestParseTakesWhatLaterVersionsWrite(t *testing.T) {
	got, err := Parse([]byte(`{"time":"2026-11-07T11:11:12.5+01:00","event":"new","later":{"a":[1]}}` + "\r\n"))
	require.NoError(t, err)
	assert.Equal(t, Record{Time: time.Date(2026, 11, 7, 10, 11, 12, 5e8, time.UTC), Event: "new"}, got)
}

func TestASCII(t *testing.T) {
	assert.Equal(t, `{"a":"\u009b\u202e\ud83d\ude80","b":"\ufffd"}`, string(ASCII([]byte("{\"a\":\"\u009b\u202e🚀\",\"b\":\"\xff\"}"))))
}
