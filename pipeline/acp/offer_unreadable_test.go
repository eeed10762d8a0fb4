package acp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// v2 is an offer with the given subject.
func v2(subject string) string {
	return request(`{"sessionId":"s","subject":` + subject + `,"options":` + yesNo + `}`)
}

// padded makes a line longer than what is decoded without cutting anything out.
func padded(line string) string {
	return strings.Replace(line, `"jsonrpc"`, `"pad":"`+strings.Repeat("p", 5<<10)+`","jsonrpc"`, 1)
}

// Each unreadable offer has a twin that differs in that one thing and is readable.
func TestUnreadableOffers(t *testing.T) {
	const c = `{"toolCallId":"c"}`
	withRaw := func(raw string) string { return offerOf(`{"toolCallId":"c","rawInput":` + raw + `}`) }
	session := func(s string) string {
		return request(`{` + s + `"toolCall":` + c + `,"options":` + yesNo + `}`)
	}
	opts := func(o string) string {
		return request(`{"sessionId":"s","toolCall":` + c + `,"options":` + o + `}`)
	}
	tests := map[string]struct{ bad, good string }{
		"no params":                         {`{"jsonrpc":"2.0","id":7,"method":"session/request_permission"}`, offerOf(c)},
		"params is null":                    {request(`null`), offerOf(c)},
		"params is an array":                {request(`[]`), offerOf(c)},
		"params is a string":                {request(`"x"`), offerOf(c)},
		"params in another case":            {strings.Replace(offerOf(c), `"params"`, `"Params"`, 1), strings.Replace(offerOf(c), `"params"`, `"p\u0061rams"`, 1)},
		"no session":                        {session(``), session(`"sessionId":"s",`)},
		"the session is a number":           {session(`"sessionId":5,`), session(`"sessionId":"5",`)},
		"the session is null":               {session(`"sessionId":null,`), session(`"sessionId":"",`)},
		"neither tool call nor subject":     {request(`{"sessionId":"s","options":` + yesNo + `}`), offerOf(c)},
		"tool call and subject":             {request(`{"sessionId":"s","toolCall":` + c + `,"subject":{"type":"tool_call","toolCall":` + c + `},"options":` + yesNo + `}`), v2(`{"type":"tool_call","toolCall":` + c + `}`)},
		"tool call and null subject":        {request(`{"sessionId":"s","toolCall":` + c + `,"subject":null,"options":` + yesNo + `}`), offerOf(c)},
		"tool call and a command":           {request(`{"sessionId":"s","subject":{"type":"command"},"toolCall":` + c + `,"options":` + yesNo + `}`), v2(`{"type":"command"}`)},
		"the tool call is null":             {offerOf(`null`), offerOf(c)},
		"the tool call is an array":         {offerOf(`[` + c + `]`), offerOf(c)},
		"the tool call is a string":         {offerOf(`"c"`), offerOf(c)},
		"no call id":                        {offerOf(`{"name":"n"}`), offerOf(c)},
		"the call id is a number":           {offerOf(`{"toolCallId":5}`), offerOf(c)},
		"the call id is null":               {offerOf(`{"toolCallId":null}`), offerOf(c)},
		"the subject is null":               {v2(`null`), v2(`{}`)},
		"the subject is an array":           {v2(`[]`), v2(`{"type":"x"}`)},
		"a subject without its tool call":   {v2(`{"type":"tool_call"}`), v2(`{"type":"tool_call","toolCall":` + c + `}`)},
		"a subject with a null tool call":   {v2(`{"type":"tool_call","toolCall":null}`), v2(`{"type":"command","toolCall":null}`)},
		"a subject's call without an id":    {v2(`{"type":"tool_call","toolCall":{}}`), v2(`{"type":"command","toolCall":{}}`)},
		"a subject of two types":            {v2(`{"type":"command","type":"tool_call","toolCall":` + c + `}`), v2(`{"type":"tool_call","Type":"command","toolCall":` + c + `}`)},
		"no options":                        {request(`{"sessionId":"s","toolCall":` + c + `}`), offerOf(c)},
		"options is null":                   {opts(`null`), opts(yesNo)},
		"options is an object":              {opts(`{"optionId":"a"}`), opts(`[{"optionId":"a"}]`)},
		"options in another case":           {strings.Replace(offerOf(c), `"options"`, `"Options"`, 1), offerOf(c)},
		"an option is a string":             {opts(`[{"optionId":"a"},"b"]`), opts(`[{"optionId":"a"},{"optionId":"b"}]`)},
		"an option is null":                 {opts(`[null,{"optionId":"a"}]`), opts(`[{"optionId":"a"}]`)},
		"an option without an id":           {opts(`[{"optionId":"a"},{"name":"b","kind":"allow_once"}]`), opts(`[{"optionId":"a"},{"optionId":"b"}]`)},
		"an option with a null id":          {opts(`[{"optionId":null}]`), opts(`[{"optionId":""}]`)},
		"an option with a number as its id": {opts(`[{"optionId":1}]`), opts(`[{"optionId":"1"}]`)},
		"duplicate: an option's kind":       {opts(`[{"optionId":"a","kind":"reject_once","kind":"allow_once"}]`), opts(`[{"optionId":"a","Kind":"reject_once","kind":"allow_once"}]`)},
		"duplicate: name":                   {offerOf(`{"toolCallId":"c","name":"a","name":"b"}`), offerOf(`{"toolCallId":"c","name":"a","NAME":"b"}`)},
		"duplicate: written differently":    {offerOf(`{"toolCallId":"c","name":"a","n\u0061me":"b"}`), offerOf(`{"toolCallId":"c","name":"a","n\u0062me":"b"}`)},
		"duplicate: with the same value":    {offerOf(`{"toolCallId":"c","toolCallId":"c"}`), offerOf(c)},
		"duplicate: in metadata":            {offerOf(`{"toolCallId":"c","_meta":{"a":{"b":1,"b":2}}}`), offerOf(`{"toolCallId":"c","_meta":{"a":{"b":1,"B":2}}}`)},
		"duplicate: in an unknown member":   {offerOf(`{"toolCallId":"c","x":[{"b":1,"b":2}]}`), offerOf(`{"toolCallId":"c","x":[{"b":1},{"b":2}]}`)},
		"duplicate: params":                 {strings.Replace(offerOf(c), `"params"`, `"params":{},"params"`, 1), offerOf(c)},
		"duplicate: id":                     {strings.Replace(offerOf(c), `"id":7`, `"id":6,"id":7`, 1), offerOf(c)},
		"duplicate: method":                 {strings.Replace(offerOf(c), `"id":7`, `"id":7,"method":"x"`, 1), offerOf(c)},
		"duplicate: jsonrpc":                {strings.Replace(offerOf(c), `"id":7`, `"id":7,"jsonrpc":"2.0"`, 1), offerOf(c)},
		"duplicate: sessionId":              {session(`"sessionId":"r","sessionId":"s",`), session(`"sessionId":"s",`)},
		"duplicate: toolCall":               {session(`"sessionId":"s","toolCall":` + c + `,`), session(`"sessionId":"s",`)},
		"duplicate: the arguments":          {offerOf(`{"toolCallId":"c","rawInput":{},"rawInput":{}}`), withRaw(`{}`)},
		"duplicate: one level too high":     {session(`"sessionId":"s","rawInput":{"a":1,"a":2},`), session(`"sessionId":"s","rawInput":{"a":1},`)},
		"duplicate: arguments of a subject": {v2(`{"type":"command","toolCall":{"toolCallId":"c","rawInput":{"a":1,"a":2}}}`), v2(`{"type":"tool_call","toolCall":{"toolCallId":"c","rawInput":{"a":1,"a":2}}}`)},
		"duplicate: content of a subject":   {v2(`{"type":"tool_call","content":{"a":1,"a":2},"toolCall":` + c + `}`), v2(`{"type":"tool_call","toolCall":{"toolCallId":"c","content":{"a":1,"a":2}}}`)},
		"duplicate: a rawInput deeper down": {offerOf(`{"toolCallId":"c","_meta":{"rawInput":{"a":1,"a":2}}}`), withRaw(`{"_meta":{"a":1,"a":2}}`)},
		"duplicate: RawInput":               {offerOf(`{"toolCallId":"c","RawInput":{"a":1,"a":2}}`), offerOf(`{"toolCallId":"c","raw\u0049nput":{"a":1,"a":2}}`)},
		"bytes: in a name":                  {offerOf("{\"toolCallId\":\"c\",\"name\":\"\xff\"}"), offerOf(`{"toolCallId":"c","name":"ÿ"}`)},
		"bytes: in the arguments":           {withRaw("{\"a\":\"\xff\"}"), withRaw(`{"a":"ÿ"}`)},
		"bytes: in a key of the arguments":  {withRaw("{\"\xc3\":1}"), withRaw(`{"ü":1}`)},
		"bytes: a surrogate in UTF-8":       {withRaw("\"\xed\xa0\x80\""), withRaw("\"\xed\x9f\xbf\"")},
		"bytes: an overlong slash":          {withRaw("\"\xc0\xaf\""), withRaw(`"/"`)},
		"bytes: at the top":                 {strings.Replace(offerOf(c), `"id"`, "\"x\":\"\x80\",\"id\"", 1), strings.Replace(offerOf(c), `"id"`, "\"x\":\"\u0080\",\"id\"", 1)},
		"surrogate: in a title":             {offerOf(`{"toolCallId":"c","title":"\ud83d"}`), offerOf(`{"toolCallId":"c","title":"\ud83d\ude00"}`)},
		"surrogate: the wrong way round":    {offerOf(`{"toolCallId":"c","title":"\ude00\ud83d"}`), offerOf(`{"toolCallId":"c","title":"\ud83d\ude00"}`)},
		"surrogate: in a key":               {offerOf(`{"toolCallId":"c","\ud83d":1}`), offerOf(`{"toolCallId":"c","\ud83d\ude00":1}`)},
		"surrogate: in a label":             {opts(`[{"optionId":"a","name":"\udfff"}]`), opts(`[{"optionId":"a","name":"\uffff"}]`)},
		"surrogate: in an option id":        {opts(`[{"optionId":"\ud800"}]`), opts(`[{"optionId":"\ud7ff"}]`)},
		"surrogate: at the top":             {strings.Replace(offerOf(c), `"id"`, `"x":"\ud800","id"`, 1), withRaw(`{"x":"\ud800"}`)},
		"surrogate: in metadata":            {offerOf(`{"toolCallId":"c","_meta":{"\ud800":1}}`), withRaw(`{"_meta":{"\ud800":1}}`)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, change := range []func(string) string{func(s string) string { return s }, padded} {
				d := acp.NewDecoder(acp.Options{})
				assert.Equal(t, &acp.Offer{ID: acp.NewID("7"), Reason: acp.ReasonUnreadable}, fromAgent(t, d, change(test.bad)))
				good := fromAgent(t, d, change(test.good))
				require.NotNil(t, good)
				assert.Empty(t, good.Reason)
				assert.NotEmpty(t, good.Request.Options)
			}
		})
	}
}

// In rawInput, content and locations well-formed JSON is enough, but no less.
func TestOfferArguments(t *testing.T) {
	for name, value := range map[string]string{
		"duplicate keys":   `{"a":1,"a":{"b":1,"b":[{"c":1,"c":2}]}}`,
		"a lone surrogate": `{"\ud800":"\udfff"}`,
		"a string":         `"\ud800"`,
		"an array":         `["\ud800",{"a":1,"a":2}]`,
		"a number":         `1e400`,
		"null":             `null`,
		"quotes inside":    `"}],\"toolCall\":{\\"`,
		"nested":           strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	} {
		for _, key := range []string{"rawInput", "content", "locations", `raw\u0049nput`} {
			for _, change := range []func(string) string{func(s string) string { return s }, padded} {
				got := fromAgent(t, acp.NewDecoder(acp.Options{}), change(offerOf(`{"`+key+`":`+value+`,"toolCallId":"c","name":"n"}`)))
				assert.Equal(t, plain(call(func(c *pipeline.ToolCall) { c.Name = given("n") })), got, name)
			}
		}
	}
	// What is no JSON makes the line noise: nobody can have read it.
	for _, value := range []string{`{"a":}`, `{a:1}`, `[1,]`, `tru`, `01`, `1.`, `.5`, `+1`, `NaN`, `'x'`, `"\x"`, `"\u12"`, "\"\t\"", `{"a" 1}`, `{"a":1 "b":2}`, `[}`, `{]`, `-`, `1e`} {
		for _, key := range []string{"rawInput", "content", "x"} {
			for _, change := range []func(string) string{func(s string) string { return s }, padded} {
				_, err := acp.NewDecoder(acp.Options{}).FromAgent([]byte(change(offerOf(`{"toolCallId":"c","` + key + `":` + value + `}`))))
				assert.ErrorIs(t, err, acp.ErrNoise, value)
			}
		}
	}
}

// Nesting that the decoder refuses makes an offer unreadable, wherever it is;
// one level less is fine. The offer's own object, params and the call are three.
func TestOfferNesting(t *testing.T) {
	const most = 10_000
	for _, key := range []string{"rawInput", "x", "_meta"} {
		for _, pair := range []string{"[]", "{}"} {
			nested := func(depth int) *acp.Offer {
				open, end := "[", "]"
				if pair == "{}" {
					open, end = `{"a":`, "}"
				}
				value := strings.Repeat(open, depth-1) + pair + strings.Repeat(end, depth-1)
				return fromAgent(t, acp.NewDecoder(acp.Options{}), offerOf(`{"toolCallId":"c","`+key+`":`+value+`}`))
			}
			assert.Empty(t, nested(most-3).Reason, "%s %s", key, pair)
			assert.Equal(t, &acp.Offer{ID: acp.NewID("7"), Reason: acp.ReasonUnreadable}, nested(most-2), "%s %s", key, pair)
			assert.Equal(t, &acp.Offer{ID: acp.NewID("7"), Reason: acp.ReasonUnreadable}, nested(2*most), "%s %s", key, pair)
		}
	}
}

// approve would approve everything, as blanket approval does.
type approve struct{}

func (approve) Name() pipeline.Name { return "approve" }

func (approve) Evaluate(context.Context, pipeline.Evaluation) (pipeline.Decision, error) {
	return pipeline.Decision{Verdict: pipeline.Select, Reason: "approved"}, nil
}

// An unreadable offer and one without options are cancelled before any stage,
// whatever the stages would say.
func TestOfferDecide(t *testing.T) {
	p, err := pipeline.New(pipeline.Order{"approve"}, []pipeline.Stage{approve{}})
	require.NoError(t, err)
	form := func(reason pipeline.Reason) pipeline.Result {
		return pipeline.Result{Decision: pipeline.Decision{Verdict: pipeline.Cancel, Reason: reason}, Stage: acp.Stage}
	}
	approved := pipeline.Decision{Verdict: pipeline.Select, Reason: "approved"}
	tests := map[string]struct {
		line string
		want pipeline.Result
	}{
		"readable":   {offerOf(`{"toolCallId":"c"}`), pipeline.Result{Decision: approved, Stage: "approve"}},
		"unreadable": {offerOf(`{"toolCallId":5}`), form(acp.ReasonUnreadable)},
		"no options": {request(`{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}`), form(acp.ReasonNoOptions)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := fromAgent(t, acp.NewDecoder(acp.Options{}), test.line)
			assert.Equal(t, test.want, o.DecideUntraced(t.Context(), p))
			traced := o.Decide(t.Context(), p)
			if test.want.Decision.Verdict == pipeline.Select {
				assert.Equal(t, []pipeline.Step{{Stage: "approve", Decision: approved}}, traced.Trace.Steps())
			}
			traced.Trace = pipeline.Trace{}
			assert.Equal(t, test.want, traced)
		})
	}
}
