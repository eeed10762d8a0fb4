package acp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// FuzzReader compares the reader with taking the whole stream apart at once.
func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\r\r\n\ncut"), 5, []byte{1, 2, 3})
	f.Add([]byte("123456\n12345\r\n1234567\r\nx"), 5, []byte{255})
	f.Add(bytes.Repeat([]byte("\r"), 40), 7, []byte{3})
	f.Fuzz(func(t *testing.T, stream []byte, limit int, lengths []byte) {
		limit = 1 + (limit&0x3f+64)%64
		p := &pieces{rest: stream, lengths: []int{1}}
		for _, n := range lengths {
			p.lengths = append(p.lengths, 1+int(n)*300) // beyond the reader's buffer, too
		}
		want := plainLines(string(stream), limit)
		if got := readAll(acp.NewReader(p, limit)); !assert.ObjectsAreEqual(want, got) {
			t.Fatalf("got %v, wanted %v", got, want)
		}
	})
}

// FuzzPeek: valid JSON is peeked at as a strict decoder reads it, and everything
// else does no harm.
func FuzzPeek(f *testing.F) {
	for _, line := range seeds() {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		frame, err := acp.Peek(line)
		blank := strings.Trim(string(line), " \t\r\n") == ""
		require.Equal(t, blank, err == acp.ErrBlank)
		if err != nil {
			require.Equal(t, acp.Frame{}, frame)
		}
		valid := json.Valid(line)
		object := bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("{"))
		switch {
		case !valid:
			require.NotErrorIs(t, err, acp.ErrBatch)
			return
		case !object:
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		if !utf8.Valid(line) || !jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true)) {
			return // keys of bad text are for the decoder to find
		}
		count, last := strictly(t, string(line))
		require.Equal(t, last["id"], frame.ID.String())
		if len(last["method"]) < 200 && count["method"] <= 1 {
			var method string
			_ = json.Unmarshal([]byte(last["method"]), &method)
			require.Equal(t, method, frame.Method)
			require.Equal(t, kindOf(count, last["id"], frame.Method), frame.Kind)
		}
	})
}

// FuzzOffer: only what can be read in one way is ever selected, and the answer
// names an option that was offered. Whether the line is long makes no difference.
func FuzzOffer(f *testing.F) {
	for _, line := range seeds() {
		f.Add([]byte(line))
	}
	p, err := pipeline.New(pipeline.Order{"approve"}, []pipeline.Stage{approve{}})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := acp.NewDecoder(acp.Options{Dialect: observer{}}).FromAgent(line)
		if trimmed := bytes.TrimLeft(line, " \t\r\n"); bytes.HasPrefix(trimmed, []byte(`{"`)) {
			long := append([]byte(`{"`+strings.Repeat("p", 5<<10)+`":1,`), trimmed[1:]...)
			other, otherErr := acp.NewDecoder(acp.Options{Dialect: observer{}}).FromAgent(long)
			require.Equal(t, err, otherErr)
			require.Equal(t, m.Offer, other.Offer)
		}
		if m.Offer == nil {
			return
		}
		o := m.Offer
		require.NoError(t, err)
		require.True(t, json.Valid(line))
		require.True(t, o.ID.Valid())
		r := o.DecideUntraced(t.Context(), p)
		answer := o.Answer(r)
		require.True(t, json.Valid(answer))
		if r.Decision.Verdict != pipeline.Select {
			require.Equal(t, string(o.Cancelled()), string(answer))
			return
		}
		require.True(t, utf8.Valid(line))
		var message struct {
			Params map[string]json.RawMessage `json:"params"`
		}
		require.NoError(t, json.Unmarshal(line, &message))
		var session string
		require.NoError(t, json.Unmarshal(message.Params["sessionId"], &session))
		require.Equal(t, session, o.Request.SessionID)
		var options []map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(message.Params["options"], &options))
		require.Len(t, o.Request.Options, len(options))
		for i, option := range options {
			var id string
			require.NoError(t, json.Unmarshal(option["optionId"], &id))
			require.Equal(t, id, o.Request.Options[i].ID)
		}
		require.Equal(t, string(o.Select(0)), string(answer))
	})
}

// FuzzDecoder feeds any lines in both directions. A decoder does not panic, does
// not depend on the memory of its lines, and offers only what can be answered.
func FuzzDecoder(f *testing.F) {
	for _, line := range seeds() {
		f.Add([]byte(line))
	}
	f.Add([]byte(strings.Join(append(seeds(), seeds()...), "\n")))
	f.Add([]byte(newSession("1", hostsList) + "\n" + made("1", "s") + "\n" + offerIn("s", ``) + "\n" + onSession("2", "load", "s", otherList) + "\n" + done("2") + "\n" + offerIn("s", ``)))
	f.Fuzz(func(t *testing.T, text []byte) {
		options := acp.Options{Dialect: observer{}, Placeholder: "Bearer redacted"}
		d, again := acp.NewDecoder(options), acp.NewDecoder(options)
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			memory := bytes.Clone(line)
			if client, is := bytes.CutPrefix(memory, []byte(">")); is {
				_, err := d.FromClient(client, "")
				_, errAgain := again.FromClient(line[1:], "")
				require.Equal(t, errAgain, err)
				continue
			}
			m, err := d.FromAgent(memory)
			for i := range memory {
				memory[i] = '#'
			}
			mAgain, errAgain := again.FromAgent(line)
			require.Equal(t, errAgain, err)
			require.True(t, err == nil || errors.Is(err, acp.ErrNoise) || errors.Is(err, acp.ErrBatch) || errors.Is(err, acp.ErrBlank))
			sortLists(m.Offer)
			sortLists(mAgain.Offer)
			require.Equal(t, mAgain.Offer, m.Offer)
			if m.Offer != nil {
				require.True(t, m.Offer.ID.Valid())
				require.True(t, json.Valid(m.Offer.Cancelled()))
			}
		}
	})
}

// sortLists: the lists of sessions that were never announced come in any order.
func sortLists(o *acp.Offer) {
	if o != nil && len(o.Request.Session.Lists) > 1 {
		o.Request.Session.Lists = nil
	}
}

// seeds are lines of every kind.
func seeds() []string {
	return []string{
		"", "npm notice", "[INFO] x", `[{"id":1,"method":"x"}]`, `{"id":1,"method":"x"} y`, `{}`, `{"id":1,"id":"2","method":"session/request\u005fpermission"}`,
		`{"id":1,"result":{"sessionId":"s"}}`, `{"id":1,"error":null}`, `{"method":"session/update","params":{}}`,
		offerOf(`{"toolCallId":"c","name":"mcp__kandev__list_tasks","title":"t","kind":"other","_meta":{"claudeCode":{"toolName":"x"}}}`),
		offerOf(`{"toolCallId":"c","rawInput":{"a":1,"a":"\ud800"},"content":[{}],"locations":null}`),
		offerOf("{\"toolCallId\":\"c\",\"name\":\"\xff\",\"n\\u0061me\":null}"),
		v2(`{"type":"tool_call","toolCall":{"toolCallId":"c","name":"n"}}`), v2(`{"toolCall":{},"type":"command"}`),
		request(`{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}`),
		start(`,"name":"n","title":"t","status":"completed"`), then(`,"rawInput":{"server":"kandev","tool":"x"},"_meta":{"is_mcp_tool_call":true}`),
		updateOf(`{"sessionUpdate":"tool_call","toolCallId":"c","toolCallId":"d"}`),
		strings.TrimPrefix(onSession("1", "load", "s", hostsList), ">"), onSession(`"x"`, "fork", "s", otherList),
	}
}
