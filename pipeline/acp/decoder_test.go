package acp_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// What both directions return for lines that are no offers.
func TestDecoderMessages(t *testing.T) {
	tests := map[string]struct {
		line string
		kind acp.FrameKind
		err  error
	}{
		"a request":        {`{"id":1,"method":"fs/read_text_file"}`, acp.KindRequest, nil},
		"a notification":   {`{"method":"session/update","params":{}}`, acp.KindNotification, nil},
		"a response":       {`{"id":1,"result":{}}`, acp.KindResponse, nil},
		"no message":       {`{}`, acp.KindInvalid, nil},
		"blank":            {"\r", acp.KindInvalid, acp.ErrBlank},
		"noise":            {`npm notice`, acp.KindInvalid, acp.ErrNoise},
		"a batch":          {`[` + offerOf(`{"toolCallId":"c"}`) + `]`, acp.KindInvalid, acp.ErrBatch},
		"a session's list": {`{"id":1,"method":"session/load","params":{"sessionId":"s"}}`, acp.KindRequest, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := acp.NewDecoder(acp.Options{})
			m, err := d.FromAgent([]byte(test.line))
			assert.Equal(t, test.err, err)
			assert.Equal(t, test.kind, m.Kind)
			assert.Nil(t, m.Offer)
			f, err := d.FromClient([]byte(test.line), "")
			assert.Equal(t, test.err, err)
			assert.Equal(t, test.kind, f.Kind)
			if err == nil {
				assert.Equal(t, test.line, string(f.Line))
			}
		})
	}
	// An update that is no JSON is noise; it feeds nothing.
	d := acp.NewDecoder(acp.Options{})
	_, err := d.FromAgent([]byte(start(`,"name":nope`)))
	assert.ErrorIs(t, err, acp.ErrNoise)
	assert.Equal(t, plain(), fromAgent(t, d, offerIn("s", ``)))
	// An offer of the client is none.
	f, err := d.FromClient([]byte(offerIn("s", `,"name":"n"`)), "")
	require.NoError(t, err)
	assert.Equal(t, acp.MethodRequestPermission, f.Method)
	assert.Equal(t, plain(), fromAgent(t, d, offerIn("s", ``)))
}

// L34: nothing in a batch is dispatched, and the next line works.
func TestL34_Batch(t *testing.T) {
	d := acp.NewDecoder(acp.Options{Dialect: observer{}})
	m, err := d.FromAgent([]byte(`[` + offerIn("s", `,"name":"n"`) + `,` + start(`,"title":"t","name":"n"`) + `,` + updateIn("s", `{"sessionUpdate":"tool_call","toolCallId":"alarm.kandev","status":"failed"}`) + `]`))
	assert.ErrorIs(t, err, acp.ErrBatch)
	assert.Equal(t, acp.Message{}, m)
	_, err = d.FromClient([]byte(`[`+strings.TrimPrefix(onSession("1", "load", "s", hostsList), ">")+`]`), "")
	assert.ErrorIs(t, err, acp.ErrBatch)
	assert.Equal(t, plain(), fromAgent(t, d, offerIn("s", ``)), "as if nothing had come")
}

// L31: 12 MiB of arguments are decoded as usual and kept nowhere.
func TestL31_LargeArguments(t *testing.T) {
	large := strings.Repeat("s3cret ", 12<<20/7)
	many := `[` + strings.Repeat(`{"a":1,"a":"\ud800"},`, 2<<20/20) + `{}]`
	for _, raw := range []string{`{"command":"` + large + `"}`, many} {
		d := acp.NewDecoder(acp.Options{Dialect: observer{}})
		line := offerOf(`{"toolCallId":"c","rawInput":` + raw + `,"name":"n"}`)
		before := heap()
		o := fromAgent(t, d, line)
		fromAgent(t, d, start(`,"rawInput":`+raw))
		assert.Equal(t, plain(call(func(c *pipeline.ToolCall) { c.Name = given("n") })), o)
		assert.Less(t, heap(), before+2<<20)
		runtime.KeepAlive(line)
	}
}

// Lines up to the reader's cap are decoded; 64 MiB with bounded memory.
func TestDecoderLongestLine(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes 64 MiB")
	}
	raw := strings.Repeat("x", acp.DefaultMaxLine-1000)
	o := fromAgent(t, acp.NewDecoder(acp.Options{}), offerOf(`{"toolCallId":"c","rawInput":{"x":"`+raw+`"},"name":"n"}`))
	assert.Equal(t, plain(call(func(c *pipeline.ToolCall) { c.Name = given("n") })), o)
	// A long title, too, of which nothing is kept.
	o = fromAgent(t, acp.NewDecoder(acp.Options{}), offerOf(`{"toolCallId":"c","title":"`+raw[:4<<20]+`"}`))
	assert.Equal(t, plain(call(func(c *pipeline.ToolCall) { c.Title = pipeline.TooLong() })), o)
}

// L12: an offer that no update announced, and one without any prompt, are decided
// on what is known by then.
func TestL12_OfferBeforeEverything(t *testing.T) {
	d := acp.NewDecoder(acp.Options{})
	o := fromAgent(t, d, offerIn("s", `,"name":"n"`))
	assert.Equal(t, plain(call(func(c *pipeline.ToolCall) { c.Name = given("n") })), o)
	fromAgent(t, d, start(`,"title":"t"`))
	assert.Equal(t, plain(call(func(c *pipeline.ToolCall) { c.Name = given("n") })), o, "an update that follows changes nothing")
	feed(t, d, `>{"id":9,"method":"session/cancel","params":{"sessionId":"s"}}`)
	assert.Equal(t, "t", titleOf(fromAgent(t, d, offerIn("s", ``))))
}

func titleOf(o *acp.Offer) string {
	title, _ := o.Request.Call.Title.Value()
	return title
}

// Updates that are the replay of a session's history feed nothing.
func TestDecoderReplayedHistory(t *testing.T) {
	replayed, live := start(`,"title":"replayed"`), then(`,"kind":"live"`)
	tests := map[string]struct {
		lines         []string
		title         string
		contradictory bool
	}{
		"before the load is answered":   {[]string{onSession("1", "load", "s", hostsList), replayed, done("1")}, "", false},
		"behind its answer":             {[]string{onSession("1", "load", "s", hostsList), done("1"), replayed}, "replayed", false},
		"before the load is sent":       {[]string{replayed, onSession("1", "load", "s", hostsList), done("1")}, "replayed", false},
		"during the load of another":    {[]string{onSession("1", "load", "r", hostsList), replayed, done("1")}, "replayed", false},
		"during a resume":               {[]string{onSession("1", "resume", "s", hostsList), replayed, done("1")}, "replayed", false},
		"during a failed load":          {[]string{onSession("1", "load", "s", hostsList), replayed, failed("1")}, "", false},
		"an ambiguous update in it":     {[]string{onSession("1", "load", "s", hostsList), then(`,"x":1,"x":2`), done("1")}, "", false},
		"an ambiguous update behind it": {[]string{onSession("1", "load", "s", hostsList), done("1"), then(`,"x":1,"x":2`)}, "", true},
		"live, after a replay":          {[]string{onSession("1", "load", "s", hostsList), replayed, done("1"), live}, "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := acp.NewDecoder(acp.Options{})
			feed(t, d, test.lines...)
			o := fromAgent(t, d, offerIn("s", ``))
			assert.Equal(t, test.title, titleOf(o))
			assert.Equal(t, test.contradictory, o.Request.Call.Contradictory)
		})
	}
}

// What a line means at the moment in which it comes.
func TestDecoderTellsWhatAnUpdateIs(t *testing.T) {
	call := func(session, id, status string) string {
		return updateIn(session, `{"sessionUpdate":"tool_call","toolCallId":"`+id+`","status":"`+status+`"}`)
	}
	for name, test := range map[string]struct {
		before   []string
		line     string
		replayed bool
		alarmed  []string
	}{
		"a call":                    {nil, call("s", "c", "completed"), false, nil},
		"a failed start":            {nil, call("s", "alarm.kandev", "failed"), false, []string{"s"}},
		"a failed start, again":     {[]string{call("s", "alarm.kandev", "failed")}, call("s", "alarm.kandev", "failed"), false, nil},
		"in another session":        {[]string{call("s", "alarm.kandev", "failed")}, call("r", "alarm.kandev", "failed"), false, []string{"r"}},
		"a replayed call":           {[]string{onSession("1", "load", "s", hostsList)}, call("s", "c", "completed"), true, nil},
		"a replayed alarm":          {[]string{onSession("1", "load", "s", hostsList)}, call("s", "alarm.kandev", "failed"), true, []string{"s"}},
		"after the load":            {[]string{onSession("1", "load", "s", hostsList), done("1")}, call("s", "c", "completed"), false, nil},
		"another session meanwhile": {[]string{onSession("1", "load", "s", hostsList)}, call("r", "c", "completed"), false, nil},
		"a resume replays nothing":  {[]string{onSession("1", "resume", "s", hostsList)}, call("s", "c", "completed"), false, nil},
		"an ambiguous replay": {[]string{onSession("1", "load", "s", hostsList)},
			updateIn("s", `{"sessionUpdate":"tool_call","toolCallId":"alarm.kandev","status":"completed","status":"failed"}`), true, []string{"s"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := acp.NewDecoder(acp.Options{Dialect: observer{}})
			feed(t, d, test.before...)
			m, err := d.FromAgent([]byte(test.line))
			require.NoError(t, err)
			assert.Equal(t, test.replayed, m.Replayed)
			assert.Equal(t, test.alarmed, m.Alarmed)
		})
	}
}

// The startup alarm holds for its own session from then on, whatever follows.
func TestDecoderStartupAlarm(t *testing.T) {
	alarm := func(id, status string) string {
		return updateOf(`{"sessionUpdate":"tool_call","toolCallId":"` + id + `","status":"` + status + `"}`)
	}
	tests := map[string]struct {
		options acp.Options
		lines   []string
		want    bool
	}{
		"none":                      {acp.Options{Dialect: observer{}}, nil, false},
		"a failed start":            {acp.Options{Dialect: observer{}}, []string{alarm("alarm.kandev", "failed")}, true},
		"as an update":              {acp.Options{Dialect: observer{}}, []string{updateOf(`{"sessionUpdate":"tool_call_update","toolCallId":"alarm.kandev","status":"failed"}`)}, true},
		"of another server":         {acp.Options{Dialect: observer{}}, []string{alarm("alarm.docs", "failed")}, false},
		"of another reserved name":  {acp.Options{Dialect: observer{}, Reserved: "docs"}, []string{alarm("alarm.docs", "failed")}, true},
		"not failed":                {acp.Options{Dialect: observer{}}, []string{alarm("alarm.kandev", "completed")}, false},
		"no dialect that watches":   {acp.Options{}, []string{alarm("alarm.kandev", "failed")}, false},
		"it stays":                  {acp.Options{Dialect: observer{}}, []string{alarm("alarm.kandev", "failed"), alarm("alarm.kandev", "completed")}, true},
		"in an ambiguous update":    {acp.Options{Dialect: observer{}}, []string{updateOf(`{"sessionUpdate":"tool_call","toolCallId":"alarm.kandev","status":"completed","status":"failed"}`)}, true},
		"another ambiguous update":  {acp.Options{Dialect: observer{}}, []string{updateOf(`{"sessionUpdate":"tool_call","toolCallId":"c","status":"completed","status":"failed"}`)}, false},
		"in a replay":               {acp.Options{Dialect: observer{}}, []string{onSession("1", "load", "s", hostsList), alarm("alarm.kandev", "failed"), done("1")}, true},
		"in another session":        {acp.Options{Dialect: observer{}}, []string{newSession("1", hostsList), made("1", "s"), updateIn("r", `{"sessionUpdate":"tool_call","toolCallId":"alarm.kandev","status":"failed"}`)}, false},
		"where one list is for all": {acp.Options{Dialect: observer{}, EverySession: &pipeline.ServerList{}}, []string{alarm("alarm.kandev", "failed")}, true},
		"there, in another session": {acp.Options{Dialect: observer{}, EverySession: &pipeline.ServerList{}}, []string{updateIn("r", `{"sessionUpdate":"tool_call","toolCallId":"alarm.kandev","status":"failed"}`)}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := acp.NewDecoder(test.options)
			feed(t, d, test.lines...)
			assert.Equal(t, test.want, fromAgent(t, d, offerIn("s", ``)).Request.Session.StartupAlarm)
		})
	}
}

// One list for every session, whatever the client's frames say.
func TestDecoderEverySession(t *testing.T) {
	list := hosts()
	d := acp.NewDecoder(acp.Options{EverySession: &list})
	feed(t, d, newSession("1", otherList), made("1", "s"), onSession("2", "load", "r", otherList))
	for _, session := range []string{"s", "r", "never"} {
		assert.Equal(t, known(hosts()), fromAgent(t, d, offerIn(session, ``)).Request.Session)
	}
}

// The name of any offer counts for those behind it, in every session.
func TestDecoderNameSeen(t *testing.T) {
	const c = `"toolCallId":"c"`
	tests := map[string]struct {
		line string
		want bool
	}{
		"a name":                      {offerIn("r", `,"name":"n"`), true},
		"a name that is no string":    {offerIn("r", `,"name":5`), true},
		"an empty name":               {offerIn("r", `,"name":""`), true},
		"no name":                     {offerIn("r", `,"title":"t"`), false},
		"a null name":                 {offerIn("r", `,"name":null`), false},
		"a name in an update":         {start(`,"name":"n"`), false},
		"in ACP v2":                   {v2(`{"type":"tool_call","toolCall":{` + c + `,"name":"n"}}`), true},
		"of another subject":          {v2(`{"type":"command","name":"n","toolCall":{` + c + `,"name":"n"}}`), false},
		"an offer without options":    {request(`{"sessionId":"r","toolCall":{` + c + `,"name":"n"},"options":[]}`), true},
		"an unreadable offer":         {offerIn("r", `,"name":"n","x":1,"x":2`), true},
		"an unreadable one of v2":     {v2(`{"type":"tool_call","x":1,"x":1,"toolCall":{` + c + `,"name":"n"}}`), true},
		"an unreadable one, no name":  {offerIn("r", `,"x":1,"x":2`), false},
		"an unreadable one, null":     {offerIn("r", `,"name":null,"x":1,"x":2`), false},
		"an unreadable one, in _meta": {offerIn("r", `,"_meta":{"name":"n"},"x":1,"x":2`), false},
		"no id":                       {strings.Replace(offerIn("r", `,"name":"n"`), `"id":7,`, ``, 1), true},
		"an id that is null":          {strings.Replace(offerIn("r", `,"name":"n"`), `"id":7`, `"id":null`, 1), true},
		"a response":                  {strings.Replace(offerIn("r", `,"name":"n"`), `"id":7`, `"id":7,"result":1`, 1), false},
		"another method":              {strings.Replace(offerIn("r", `,"name":"n"`), `request_permission`, `request`, 1), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := acp.NewDecoder(acp.Options{})
			first := fromAgent(t, d, test.line)
			if first != nil {
				assert.False(t, first.Request.Session.NameSeen, "not for the offer itself")
			}
			assert.Equal(t, test.want, fromAgent(t, d, offerIn("s", ``)).Request.Session.NameSeen)
		})
	}
}

// Both directions may be fed at once.
func TestDecoderConcurrently(t *testing.T) {
	d := acp.NewDecoder(acp.Options{Dialect: observer{}})
	var group sync.WaitGroup
	group.Go(func() {
		for i := range 500 {
			_, err := d.FromClient([]byte(strings.TrimPrefix(onSession(fmt.Sprint(i), "load", "s", hostsList), ">")), "")
			assert.NoError(t, err)
		}
	})
	group.Go(func() {
		for i := range 500 {
			_, err := d.FromAgent([]byte(done(fmt.Sprint(i))))
			assert.NoError(t, err)
		}
	})
	group.Go(func() {
		for range 500 {
			_, err := d.FromAgent([]byte(start(`,"title":"t"`)))
			assert.NoError(t, err)
		}
	})
	for range 500 {
		m, err := d.FromAgent([]byte(offerIn("s", ``)))
		assert.NoError(t, err)
		assert.NotNil(t, m.Offer)
	}
	group.Wait()
}
