package acp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// start and then are updates of call c; more is further members.
func start(more string) string {
	return updateOf(`{"sessionUpdate":"tool_call","toolCallId":"c"` + more + `}`)
}

func then(more string) string {
	return updateOf(`{"sessionUpdate":"tool_call_update","toolCallId":"c"` + more + `}`)
}

// joined is what an offer's call has to be: name, title, kind, metadata.
func joined(name, title, kind string, m pipeline.Meta) *acp.Offer {
	text := func(s string) pipeline.Text {
		if s == "" {
			return pipeline.Text{}
		}
		return given(s)
	}
	return plain(call(func(c *pipeline.ToolCall) {
		c.Name, c.Title, c.Kind, c.Meta = text(name), text(title), text(kind), m
	}))
}

func contradictory(o *acp.Offer) *acp.Offer {
	o.Request.Call.Contradictory = true
	return o
}

// What an offer without members of its own gets from earlier updates.
func TestTrackerJoins(t *testing.T) {
	none := pipeline.Meta{}
	x := object(member("x", pipeline.MetaText("1")))
	const all = `,"name":"n","title":"t","kind":"k","_meta":{"x":"1"}`
	long := strings.Repeat("t", pipeline.MaxText+1)
	wrong := func(edit func(*pipeline.ToolCall)) *acp.Offer { return plain(call(edit)) }
	tests := map[string]struct {
		lines []string
		want  *acp.Offer
	}{
		"nothing came before":        {nil, plain()},
		"a tool_call":                {[]string{start(all)}, joined("n", "t", "k", x)},
		"only an update":             {[]string{then(all)}, joined("n", "t", "k", x)},
		"an update merges":           {[]string{start(`,"name":"n","title":"t"`), then(`,"kind":"k"`)}, joined("n", "t", "k", none)},
		"missing leaves what was":    {[]string{start(all), then(``)}, joined("n", "t", "k", x)},
		"null leaves what was":       {[]string{start(all), then(`,"name":null,"title":null,"kind":null,"_meta":null`)}, joined("n", "t", "k", x)},
		"a later title replaces":     {[]string{start(all), then(`,"title":"u","kind":"l"`)}, joined("n", "u", "l", x)},
		"metadata is replaced whole": {[]string{start(all), then(`,"_meta":{"y":"1"}`)}, joined("n", "t", "k", object(member("y", pipeline.MetaText("1"))))},
		"metadata of another type":   {[]string{start(all), then(`,"_meta":[]`)}, joined("n", "t", "k", pipeline.MetaOf(pipeline.MetaArray))},
		"an empty title replaces":    {[]string{start(all), then(`,"title":""`)}, wrong(func(c *pipeline.ToolCall) { c.Name, c.Title, c.Kind, c.Meta = given("n"), given(""), given("k"), x })},
		"a title of a wrong type": {[]string{start(all), then(`,"title":5`)}, wrong(func(c *pipeline.ToolCall) {
			c.Name, c.Title, c.Kind, c.Meta = given("n"), pipeline.WrongType(), given("k"), x
		})},
		"a title that is too long": {[]string{start(all), then(`,"title":"` + long + `"`)}, wrong(func(c *pipeline.ToolCall) {
			c.Name, c.Title, c.Kind, c.Meta = given("n"), pipeline.TooLong(), given("k"), x
		})},
		"a name of a wrong type":           {[]string{start(`,"name":5`)}, wrong(func(c *pipeline.ToolCall) { c.Name = pipeline.WrongType() })},
		"escaped":                          {[]string{strings.NewReplacer("tool_call", `t\u006fol_call`, "title", `titl\u0065`).Replace(start(`,"title":"\u0074"`))}, joined("", "t", "", none)},
		"tool_call starts anew":            {[]string{start(all), start(`,"title":"u"`)}, joined("", "u", "", none)},
		"another call":                     {[]string{strings.Replace(start(all), `"c"`, `"d"`, 1)}, plain()},
		"another session":                  {[]string{updateIn("r", `{"sessionUpdate":"tool_call","toolCallId":"c","name":"n"}`)}, plain()},
		"another kind of update":           {[]string{updateOf(`{"sessionUpdate":"plan","toolCallId":"c","title":"tool_call"}`)}, plain()},
		"a kind in another case":           {[]string{updateOf(`{"sessionUpdate":"Tool_call","toolCallId":"c","title":"t"}`)}, plain()},
		"no call id":                       {[]string{updateOf(`{"sessionUpdate":"tool_call","title":"t"}`)}, plain()},
		"a call id of a wrong type":        {[]string{updateOf(`{"sessionUpdate":"tool_call","toolCallId":["c"],"title":"t"}`)}, plain()},
		"a session of a wrong type":        {[]string{strings.Replace(start(all), `"s"`, `["s"]`, 1)}, plain()},
		"params of a wrong type":           {[]string{`{"method":"session/update","params":["tool_call"]}`, `{"method":"session/update","params":{"sessionId":"s","update":"tool_call"}}`}, plain()},
		"another method":                   {[]string{strings.Replace(start(all), "session/update", "session/updates", 1)}, plain()},
		"an update that is a request":      {[]string{strings.Replace(start(all), `"jsonrpc"`, `"id":1,"jsonrpc"`, 1)}, joined("n", "t", "k", x)},
		"an update with a result":          {[]string{strings.Replace(start(all), `"jsonrpc"`, `"id":1,"result":{},"jsonrpc"`, 1)}, plain()},
		"completed feeds nothing":          {[]string{start(all), then(`,"status":"completed"`)}, plain()},
		"failed feeds nothing":             {[]string{start(all), then(`,"status":"failed"`)}, plain()},
		"completed at once":                {[]string{start(all + `,"status":"completed"`)}, plain()},
		"other statuses do not end it":     {[]string{start(all), then(`,"status":"in_progress"`), then(`,"status":"Completed"`), then(`,"status":["failed"]`)}, joined("n", "t", "k", x)},
		"nothing counts after the end":     {[]string{start(all), then(`,"status":"failed"`), then(all), then(`,"title":"u"`)}, plain()},
		"until it starts anew":             {[]string{start(all), then(`,"status":"failed"`), then(all), start(`,"title":"u"`), then(`,"kind":"l"`)}, joined("", "u", "l", none)},
		"an update that differs, ended":    {[]string{start(`,"name":"a"`), then(`,"name":"b"`), then(`,"status":"completed"`)}, plain()},
		"two names":                        {[]string{start(`,"name":"a"`), then(`,"name":"b"`)}, contradictory(joined("b", "", "", none))},
		"two names, back again":            {[]string{start(`,"name":"a"`), then(`,"name":"b"`), then(`,"name":"a"`)}, contradictory(joined("a", "", "", none))},
		"the same name twice":              {[]string{start(`,"name":"a"`), then(`,"name":"a"`)}, joined("a", "", "", none)},
		"a name and one of a wrong type":   {[]string{start(`,"name":"a"`), then(`,"name":5`)}, contradictory(wrong(func(c *pipeline.ToolCall) { c.Name = pipeline.WrongType() }))},
		"two long names are not known":     {[]string{start(`,"name":"` + long + `"`), then(`,"name":"` + long + `"`)}, contradictory(wrong(func(c *pipeline.ToolCall) { c.Name = pipeline.TooLong() }))},
		"a contradiction starts anew":      {[]string{start(`,"name":"a"`), then(`,"name":"b"`), start(`,"name":"b"`)}, joined("b", "", "", none)},
		"a contradiction ends":             {[]string{start(`,"name":"a"`), then(`,"name":"b"`), then(`,"status":"failed"`), start(`,"name":"b"`)}, joined("b", "", "", none)},
		"an offer feeds nothing":           {[]string{offerIn("s", `,"name":"a","title":"a","kind":"a","_meta":{"a":"1"}`)}, plain(func(r *pipeline.Request) { r.Session.NameSeen = true })},
		"duplicate: a key":                 {[]string{start(`,"title":"a","title":"b"`)}, contradictory(plain())},
		"duplicate: of an update":          {[]string{start(all), then(`,"x":{"a":1,"a":2}`)}, contradictory(joined("n", "t", "k", x))},
		"duplicate: in the arguments":      {[]string{start(all + `,"rawInput":{"a":1,"a":2},"content":{"a":1,"a":2},"locations":{"a":1,"a":2}`)}, joined("n", "t", "k", x)},
		"duplicate: params":                {[]string{strings.Replace(start(all), `"params"`, `"params":{},"params"`, 1)}, contradictory(plain())},
		"duplicate: update":                {[]string{strings.Replace(start(all), `"update"`, `"update":{},"update"`, 1)}, contradictory(plain())},
		"duplicate: method":                {[]string{strings.Replace(start(all), `"method"`, `"method":"x","method"`, 1)}, contradictory(plain())},
		"duplicate: method, the other way": {[]string{strings.Replace(start(all), `"params"`, `"method":"x","params"`, 1)}, contradictory(plain())},
		"duplicate: jsonrpc":               {[]string{strings.Replace(start(all), `"method"`, `"jsonrpc":"2.0","method"`, 1)}, contradictory(plain())},
		"duplicate: of another kind":       {[]string{updateOf(`{"sessionUpdate":"plan","toolCallId":"c","x":"tool_call","x":1}`)}, plain()},
		"duplicate: two kinds":             {[]string{updateOf(`{"sessionUpdate":"plan","sessionUpdate":"tool_call","toolCallId":"c"}`)}, contradictory(plain())},
		"duplicate: no call":               {[]string{updateOf(`{"sessionUpdate":"tool_call","x":1,"x":1}`)}, plain()},
		"duplicate: starts anew":           {[]string{start(`,"title":"a","title":"b"`), start(all)}, joined("n", "t", "k", x)},
		"duplicate: after the end":         {[]string{start(all + `,"status":"failed"`), then(`,"x":1,"x":1`)}, contradictory(plain())},
		"bad bytes":                        {[]string{start(",\"title\":\"\xff\"")}, contradictory(plain())},
		"bad bytes at the top":             {[]string{strings.Replace(start(all), `"method"`, "\"\xff\":1,\"method\"", 1)}, contradictory(plain())},
		"bad bytes in the arguments":       {[]string{start(all + ",\"rawInput\":\"\xff\",\"content\":[\"\xff\"],\"locations\":{\"\xff\":1}")}, joined("n", "t", "k", x)},
		"a lone surrogate":                 {[]string{start(`,"_meta":{"a":"\ud800"}`)}, contradictory(plain())},
		"a lone one in the arguments":      {[]string{start(all + `,"rawInput":"\ud800","content":{"\ud800":1}`)}, joined("n", "t", "k", x)},
		"too deep":                         {[]string{start(`,"rawInput":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000))}, contradictory(plain())},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := fromAgent(t, acp.NewDecoder(acp.Options{}), append(test.lines, offerIn("s", ""))...)
			assert.Equal(t, test.want, got)
			long := make([]string, len(test.lines))
			for i, line := range test.lines {
				long[i] = padded(line)
			}
			got = fromAgent(t, acp.NewDecoder(acp.Options{}), append(long, offerIn("s", ""))...)
			assert.Equal(t, test.want, got, "with long lines")
		})
	}
}

// What an offer says itself wins; a name that differs is a contradiction.
func TestTrackerOwnMembers(t *testing.T) {
	x, y := object(member("x", pipeline.MetaText("1"))), object(member("y", pipeline.MetaText("1")))
	earlier := start(`,"name":"n","title":"t","kind":"k","_meta":{"x":"1"}`)
	own := func(name, title, kind string, m pipeline.Meta) *acp.Offer {
		o := joined(name, title, kind, m)
		o.Request.Call.OwnMeta = m
		return o
	}
	tests := map[string]struct {
		lines []string
		want  *acp.Offer
	}{
		"everything":           {[]string{earlier, offerIn("s", `,"name":"n","title":"u","kind":"l","_meta":{"y":"1"}`)}, own("n", "u", "l", y)},
		"another name":         {[]string{earlier, offerIn("s", `,"name":"m"`)}, contradictory(joined("m", "t", "k", x))},
		"the same name":        {[]string{earlier, offerIn("s", `,"name":"n"`)}, joined("n", "t", "k", x)},
		"a name in other case": {[]string{earlier, offerIn("s", `,"name":"N"`)}, contradictory(joined("N", "t", "k", x))},
		"a name of a wrong type": {[]string{earlier, offerIn("s", `,"name":[]`)}, contradictory(plain(call(func(c *pipeline.ToolCall) {
			c.Name, c.Title, c.Kind, c.Meta = pipeline.WrongType(), given("t"), given("k"), x
		})))},
		"a name where none was":   {[]string{start(`,"title":"t"`), offerIn("s", `,"name":"n"`)}, joined("n", "t", "", pipeline.Meta{})},
		"null leaves the earlier": {[]string{earlier, offerIn("s", `,"name":null,"title":null,"kind":null`)}, joined("n", "t", "k", x)},
		"an empty metadata":       {[]string{earlier, offerIn("s", `,"_meta":[]`)}, own("n", "t", "k", pipeline.MetaOf(pipeline.MetaArray))},
		"a title of a wrong type": {[]string{earlier, offerIn("s", `,"title":{}`)}, plain(call(func(c *pipeline.ToolCall) {
			c.Name, c.Title, c.Kind, c.Meta = given("n"), pipeline.WrongType(), given("k"), x
		}))},
		"an ended call's name does not contradict": {[]string{earlier, then(`,"status":"completed"`), offerIn("s", `,"name":"m"`)}, joined("m", "", "", pipeline.Meta{})},
		"a contradiction stays with a good name":   {[]string{earlier, then(`,"name":"m"`), offerIn("s", `,"name":"m"`)}, contradictory(joined("m", "t", "k", x))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, fromAgent(t, acp.NewDecoder(acp.Options{}), test.lines...))
		})
	}
	null := fromAgent(t, acp.NewDecoder(acp.Options{}), earlier, offerIn("s", `,"_meta":null`))
	assert.Equal(t, x, null.Request.Call.Meta)
	assert.Equal(t, pipeline.MetaOf(pipeline.MetaNull), null.Request.Call.OwnMeta)
	// A subject that is no tool call has no earlier part.
	other := fromAgent(t, acp.NewDecoder(acp.Options{}), updateOf(`{"sessionUpdate":"tool_call","toolCallId":"","name":"n"}`),
		request(`{"sessionId":"s","subject":{"type":"command","toolCall":{"toolCallId":""}},"options":`+yesNo+`}`))
	assert.Equal(t, pipeline.ToolCall{OtherSubject: true}, other.Request.Call)
	// One that is has it.
	subject := fromAgent(t, acp.NewDecoder(acp.Options{}), earlier, v2(`{"type":"tool_call","toolCall":{"toolCallId":"c"}}`))
	assert.Equal(t, joined("n", "t", "k", x), subject)
}
