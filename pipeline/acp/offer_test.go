package acp_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// plain is the offer of offerOf(`{"toolCallId":"c"}`), with edits.
func plain(edits ...func(*pipeline.Request)) *acp.Offer {
	o := &acp.Offer{ID: acp.NewID("7"), Request: pipeline.Request{
		SessionID: "s", Call: pipeline.ToolCall{ID: "c"}, Options: options(),
	}}
	for _, edit := range edits {
		edit(&o.Request)
	}
	return o
}

func call(edit func(*pipeline.ToolCall)) func(*pipeline.Request) {
	return func(r *pipeline.Request) { edit(&r.Call) }
}

// meta sets the call's own and effective metadata.
func meta(m pipeline.Meta) func(*pipeline.Request) {
	return call(func(c *pipeline.ToolCall) { c.OwnMeta, c.Meta = m, m })
}

// What the tool call of an offer says, and what wrong types are but facts.
func TestOfferToolCall(t *testing.T) {
	long, longest := strings.Repeat("n", pipeline.MaxText+1), strings.Repeat("n", pipeline.MaxText)
	tests := map[string]struct {
		call string
		want *acp.Offer
	}{
		"only an id":         {`{"toolCallId":"c"}`, plain()},
		"everything":         {`{"toolCallId":"c","name":"n","title":"t","kind":"k","_meta":{"a":"x"},"status":"pending"}`, plain(call(func(c *pipeline.ToolCall) { c.Name, c.Title, c.Kind = given("n"), given("t"), given("k") }), meta(object(member("a", pipeline.MetaText("x")))))},
		"in another order":   {`{"_meta":{"a":"x"},"kind":"k","title":"t","name":"n","toolCallId":"c"}`, plain(call(func(c *pipeline.ToolCall) { c.Name, c.Title, c.Kind = given("n"), given("t"), given("k") }), meta(object(member("a", pipeline.MetaText("x")))))},
		"null is absent":     {`{"toolCallId":"c","name":null,"title":null,"kind":null}`, plain()},
		"null metadata":      {`{"toolCallId":"c","_meta":null}`, plain(meta(pipeline.MetaOf(pipeline.MetaNull)))},
		"an empty name":      {`{"toolCallId":"c","name":""}`, plain(call(func(c *pipeline.ToolCall) { c.Name = given("") }))},
		"an empty id":        {`{"toolCallId":""}`, plain(call(func(c *pipeline.ToolCall) { c.ID = "" }))},
		"a name of a number": {`{"toolCallId":"c","name":5}`, plain(call(func(c *pipeline.ToolCall) { c.Name = pipeline.WrongType() }))},
		"a name of an array": {`{"toolCallId":"c","name":["n"]}`, plain(call(func(c *pipeline.ToolCall) { c.Name = pipeline.WrongType() }))},
		"a name of false":    {`{"toolCallId":"c","name":false}`, plain(call(func(c *pipeline.ToolCall) { c.Name = pipeline.WrongType() }))},
		"a title and a kind": {`{"toolCallId":"c","title":{},"kind":1}`, plain(call(func(c *pipeline.ToolCall) { c.Title, c.Kind = pipeline.WrongType(), pipeline.WrongType() }))},
		"escaped keys":       {`{"tool\u0043allId":"c","n\u0061me":"n","\u005fmeta":{"a":"x"}}`, plain(call(func(c *pipeline.ToolCall) { c.Name = given("n") }), meta(object(member("a", pipeline.MetaText("x")))))},
		"escaped values":     {`{"toolCallId":"\u0063","name":"\u006d\u0063p__a\/b","title":"\ud83d\ude00\n"}`, plain(call(func(c *pipeline.ToolCall) { c.Name, c.Title = given("mcp__a/b"), given("😀\n") }))},
		"keys in other case": {`{"toolCallId":"c","Name":"n","TITLE":"t","Kind":"k","_Meta":{"a":1},"toolcallid":"d"}`, plain()},
		"unknown members":    {`{"toolCallId":"c","x":{"name":"n","toolCallId":5},"status":5}`, plain()},
		"the longest name":   {`{"toolCallId":"c","name":"` + longest + `"}`, plain(call(func(c *pipeline.ToolCall) { c.Name = given(longest) }))},
		"one byte longer":    {`{"toolCallId":"c","name":"` + long + `","title":"` + long + `"}`, plain(call(func(c *pipeline.ToolCall) { c.Name, c.Title = pipeline.TooLong(), pipeline.TooLong() }))},
		"a long id":          {`{"toolCallId":"` + long + `"}`, plain(call(func(c *pipeline.ToolCall) { c.ID = long }))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, fromAgent(t, acp.NewDecoder(acp.Options{}), offerOf(test.call)))
		})
	}
}

// Metadata is a tree in which absent, null, wrong type and string stay apart, and
// which is bounded.
func TestOfferMeta(t *testing.T) {
	text, tooLarge := pipeline.MetaText, pipeline.MetaOf(pipeline.MetaTooLarge)
	deep, wantDeep := `{"b":"x"}`, object(member("b", text("x")))
	for range 5 {
		deep, wantDeep = `{"a":`+deep+`}`, object(member("a", wantDeep))
	}
	many := func(n int) (string, []pipeline.Member) {
		var parts []string
		var members []pipeline.Member
		for i := range n {
			key := strconv.Itoa(i)
			parts, members = append(parts, `"`+key+`":1`), append(members, member(key, pipeline.MetaOf(pipeline.MetaNumber)))
		}
		return "{" + strings.Join(parts, ",") + "}", members
	}
	most, wantMost := many(64)
	tooMany, _ := many(5000)
	long := strings.Repeat("x", pipeline.MaxText+1)
	tests := map[string]struct {
		meta string
		want pipeline.Meta
	}{
		"an array":          {`[{"a":1}]`, pipeline.MetaOf(pipeline.MetaArray)},
		"a string":          {`"x"`, text("x")},
		"a number":          {`-1.5e3`, pipeline.MetaOf(pipeline.MetaNumber)},
		"true":              {`true`, pipeline.MetaOf(pipeline.MetaTrue)},
		"false":             {`false`, pipeline.MetaOf(pipeline.MetaFalse)},
		"an object":         {`{"a":"x","b":null,"c":true,"d":false,"e":1,"f":[],"g":{"h":"x"}}`, object(member("a", text("x")), member("b", pipeline.MetaOf(pipeline.MetaNull)), member("c", pipeline.MetaOf(pipeline.MetaTrue)), member("d", pipeline.MetaOf(pipeline.MetaFalse)), member("e", pipeline.MetaOf(pipeline.MetaNumber)), member("f", pipeline.MetaOf(pipeline.MetaArray)), member("g", object(member("h", text("x")))))},
		"Claude's":          {`{"claudeCode":{"toolName":"T","mcpServer":{"name":"kandev","source":"dynamic"}}}`, object(member("claudeCode", object(member("toolName", text("T")), member("mcpServer", object(member("name", text("kandev")), member("source", text("dynamic")))))))},
		"escapes":           {`{"tool\u004eame":"\u0054\"","":""}`, object(member("toolName", text(`T"`)), member("", text("")))},
		"keys of two cases": {`{"A":1,"a":2}`, object(member("A", pipeline.MetaOf(pipeline.MetaNumber)), member("a", pipeline.MetaOf(pipeline.MetaNumber)))},
		"as deep as needed": {deep, wantDeep},
		"many members":      {most, object(wantMost...)},
		"too many members":  {tooMany, tooLarge},
		"a long string":     {`{"a":"` + long + `","b":"x"}`, object(member("a", tooLarge), member("b", text("x")))},
		"a long key":        {`{"` + long + `":"x"}`, tooLarge},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := fromAgent(t, acp.NewDecoder(acp.Options{}), offerOf(`{"toolCallId":"c","_meta":`+test.meta+`}`))
			assert.Equal(t, plain(meta(test.want)), got)
			got = fromAgent(t, acp.NewDecoder(acp.Options{}), request(`{"_meta":`+test.meta+`,"sessionId":"s","toolCall":{"toolCallId":"c"},"options":`+yesNo+`}`))
			assert.Equal(t, plain(func(r *pipeline.Request) { r.Meta = test.want }), got)
		})
	}
	kindOf := func(meta string, path ...string) pipeline.MetaKind {
		m := fromAgent(t, acp.NewDecoder(acp.Options{}), offerOf(`{"toolCallId":"c","_meta":`+meta+`}`)).Request.Call.Meta
		for _, key := range path {
			m = m.Get(key)
		}
		return m.Kind()
	}
	assert.Equal(t, pipeline.MetaArray, kindOf(`{"a":[`+strings.Repeat(`{},`, 1000)+`{}]}`, "a"), "arrays are not kept")
	tower := strings.Repeat(`{"x":`, 5000) + `1` + strings.Repeat(`}`, 5000)
	assert.Equal(t, pipeline.MetaObject, kindOf(tower))
	assert.Equal(t, pipeline.MetaAbsent, kindOf(tower, slices.Repeat([]string{"x"}, 5000)...), "nor is great depth")
	var objects []string
	for i := range 60 {
		inner, _ := many(500)
		objects = append(objects, `"`+strconv.Itoa(i)+`":`+inner)
	}
	assert.Equal(t, pipeline.MetaTooLarge, kindOf(`{`+strings.Join(objects, ",")+`}`), "nor are many objects")
}

// Options are kept as offered; what is no string kind is never an allow.
func TestOfferOptions(t *testing.T) {
	tests := map[string]struct {
		options string
		want    []pipeline.Option
	}{
		"all kinds":        {`[{"optionId":"a","name":"A","kind":"allow_once"},{"optionId":"b","name":"B","kind":"allow_always"},{"optionId":"c","name":"C","kind":"reject_once"},{"optionId":"d","name":"D","kind":"reject_always"}]`, []pipeline.Option{{ID: "a", Kind: "allow_once", Label: "A"}, {ID: "b", Kind: "allow_always", Label: "B"}, {ID: "c", Kind: "reject_once", Label: "C"}, {ID: "d", Kind: "reject_always", Label: "D"}}},
		"unknown kinds":    {`[{"optionId":"a","kind":"allow_forever"},{"optionId":"b","kind":"ALLOW_ONCE"}]`, []pipeline.Option{{ID: "a", Kind: "allow_forever"}, {ID: "b", Kind: "ALLOW_ONCE"}}},
		"kinds and labels": {`[{"optionId":"a","kind":1,"name":2},{"optionId":"b","kind":null,"name":null},{"optionId":"c"},{"optionId":"d","kind":["allow_once"],"name":{}}]`, []pipeline.Option{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}}},
		"odd ids":          {`[{"optionId":""},{"optionId":"a"},{"optionId":"a"},{"optionId":" \"\\\u2713\n"}]`, []pipeline.Option{{}, {ID: "a"}, {ID: "a"}, {ID: " \"\\✓\n"}}},
		"unknown members":  {`[{"optionId":"a","_meta":{"kind":"allow_once"},"Kind":"allow_once","x":[{}]}]`, []pipeline.Option{{ID: "a"}}},
		"escaped":          {`[{"option\u0049d":"\u0061","k\u0069nd":"allow\u005fonce"}]`, []pipeline.Option{{ID: "a", Kind: "allow_once"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := fromAgent(t, acp.NewDecoder(acp.Options{}), request(`{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":`+test.options+`}`))
			assert.Equal(t, plain(func(r *pipeline.Request) { r.Options = test.want }), got)
		})
	}
	empty := fromAgent(t, acp.NewDecoder(acp.Options{}), request(`{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[ ]}`))
	assert.Equal(t, acp.ReasonNoOptions, empty.Reason)
	assert.Empty(t, empty.Request.Options)
	assert.Equal(t, "s", empty.Request.SessionID)

	thousand := `{"optionId":"a"}` + strings.Repeat(`,{"optionId":"a"}`, 4999)
	many := fromAgent(t, acp.NewDecoder(acp.Options{}), request(`{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[`+thousand+`]}`))
	require.Len(t, many.Request.Options, 5000)
}

// ACP v2: params.subject takes the place of toolCall.
func TestOfferSubject(t *testing.T) {
	other := plain(func(r *pipeline.Request) { r.Call = pipeline.ToolCall{OtherSubject: true} })
	named := plain(call(func(c *pipeline.ToolCall) { c.Name = given("n") }))
	tests := map[string]struct {
		subject string
		want    *acp.Offer
	}{
		"a tool call":                   {`{"type":"tool_call","toolCall":{"toolCallId":"c","name":"n"}}`, named},
		"the type behind it":            {`{"toolCall":{"toolCallId":"c","name":"n"},"type":"tool_call"}`, named},
		"escaped":                       {`{"t\u0079pe":"tool\u005fcall","toolC\u0061ll":{"toolCallId":"c","name":"n"}}`, named},
		"blanks":                        {` { "type" : "tool_call" , "toolCall" : { "toolCallId" : "c" , "name" : "n" } } `, named},
		"unknown members":               {`{"type":"tool_call","x":{"type":"command"},"toolCall":{"toolCallId":"c","name":"n"}}`, named},
		"duplicates in its arguments":   {`{"type":"tool_call","toolCall":{"toolCallId":"c","name":"n","rawInput":{"a":1,"a":2}}}`, named},
		"a command":                     {`{"type":"command","command":"ls"}`, other},
		"a command with a tool call":    {`{"type":"command","toolCall":{"toolCallId":"c","name":"n"}}`, other},
		"no type":                       {`{"toolCall":{"toolCallId":"c","name":"n"}}`, other},
		"a type of another case":        {`{"type":"Tool_call","toolCall":{"toolCallId":"c","name":"n"}}`, other},
		"a type that is no string":      {`{"type":["tool_call"],"toolCall":{"toolCallId":"c","name":"n"}}`, other},
		"a type that is longer":         {`{"type":"tool_call_","toolCall":{"toolCallId":"c","name":"n"}}`, other},
		"the key in another case":       {`{"Type":"tool_call","toolCall":{"toolCallId":"c","name":"n"}}`, other},
		"an empty subject":              {`{}`, other},
		"a type deeper down":            {`{"x":{"type":"tool_call"},"toolCall":{"toolCallId":"c","name":"n"}}`, other},
		"title of the prompt, no title": {`{"type":"tool_call","title":"t","toolCall":{"toolCallId":"c","name":"n"}}`, named},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := fromAgent(t, acp.NewDecoder(acp.Options{}), request(`{"sessionId":"s","title":"T","description":"D","subject":`+test.subject+`,"options":`+yesNo+`}`))
			assert.Equal(t, test.want, got)
		})
	}
}

// An offer needs an id that can be answered; anything else has no offer.
func TestOfferIDs(t *testing.T) {
	d := acp.NewDecoder(acp.Options{})
	for _, id := range []string{`0`, `-1`, `9007199254740993`, `"7"`, `""`, `"\u0037"`} {
		want := plain()
		want.ID = acp.NewID(id)
		assert.Equal(t, want, fromAgent(t, d, strings.Replace(offerIn("s", ""), `"id":7`, `"id":`+id, 1)))
	}
	for _, id := range []string{`"id":null,`, `"id":true,`, `"id":[7],`, `"id":{},`, ``} {
		assert.Nil(t, fromAgent(t, d, strings.Replace(offerIn("s", ""), `"id":7,`, id, 1)), id)
	}
	_, err := d.FromAgent([]byte(strings.Replace(offerIn("s", ""), `"id":7,`, `"x":nope,`, 1)))
	assert.ErrorIs(t, err, acp.ErrNoise)
	for _, line := range []string{
		strings.Replace(offerIn("s", ""), acp.MethodRequestPermission, "session/Request_permission", 1),
		strings.Replace(offerIn("s", ""), acp.MethodRequestPermission, "fs/read_text_file", 1),
		strings.Replace(offerIn("s", ""), `"id":7`, `"id":7,"result":{}`, 1),
	} {
		assert.Nil(t, fromAgent(t, d, line), line)
	}
}

// L35: 7 and "7" are two offers with two answers.
func TestL35_IDsOfTwoTypes(t *testing.T) {
	d := acp.NewDecoder(acp.Options{})
	number := fromAgent(t, d, offerIn("s", ""))
	text := fromAgent(t, d, strings.Replace(offerIn("s", ""), `"id":7`, `"id":"7"`, 1))
	assert.NotEqual(t, number.ID, text.ID)
	assert.Equal(t, `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"cancelled"}}}`, string(number.Cancelled()))
	assert.Equal(t, `{"jsonrpc":"2.0","id":"7","result":{"outcome":{"outcome":"cancelled"}}}`, string(text.Cancelled()))
}
