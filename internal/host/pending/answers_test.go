package pending

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
)

func TestL20_DenyWithoutAReject(t *testing.T) {
	s, w := newStore(t), &wire{}
	key := register(t, s, offer("i", "s", "1", w, allowOnly...))
	resolves(t, s, key, Deny())
	assert.Equal(t, pipeline.Cancel, w.last(t).Verdict)
	assert.Empty(t, w.last(t).OptionID)
	assert.Equal(t, ReasonDenied, w.last(t).Reason)
	assert.Equal(t, -1, w.last(t).Option, "no index by accident")
}

func TestL21_DenyWithAReject(t *testing.T) {
	s, w := newStore(t), &wire{}
	key := register(t, s, offer("i", "s", "1", w))
	resolves(t, s, key, Deny())
	got := w.last(t)
	got.Waited = 0
	assert.Equal(t, Outcome{
		Key: key, Sequence: 1, Verdict: pipeline.Select, Option: 2, OptionID: "reject", OptionKind: pipeline.RejectOnce,
		Reason: ReasonDenied, By: someone,
	}, got)
}

func TestL22_WhichOfFour(t *testing.T) {
	s, w := newStore(t), &wire{}
	key := register(t, s, offer("i", "s", "1", w, fourOnce...))
	fails(t, s, key, Allow(), Error{Code: CodeOptionRequired, Reason: pipeline.ReasonTwinAllows})
	assert.Empty(t, w.sent())
	assert.Equal(t, []Key{key}, listed(s))
	resolves(t, s, key, Select("3"))
	assert.Equal(t, 2, w.last(t).Option)
}

func TestL23_AnOptionThatWasNotOffered(t *testing.T) {
	s, w := newStore(t), &wire{}
	key := register(t, s, offer("i", "s", "1", w))
	for _, id := range []string{"", "allow", "Allow-once", "allow-once ", "allow_once", "0", "\x00"} {
		fails(t, s, key, Select(id), ErrOptionNotOffered)
	}
	assert.Empty(t, w.sent())
	assert.Equal(t, []Key{key}, listed(s))
}

func TestL35_IdsOfTwoTypes(t *testing.T) {
	s, number, text := newStore(t), &wire{}, &wire{}
	register(t, s, offer("i", "s", `7`, number))
	key := register(t, s, offer("i", "s", `"7"`, text))
	assert.Equal(t, 1, s.Withdraw("i", offer("i", "s", `7`, number).ID))
	assert.Equal(t, ReasonWithdrawn, number.last(t).Reason)
	assert.Equal(t, []Key{key}, listed(s))
	resolves(t, s, key, Allow())
	assert.Len(t, text.sent(), 1)
}

// canary stands where secrets stand. In a title it can only be masked where it
// is written like one.
const canary = "h7-Canary.Pass!word"

const canaryLine = `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","_meta":{"k":"CANARY"},` +
	`"toolCall":{"toolCallId":"c","title":"curl -u CANARY: https://example.com/","kind":"execute","_meta":{"env":"CANARY"},` +
	`"rawInput":{"command":"curl -u CANARY: https://example.com/","env":{"K":"CANARY"},"headers":["CANARY"],"note":"CANARY"},` +
	`"content":[{"type":"content","content":{"type":"text","text":"CANARY"}}],"locations":[{"path":"/w","_meta":"CANARY"}]},` +
	`"options":[{"optionId":"allow-CANARY","name":"Always for curl -u CANARY:","kind":"allow_always"},{"optionId":"r","name":"No","kind":"reject_once"}]}}`

func TestL50_NoSecretLeaves(t *testing.T) {
	s, w := newStore(t), &wire{}
	o := decodedOffer(t, strings.ReplaceAll(canaryLine, "CANARY", canary), w)
	events, stop := s.Watch(8)
	defer stop()
	key := register(t, s, o)
	var out bytes.Buffer
	for _, handler := range []slog.Handler{
		slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}),
		slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}),
	} {
		log := slog.New(handler)
		for _, a := range []Answer{{}, Allow(), Deny(), Cancel()} {
			log.Debug("x", "answer", a)
		}
		snapshot := s.List(Query{})[0]
		detail, err := s.Detail(key)
		require.NoError(t, err)
		require.Contains(t, detail.Arguments, canary, "a person sees it")
		log.Debug("x", "offer", o, "snapshot", snapshot, "options", snapshot.Options, "detail", detail, "answer", Select("allow-"+canary))
		fmt.Fprint(&out, detail, &detail, fmt.Sprintf("%v %+v %#v %s", detail, detail, detail, detail))
		fmt.Fprint(&out, snapshot.Action, Select(canary))
		for _, wrong := range []error{
			s.Resolve(key, Select(canary), someone), s.Resolve(Key{Instance: canary, Session: canary, Request: key.Request}, Allow(), someone),
			s.Resolve(Key{Request: canary}, Allow(), someone), s.Resolve(key, Allow(), someone), s.Resolve(key, Select(canary), someone),
		} {
			log.Debug("x", "err", wrong)
			fmt.Fprintf(&out, "%v %+v", wrong, wrong)
		}
		key = register(t, s, o)
	}
	for len(events) > 0 {
		ev := <-events
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "event", ev, "outcome", ev.Outcome)
	}
	assert.NotContains(t, out.String(), "Canary")
	assert.NotContains(t, out.String(), fmt.Sprint([]byte(canary))[1:20], "nor as bytes")
	assert.Contains(t, out.String(), "curl -u [hidden:20] https://example.com/")
}

func TestL51_TheListIsRedactedTheAnswerIsNot(t *testing.T) {
	s, w := newStore(t), &wire{}
	key := register(t, s, decodedOffer(t, strings.ReplaceAll(canaryLine, "CANARY", canary), w))
	text, err := json.Marshal(s.List(Query{}))
	require.NoError(t, err)
	assert.NotContains(t, strings.ReplaceAll(string(text), `"id":"allow-`+canary, ""), "Canary", "only the option id has its exact bytes")
	assert.Contains(t, string(text), `"label":"Always for curl -u [hidden:20]"`)
	assert.Contains(t, string(text), `"action":{"type":"execute","command":"curl -u [hidden:20] https://example.com/","path":"/w"}`)

	id := s.List(Query{})[0].Options.At(0).ID
	resolves(t, s, key, Select(id))
	assert.Equal(t, "allow-"+canary, w.last(t).OptionID)
	assert.Equal(t, 0, w.last(t).Option)
}
