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

// Lines of the client, which begin with ">", and of the agent.
func newSession(id, list string) string {
	return `>{"jsonrpc":"2.0","id":` + id + `,"method":"session/new","params":{"cwd":"/w","mcpServers":` + list + `}}`
}

func onSession(id, method, session, list string) string {
	return `>{"jsonrpc":"2.0","id":` + id + `,"method":"session/` + method + `","params":{"sessionId":"` + session + `","cwd":"/w","mcpServers":` + list + `}}`
}

func made(id, session string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"sessionId":"` + session + `"}}`
}

func done(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":null}` }

func failed(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32603,"message":"no"}}`
}

// hosts and others are the two server lists, as the decoder reads them.
func hosts() pipeline.ServerList {
	return pipeline.ServerList{Servers: []pipeline.Server{{Name: "kandev", Type: "http", URL: "http://localhost:41001/mcp"}}}
}

func others() pipeline.ServerList {
	return pipeline.ServerList{Servers: []pipeline.Server{{Name: "kandev", Type: "http", URL: "http://localhost:9/mcp"}}}
}

func known(lists ...pipeline.ServerList) pipeline.Session {
	return pipeline.Session{Announced: true, Lists: lists}
}

func untrusted(s pipeline.Session) pipeline.Session { s.Untrusted = true; return s }
func unsettled(s pipeline.Session) pipeline.Session { s.Unsettled = true; return s }

// unlisted is what is left of a list that could not be read.
var unlisted = pipeline.ServerList{}

// What is known of session s behind some lines.
func TestSessions(t *testing.T) {
	tests := map[string]struct {
		lines []string
		want  pipeline.Session
	}{
		"nothing was said":             {nil, pipeline.Session{}},
		"new":                          {[]string{newSession("1", hostsList), made("1", "s")}, known(hosts())},
		"new, with a string as its id": {[]string{newSession(`"a"`, hostsList), made(`"\u0061"`, "s")}, known(hosts())},
		"new, answered for another id": {[]string{newSession("1", hostsList), made(`"1"`, "s")}, pipeline.Session{}},
		"new, in other digits":         {[]string{newSession("1", hostsList), made(`1.0`, "s")}, pipeline.Session{}},
		"new, not answered yet":        {[]string{newSession("1", hostsList)}, pipeline.Session{}},
		"new, failed":                  {[]string{newSession("1", hostsList), failed("1")}, pipeline.Session{}},
		"new, without a list":          {[]string{`>{"id":1,"method":"session/new","params":{}}`, made("1", "s")}, known(pipeline.ServerList{})},
		"new, with null":               {[]string{newSession("1", "null"), made("1", "s")}, known(pipeline.ServerList{})},
		"fork, by its own list":        {[]string{newSession("1", hostsList), made("1", "r"), onSession("2", "fork", "r", otherList), made("2", "s")}, known(others())},
		"fork, its origin is the same": {[]string{newSession("1", hostsList), made("1", "s"), onSession("2", "fork", "s", otherList), made("2", "r")}, known(hosts())},
		"load":                         {[]string{onSession("1", "load", "s", hostsList), done("1")}, known(hosts())},
		"load, with an object":         {[]string{onSession("1", "load", "s", hostsList), `{"id":1,"result":{"modes":{}}}`}, known(hosts())},
		"load, of another session":     {[]string{onSession("1", "load", "r", hostsList), made("1", "s")}, pipeline.Session{Lists: []pipeline.ServerList{hosts()}}},
		"resume":                       {[]string{onSession("1", "resume", "s", hostsList), done("1")}, known(hosts())},
		"resume with another list":     {[]string{newSession("1", hostsList), made("1", "s"), onSession("2", "resume", "s", otherList), done("2")}, known(others())},
		"load, open":                   {[]string{newSession("1", hostsList), made("1", "s"), onSession("2", "load", "s", otherList)}, unsettled(known(hosts()))},
		"load, failed":                 {[]string{newSession("1", hostsList), made("1", "s"), onSession("2", "load", "s", otherList), failed("2")}, known(hosts())},
		"load of another, open":        {[]string{newSession("1", hostsList), made("1", "s"), onSession("2", "load", "r", otherList)}, known(hosts())},
		"answered out of order":        {[]string{newSession("1", hostsList), newSession("2", otherList), made("2", "r"), made("1", "s")}, known(hosts())},
		"two loads, both open":         {[]string{onSession("1", "load", "s", hostsList), onSession("2", "load", "s", hostsList)}, unsettled(pipeline.Session{})},
		"two loads, one after another": {[]string{onSession("1", "load", "s", otherList), done("1"), onSession("2", "load", "s", hostsList), done("2")}, known(hosts())},
		"two loads, overlapping":       {[]string{onSession("1", "load", "s", hostsList), onSession("2", "load", "s", hostsList), done("1"), done("2")}, untrusted(known(hosts()))},
		"overlapping, and then again":  {[]string{onSession("1", "load", "s", otherList), onSession("2", "resume", "s", otherList), done("1"), done("2"), onSession("3", "load", "s", hostsList), done("3")}, known(hosts())},
		"overlapping, both fail":       {[]string{newSession("1", hostsList), made("1", "s"), onSession("2", "load", "s", otherList), onSession("3", "load", "s", otherList), failed("2"), failed("3")}, known(hosts())},
		"an id used again, one open":   {[]string{newSession("1", hostsList), newSession("1", otherList), made("1", "s")}, untrusted(known(hosts()))},
		"an id used again, later":      {[]string{newSession("1", otherList), made("1", "r"), newSession("1", hostsList), made("1", "s")}, known(hosts())},
		"made twice":                   {[]string{newSession("1", hostsList), made("1", "s"), newSession("2", hostsList), made("2", "s")}, untrusted(known(hosts()))},
		"answered twice":               {[]string{newSession("1", hostsList), made("1", "s"), made("1", "s")}, known(hosts())},
		"the agent's own request":      {[]string{newSession("1", hostsList), `{"id":1,"method":"fs/read","params":{"sessionId":"s"}}`, made("1", "s")}, known(hosts())},
		"the agent asks like a client": {[]string{strings.TrimPrefix(newSession("1", hostsList), ">"), made("1", "s")}, pipeline.Session{}},
		"the client's response":        {[]string{newSession("1", hostsList), ">" + made("1", "s")}, pipeline.Session{}},
		"another method":               {[]string{`>{"id":1,"method":"session/list","params":{"mcpServers":` + hostsList + `}}`, made("1", "s")}, pipeline.Session{}},
		"an id of bad text":            {[]string{newSession(`"\ud800"`, hostsList), made(`"\ud800"`, "s")}, untrusted(pipeline.Session{})},
		"a method of two":              {[]string{strings.Replace(newSession("1", hostsList), `"params"`, `"method":"x","params"`, 1), made("1", "s")}, untrusted(known(unlisted))},
		"noise is no answer":           {[]string{onSession("1", "load", "s", otherList), "!noise:" + `{"id":1,"error":{x}}`}, unsettled(pipeline.Session{})},
		"an error that is null":        {[]string{newSession("1", hostsList), made("1", "s"), onSession("2", "load", "s", otherList), `{"id":2,"error":null}`}, untrusted(known(others()))},
		"an error and a result":        {[]string{onSession("1", "load", "s", hostsList), `{"id":1,"error":{},"result":{}}`}, untrusted(known(hosts()))},
		"an error twice":               {[]string{onSession("1", "load", "s", hostsList), `{"id":1,"error":{},"error":{}}`}, untrusted(known(hosts()))},
		"a result twice":               {[]string{onSession("1", "load", "s", hostsList), `{"id":1,"result":{},"result":null}`}, untrusted(known(hosts()))},
		"list: given twice":            {[]string{`>{"id":1,"method":"session/new","params":{"mcpServers":[],"mcpServers":` + hostsList + `}}`, made("1", "s")}, untrusted(known(unlisted))},
		"list: written differently":    {[]string{`>{"id":1,"method":"session/new","params":{"mcpServers":[],"mcp\u0053ervers":` + hostsList + `}}`, made("1", "s")}, untrusted(known(unlisted))},
		"list: in another case":        {[]string{`>{"id":1,"method":"session/new","params":{"McpServers":[],"mcpServers":` + hostsList + `}}`, made("1", "s")}, known(hosts())},
		"list: an object":              {[]string{newSession("1", `{}`), made("1", "s")}, untrusted(known(unlisted))},
		"list: of strings":             {[]string{newSession("1", `["kandev"]`), made("1", "s")}, untrusted(known(unlisted))},
		"list: an entry's url twice":   {[]string{newSession("1", `[{"name":"kandev","url":"a","url":"b"}]`), made("1", "s")}, untrusted(known(unlisted))},
		"list: bad bytes":              {[]string{newSession("1", "[{\"name\":\"\xff\"}]"), made("1", "s")}, untrusted(known(unlisted))},
		"list: a lone surrogate":       {[]string{newSession("1", `[{"name":"\ud800"}]`), made("1", "s")}, untrusted(known(unlisted))},
		"list: too deep":               {[]string{newSession("1", strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)), made("1", "s")}, untrusted(known(unlisted))},
		"params: an array":             {[]string{`>{"id":1,"method":"session/new","params":[]}`, made("1", "s")}, untrusted(known(unlisted))},
		"params: twice":                {[]string{`>{"id":1,"method":"session/new","params":{},"params":{"mcpServers":` + hostsList + `}}`, made("1", "s")}, untrusted(known(unlisted))},
		"session: of a wrong type":     {[]string{`>{"id":1,"method":"session/new","params":{"sessionId":5}}`, made("1", "s")}, untrusted(known(unlisted))},
		"any frame: with two sessions": {[]string{newSession("1", hostsList), made("1", "s"), `>{"id":2,"method":"session/prompt","params":{"sessionId":"r","sessionId":"s"}}`}, untrusted(known(hosts()))},
		"any frame: with one session":  {[]string{newSession("1", hostsList), made("1", "s"), `>{"id":2,"method":"session/prompt","params":{"sessionId":"r","sessionID":"s"}}`}, known(hosts())},
		"any frame: two lists":         {[]string{newSession("1", hostsList), made("1", "s"), `>{"id":2,"method":"session/prompt","params":{"mcpServers":[],"sessionId":"s","mcpServers":[]}}`}, untrusted(known(hosts()))},
		"any frame: one list":          {[]string{newSession("1", hostsList), made("1", "s"), `>{"id":2,"method":"session/prompt","params":{"sessionId":"s","mcpServers":[]}}`}, known(hosts())},
		"load, with a result beside":   {[]string{newSession("1", hostsList), made("1", "s"), `>{"id":2,"result":null,"method":"session/load","params":{"sessionId":"s","mcpServers":` + otherList + `}}`}, untrusted(known(others()))},
		"an error that is none":        {[]string{onSession("1", "load", "s", hostsList), `{"id":1,"error":false}`}, untrusted(known(hosts()))},
		"any frame: of others":         {[]string{newSession("1", hostsList), made("1", "s"), `>{"id":2,"method":"session/prompt","params":{"sessionId":"r","sessionId":"q"}}`}, known(hosts())},
		"any frame: params twice":      {[]string{newSession("1", hostsList), made("1", "s"), `>{"id":2,"method":"session/prompt","params":{},"params":{"sessionId":"s"}}`}, untrusted(known(hosts()))},
		"any frame: it stays so":       {[]string{newSession("1", hostsList), made("1", "s"), `>{"method":"session/cancel","params":{"sessionId":"s","sessionId":"s"}}`, onSession("3", "load", "s", hostsList), done("3")}, untrusted(known(hosts()))},
		"no id":                        {[]string{strings.Replace(onSession("1", "load", "s", hostsList), `"id":1,`, ``, 1)}, untrusted(known(hosts()))},
		"an id that is null":           {[]string{onSession("null", "load", "s", hostsList)}, untrusted(known(hosts()))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := acp.NewDecoder(acp.Options{})
			for _, line := range test.lines {
				if noise, is := strings.CutPrefix(line, "!noise:"); is {
					_, err := d.FromAgent([]byte(noise))
					require.ErrorIs(t, err, acp.ErrNoise)
					continue
				}
				feed(t, d, line)
			}
			assert.Equal(t, test.want, fromAgent(t, d, offerIn("s", ``)).Request.Session)
		})
	}
}

// L44: each session has the list that it was really given; what happens to the
// one is nothing to the other.
func TestL44_ListsPerSession(t *testing.T) {
	d := acp.NewDecoder(acp.Options{})
	one := func() pipeline.Session { return fromAgent(t, d, offerIn("one", ``)).Request.Session }
	two := func() pipeline.Session { return fromAgent(t, d, offerIn("two", ``)).Request.Session }
	feed(t, d, newSession("1", hostsList), newSession("2", hostsList), made("1", "one"), made("2", "two"))
	assert.Equal(t, known(hosts()), one())
	assert.Equal(t, known(hosts()), two())
	feed(t, d, onSession("3", "load", "two", otherList))
	assert.Equal(t, unsettled(known(hosts())), two(), "while it is open")
	assert.Equal(t, known(hosts()), one())
	feed(t, d, failed("3"))
	assert.Equal(t, known(hosts()), two(), "a failure changes nothing")
	feed(t, d, onSession("4", "resume", "two", otherList), done("4"))
	assert.Equal(t, known(others()), two())
	assert.Equal(t, known(hosts()), one())
	feed(t, d, onSession("5", "fork", "two", hostsList), made("5", "three"))
	assert.Equal(t, known(hosts()), fromAgent(t, d, offerIn("three", ``)).Request.Session)
	assert.Equal(t, known(others()), two(), "a fork does not change its origin")
	feed(t, d, `>{"id":6,"method":"session/load","params":{"sessionId":"zz","sessionId":"two","mcpServers":`+hostsList+`}}`)
	assert.True(t, two().Unsettled)
	feed(t, d, done("6"))
	assert.True(t, two().Untrusted, "a session given twice")
	assert.Equal(t, known(hosts()), one())
}

// L11: a session that was never announced may have the list of any live one, or
// of one that is being made.
func TestL11_SessionNeverAnnounced(t *testing.T) {
	lists := func(l ...pipeline.ServerList) pipeline.Session { return pipeline.Session{Lists: l} }
	tests := map[string]struct {
		lines []string
		want  pipeline.Session
	}{
		"no other session":             {nil, pipeline.Session{}},
		"one":                          {[]string{newSession("1", hostsList), made("1", "a")}, lists(hosts())},
		"two":                          {[]string{newSession("1", hostsList), made("1", "a"), newSession("2", hostsList), made("2", "b")}, lists(hosts(), hosts())},
		"one being made":               {[]string{newSession("1", hostsList), made("1", "a"), newSession("2", otherList)}, lists(hosts(), others())},
		"only one being made":          {[]string{newSession("1", hostsList)}, pipeline.Session{}},
		"one being loaded":             {[]string{newSession("1", hostsList), made("1", "a"), onSession("2", "load", "a", hostsList)}, unsettled(lists(hosts()))},
		"one untrusted":                {[]string{`>{"id":1,"method":"session/new","params":{"mcpServers":[],"mcpServers":[]}}`, made("1", "a")}, untrusted(lists(unlisted))},
		"one untrusted, being made":    {[]string{newSession("1", hostsList), made("1", "a"), `>{"id":2,"method":"session/new","params":{"mcpServers":[],"mcpServers":[]}}`}, untrusted(lists(hosts(), unlisted))},
		"one whose id cannot be read":  {[]string{newSession("1", hostsList), made("1", "a"), newSession("2", hostsList), `{"id":2,"result":{"sessionId":5}}`}, untrusted(lists(hosts()))},
		"one with two ids":             {[]string{newSession("1", hostsList), made("1", "a"), newSession("2", hostsList), `{"id":2,"result":{"sessionId":"b","sessionId":"c"}}`}, untrusted(lists(hosts()))},
		"one with an empty id":         {[]string{newSession("1", hostsList), made("1", "a"), newSession("2", hostsList), made("2", "")}, untrusted(lists(hosts()))},
		"one without a result":         {[]string{newSession("1", hostsList), made("1", "a"), newSession("2", hostsList), done("2")}, untrusted(lists(hosts()))},
		"one too deep to be read":      {[]string{newSession("1", hostsList), made("1", "a"), newSession("2", hostsList), `{"id":2,"result":{"sessionId":"b","x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}}`}, untrusted(lists(hosts()))},
		"one loaded under no id":       {[]string{newSession("1", hostsList), made("1", "a"), `>{"id":2,"method":"session/load","params":{"sessionId":5,"mcpServers":[]}}`, done("2")}, untrusted(lists(hosts()))},
		"a frame with two sessions":    {[]string{newSession("1", hostsList), made("1", "a"), `>{"method":"session/cancel","params":{"sessionId":"x","sessionId":"y"}}`}, untrusted(lists(hosts()))},
		"an alarm in another session":  {[]string{newSession("1", hostsList), made("1", "a"), updateIn("a", `{"sessionUpdate":"tool_call","toolCallId":"alarm.kandev","status":"failed"}`)}, pipeline.Session{Lists: []pipeline.ServerList{hosts()}, StartupAlarm: true}},
		"its own load failed":          {[]string{newSession("1", hostsList), made("1", "a"), onSession("2", "load", "sub", otherList), failed("2")}, lists(hosts())},
		"it was named to a tool call":  {[]string{newSession("1", hostsList), made("1", "a"), updateIn("sub", `{"sessionUpdate":"tool_call","toolCallId":"c"}`)}, lists(hosts())},
		"its id is taken when made":    {[]string{newSession("1", hostsList), made("1", "sub")}, known(hosts())},
		"the same, for another method": {[]string{newSession("1", hostsList), made("1", "a"), `>{"id":2,"method":"session/prompt","params":{"sessionId":"sub"}}`}, lists(hosts())},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := acp.NewDecoder(acp.Options{Dialect: observer{}})
			feed(t, d, test.lines...)
			o := fromAgent(t, d, offerIn("sub", ``))
			require.NotNil(t, o, "never dropped")
			assert.Equal(t, "sub", o.Request.SessionID)
			assert.Equal(t, test.want, o.Request.Session)
		})
	}
}

// Beyond the bounds nothing is trusted any more, and nothing is forgotten that
// would make an answer wrong.
func TestSessionsBounds(t *testing.T) {
	open := acp.NewDecoder(acp.Options{})
	feed(t, open, newSession("0", hostsList), made("0", "s"))
	for i := 1; i <= 1_500; i++ {
		feed(t, open, newSession(fmt.Sprint(i), hostsList))
	}
	assert.True(t, fromAgent(t, open, offerIn("s", ``)).Request.Session.Untrusted)

	many := acp.NewDecoder(acp.Options{})
	for i := range 500 {
		feed(t, many, newSession("1", hostsList), made("1", fmt.Sprintf("s%d", i)))
	}
	assert.Equal(t, known(hosts()), fromAgent(t, many, offerIn("s0", ``)).Request.Session)
	for i := range 4_500 {
		feed(t, many, newSession("1", `[]`), made("1", fmt.Sprintf("t%d", i)))
	}
	assert.True(t, fromAgent(t, many, offerIn("s0", ``)).Request.Session.Untrusted)

	doubts := acp.NewDecoder(acp.Options{})
	feed(t, doubts, newSession("1", hostsList), made("1", "s"))
	for i := range 4_500 {
		feed(t, doubts, fmt.Sprintf(`>{"method":"session/cancel","params":{"sessionId":"x%d","sessionId":"y"}}`, i))
	}
	assert.True(t, fromAgent(t, doubts, offerIn("s", ``)).Request.Session.Untrusted)

	alarms := acp.NewDecoder(acp.Options{Dialect: observer{}})
	feed(t, alarms, newSession("1", hostsList), made("1", "s"))
	for i := range 4_500 {
		feed(t, alarms, updateIn(fmt.Sprintf("s%d", i), `{"sessionUpdate":"tool_call","toolCallId":"alarm.kandev","status":"failed"}`))
	}
	assert.True(t, fromAgent(t, alarms, offerIn("s", ``)).Request.Session.Untrusted)
}
