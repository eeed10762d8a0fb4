package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
)

// seenIn says in short what Read makes of a text.
func seenIn(t *testing.T, text string) (seen []string) {
	t.Helper()
	require.NoError(t, readLines("f", strings.NewReader(text), func(l Line) error {
		what := "record " + l.Record.Request
		switch {
		case l.Err != nil:
			what = l.Err.Error()
		case l.Record.Event == Gap:
			what = "gap"
		}
		seen = append(seen, fmt.Sprintf("%s:%d %s", l.File, l.Number, what))
		return nil
	}))
	return seen
}

func TestReadLines(t *testing.T) {
	one, two := encode(numberedRecord(1)), encode(numberedRecord(2))
	gap := encode(Record{Event: Gap, Reason: GapWriteFailed})
	const noRecord = " no record: not well-formed JSON, or a member of another type"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"whole":                        {one + two, []string{"f:1 record 1", "f:2 record 2"}},
		"carriage returns and blanks":  {"\n" + strings.ReplaceAll(one, "\n", "\r\n") + " \r\n" + two, []string{"f:2 record 1", "f:4 record 2"}},
		"last line without a line end": {one + strings.TrimSuffix(two, "\n"), []string{"f:1 record 1", "f:2 record 2"}},
		"last line cut":                {one + two[:50], []string{"f:1 record 1", "f:2 the line is cut"}},
		"cut, noted by the next run":   {one[:9] + "\n" + gap + two, []string{"f:1 the line is cut", "f:2 gap", "f:3 record 2"}},
		"cut, written on":              {one[:90] + two + one, []string{"f:1 the line is cut", "f:1 record 2", "f:2 record 1"}},
		"cut twice, written on":        {one[:90] + one[:30] + two, []string{"f:1 the line is cut", "f:1 record 2"}},
		"damaged":                      {one + "{}\n" + two, []string{"f:1 record 1", "f:2 no record: its time is missing or not in RFC 3339", "f:3 record 2"}},
		"damaged at the end":           {one + "garbage\n", []string{"f:1 record 1", "f:2" + noRecord}},
		"damaged twice before a gap":   {"garbage\ngarbage\n" + gap, []string{"f:1" + noRecord, "f:2 the line is cut", "f:3 gap"}},
		"too long":                     {one + strings.Repeat("x", 3*maxRead) + "\n" + two, []string{"f:1 record 1", "f:2 no record: the line is too long", "f:3 record 2"}},
		"too long, then a gap":         {strings.Repeat("x", maxRead+1) + "\n" + gap, []string{"f:1 no record: the line is too long", "f:2 gap"}},
		"too long at the end":          {strings.Repeat("x", maxRead+1), []string{"f:1 no record: the line is too long"}},
		"a text that looks like a start": {encode(Record{Event: Decision, Session: `{"time":"2026-01-01T00:00:00Z","event":"decision"}`, Request: "7"})[:140] + "\n",
			[]string{"f:1" + noRecord}},
		"nothing": {"", nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, seenIn(t, c.text)) })
	}
}

func TestReadEndsWithTheVisitor(t *testing.T) {
	stop := errors.New("enough")
	one := encode(numberedRecord(1))
	for name, text := range map[string]string{
		"record": one + one, "damaged, then a record": "x\n" + one, "damaged, then damaged": "x\ny\n", "damaged at the end": "x\n",
		"cut": "x", "cut, written on": one[:50] + one, "too long": strings.Repeat("x", 2*maxRead) + "\n", "damaged, then too long": "x\n" + strings.Repeat("x", 2*maxRead) + "\n",
	} {
		visits := 0
		err := readLines("f", strings.NewReader(text), func(Line) error { visits++; return stop })
		assert.Equal(t, stop, err, name)
		assert.Equal(t, 1, visits, name)
	}
}

func TestReadMissing(t *testing.T) {
	dir := t.TempDir()
	err := Read(filepath.Join(dir, "audit.jsonl"), nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorIs(t, Read(filepath.Join(dir, "no", "audit.jsonl"), nil), os.ErrNotExist)
	assert.Error(t, Read(dir, nil))
}

// Between two steps of a rotation there is no newest file.
func TestReadRotatedOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	require.NoError(t, os.WriteFile(numbered(path, 7), []byte(encode(numberedRecord(1))), 0o600))
	assert.Equal(t, []string{"1"}, requests(readAll(t, path)))
	assert.Equal(t, []string{"1"}, requests(readAll(t, numbered(path, 7))), "and one alone by its own name")
}

// A rotation while the log is being read neither hides nor repeats a record.
func TestReadDuringRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f, err := openFile(path, Options{MaxBytes: 1, Keep: -1}.withDefaults())
	require.NoError(t, err)
	next := 0
	write := func() {
		_, err := f.Write([]byte(encode(numberedRecord(next))))
		require.NoError(t, err)
		next++
	}
	for range 4 {
		write()
	}
	var got []string
	require.NoError(t, Read(path, func(l Line) error {
		require.NoError(t, l.Err)
		got = append(got, l.Record.Request)
		write()
		return nil
	}))
	require.NoError(t, f.Close())
	assert.Equal(t, numbers(0, len(got)), got)
	assert.GreaterOrEqual(t, len(got), 4)
	got = requests(readAll(t, path))
	assert.Equal(t, numbers(0, next), got)
}

// The rotation comes between the opening of the newest file and the listing.
func TestReadNewestRotatedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	require.NoError(t, os.WriteFile(numbered(path, 1), []byte(encode(numberedRecord(1))), 0o600))
	require.NoError(t, os.WriteFile(numbered(path, 2), []byte(encode(numberedRecord(2))), 0o600))
	newest, err := os.Open(numbered(path, 1))
	require.NoError(t, err)
	defer newest.Close()
	last, err := readRotated(numbered(path, 1), newest, func(Line) error { return nil })
	require.NoError(t, err)
	assert.True(t, last, "what was rotated later is newer than what is read")
	last, err = readRotated(numbered(path, 3), newest, nil)
	require.NoError(t, err, "it was pruned")
	assert.False(t, last)
}

func TestFilter(t *testing.T) {
	r := full()
	r.Tool = tool("kandev", "create_task")
	net := Record{Time: r.Time, Event: NetFired, Net: Tripwire}
	long := strings.Repeat("s", 1000)
	longer := Record{Time: r.Time, Event: Decision, Session: long}.clean()
	for name, c := range map[string]struct {
		filter Filter
		record Record
		want   bool
	}{
		"empty":            {Filter{}, r, true},
		"since, inclusive": {Filter{Since: r.Time}, r, true},
		"since, later":     {Filter{Since: r.Time.Add(1)}, r, false},
		"until, exclusive": {Filter{Until: r.Time}, r, false},
		"until, later":     {Filter{Until: r.Time.Add(1)}, r, true},
		"event":            {Filter{Events: []Event{Decision, Answer}}, r, true},
		"other event":      {Filter{Events: []Event{Decision}}, r, false},
		"verdict":          {Filter{Verdicts: []pipeline.Verdict{pipeline.Select}}, r, true},
		"other verdict":    {Filter{Verdicts: []pipeline.Verdict{pipeline.Pend, pipeline.Cancel}}, r, false},
		"no verdict":       {Filter{Verdicts: []pipeline.Verdict{pipeline.Pend}}, net, false},
		"stage":            {Filter{Stages: []pipeline.Name{"pending"}}, r, true},
		"other stage":      {Filter{Stages: []pipeline.Name{"option"}}, r, false},
		"reason":           {Filter{Reasons: []pipeline.Reason{"x", "person_allowed"}}, r, true},
		"other reason":     {Filter{Reasons: []pipeline.Reason{"person"}}, r, false},
		"agent":            {Filter{Agents: []pipeline.Agent{"claude-acp"}}, r, true},
		"other agent":      {Filter{Agents: []pipeline.Agent{"codex-acp"}}, r, false},
		"instance":         {Filter{Instances: []string{"3"}}, r, true},
		"other instance":   {Filter{Instances: []string{"33"}}, r, false},
		"session":          {Filter{Sessions: []string{"s-1"}}, r, true},
		"other session":    {Filter{Sessions: []string{"S-1"}}, r, false},
		"long session":     {Filter{Sessions: []string{long}}, longer, true},
		"longer session":   {Filter{Sessions: []string{long + "s"}}, longer, false},
		"request":          {Filter{Requests: []string{"r-7"}}, r, true},
		"other request":    {Filter{Requests: []string{"r-8"}}, r, false},
		"run":              {Filter{Runs: []string{r.Run}}, r, true},
		"other run":        {Filter{Runs: []string{"x"}}, r, false},
		"server":           {Filter{Servers: []string{"kandev"}}, r, true},
		"other server":     {Filter{Servers: []string{"other"}}, r, false},
		"tool":             {Filter{Tools: []string{"create_task"}}, r, true},
		"no tool":          {Filter{Tools: []string{"create_task"}}, net, false},
		"all of them":      {Filter{Since: r.Time.Add(-time.Second), Events: []Event{Answer}, Reasons: []pipeline.Reason{"denied"}}, r, false},
	} {
		assert.Equal(t, c.want, c.filter.Match(&c.record), name)
	}
}
