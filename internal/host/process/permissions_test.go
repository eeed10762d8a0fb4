package process

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/pipeline"
)

func TestAPersonAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		answer pending.Answer
		want   string
		reason pipeline.Reason
	}{
		"an option": {pending.Select("w"), `{"outcome":{"outcome":"selected","optionId":"w"}}`, pending.ReasonSelected},
		"allow":     {pending.Allow(), `{"outcome":{"outcome":"selected","optionId":"a"}}`, pending.ReasonAllowed},
		"deny":      {pending.Deny(), `{"outcome":{"outcome":"selected","optionId":"r"}}`, pending.ReasonDenied},
		"cancel":    {pending.Cancel(), `{"outcome":{"outcome":"cancelled"}}`, pending.ReasonCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "asks by words")
			session := s.session(t)
			s.turn(t, session, "offer 0 s1 c1\nend")
			q := s.next(t)
			assert.Equal(t, Action{Type: "execute", Title: "ls", Command: "ls", Arguments: `{"command":"ls"}`}, q.Action)
			assert.Equal(t, "s1", q.Session)
			assert.Equal(t, pipeline.Pend, q.Result.Decision.Verdict)
			assert.Len(t, q.Options, 3)
			require.NoError(t, s.store.Resolve(q.Key, test.answer, tester))
			s.heard(t, `{"jsonrpc":"2.0","id":0,"result":`+test.want+`}`)
			got := receive(t, s.answered)
			assert.Equal(t, q.Number, got.Number)
			assert.Equal(t, q.Key, got.Outcome.Key)
			assert.Equal(t, test.reason, got.Outcome.Reason)
			assert.Equal(t, tester, got.Outcome.By)
			assert.True(t, got.Sent)
		})
	}
}

func TestABlanketApprovalAsksNobody(t *testing.T) {
	s := newStage(t, "asks by words", func(_ *Options, l *Launch) { l.Config.AutoApprovePermissions = true })
	session := s.session(t)
	s.turn(t, session, "offer 0 s1 c1\nend")
	s.heard(t, fmt.Sprintf(selectedA, "0"))
	s.none(t)
	assert.Equal(t, []string{"select blanket_approval allow_once"}, s.decisions())
}

func TestIDsComeBackAsTheyWere(t *testing.T) {
	ids := []string{`0`, `"0"`, `7`, `"7"`, `-1`, `1.50`, `1e3`, `9007199254740993`, `"é"`, `"\u0061\""`, `""`}
	s := newStage(t, "asks by words")
	session := s.session(t)
	for _, id := range ids {
		s.turn(t, session, "offer "+id+" s1 c1\nend")
		s.next(t).selects(t, 0)
		s.heard(t, fmt.Sprintf(selectedA, id))
	}
}

func TestWhatHasNoIDHasNoAnswer(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	params := `"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c"},"options":` + threeOptions + `}`
	s.turn(t, session, strings.Join([]string{
		`{"jsonrpc":"2.0",` + params + `}`,
		`{"jsonrpc":"2.0","id":null,` + params + `}`,
		`{"jsonrpc":"2.0","id":{},` + params + `}`,
		`offer 5 s1 c1`,
		"end",
	}, "\n"))
	s.next(t).selects(t, 0)
	s.heard(t, fmt.Sprintf(selectedA, "5"))
	s.none(t)
	assert.Len(t, s.tape.answers(), 1)
}

func TestWhatIsDecidedByItsForm(t *testing.T) {
	for name, test := range map[string]struct{ line, want string }{
		"no options": {`{"jsonrpc":"2.0","id":4,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c"},"options":[]}}`,
			"cancel no_options"},
		"two readings": {`{"jsonrpc":"2.0","id":4,"method":"session/request_permission","params":{"sessionId":"s1","sessionId":"s1","toolCall":{"toolCallId":"c"},"options":` + threeOptions + `}}`,
			"cancel unreadable_offer"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "asks by words", func(_ *Options, l *Launch) { l.Config.AutoApprovePermissions = true })
			session := s.session(t)
			s.turn(t, session, test.line+"\nend")
			s.heard(t, fmt.Sprintf(isCancelled, "4"))
			s.none(t)
			assert.Equal(t, []string{test.want}, s.decisions())
		})
	}
}

func TestL34_ABatchIsRefusedAndTheNextLineWorks(t *testing.T) {
	s := newStage(t, "asks by words", func(_ *Options, l *Launch) { l.Config.AutoApprovePermissions = true })
	session := s.session(t)
	s.turn(t, session, `[{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c"},"options":`+threeOptions+"}}]\noffer 2 s1 c2\nend")
	s.heard(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not supported: send one message per line"}}`)
	s.heard(t, fmt.Sprintf(selectedA, "2"))
	assert.Len(t, s.decisions(), 1)
}

func TestRequestsThatNobodyServes(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	for _, method := range []string{"fs/read_text_file", "fs/write_text_file", "terminal/create", "_vendor/x"} {
		s.turn(t, session, `{"jsonrpc":"2.0","id":"q\u0031","method":"`+method+`","params":{}}`+"\nend")
		s.heard(t, `{"jsonrpc":"2.0","id":"q\u0031","error":{"code":-32601,"message":"this client has no such method"}}`)
	}
}

func TestABurstOfOffersIsAnsweredOneByOne(t *testing.T) {
	const burst = 64
	s := newStage(t, "asks by words")
	session := s.session(t)
	var lines []string
	for n := range burst {
		lines = append(lines, fmt.Sprintf("offer %d s1 c%d", n, n%3)) // call ids that repeat
	}
	s.turn(t, session, strings.Join(lines, "\n")+"\nend")
	open := map[uint64]asked{}
	for range burst {
		q := s.next(t)
		open[q.Number] = q
	}
	require.Len(t, open, burst, "numbers are never used twice")
	for n := uint64(burst); n > 0; n-- { // the youngest first
		open[n].selects(t, int(n)%3)
		option := []string{"a", "w", "r"}[n%3]
		s.heard(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, n-1, option))
	}
	assert.Len(t, s.tape.answers(), burst)
}

func TestL09_OneToolCallIDTwice(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	s.turn(t, session, "offer 1 s1 same\noffer 2 s2 same\nend")
	one, two := s.next(t), s.next(t)
	if one.Session != "s1" {
		one, two = two, one
	}
	two.selects(t, 0)
	s.heard(t, fmt.Sprintf(selectedA, "2"))
	one.open(t)
	mixed := pending.Key{Instance: one.Instance, Session: two.Session, Request: one.Request}
	assert.ErrorIs(t, s.store.Resolve(mixed, pending.Allow(), tester), pending.ErrMismatch)
	one.open(t)
	one.cancels(t)
	s.heard(t, fmt.Sprintf(isCancelled, "1"))
}

func TestL35_OneIDInTwoTypes(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	s.turn(t, session, "offer 7 s1 c\noffer \"7\" s1 c\nend")
	for range 2 {
		s.next(t).selects(t, 0)
	}
	got := []string{receive(t, s.says), receive(t, s.says)}
	assert.ElementsMatch(t, []string{fmt.Sprintf(selectedA, "7"), fmt.Sprintf(selectedA, `"7"`)}, got)
}

func TestL11L12_OffersOfNoPromptAndOfNoSession(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	s.turn(t, session, "end\noffer 1 s1 never-announced\noffer 2 of-a-sub-agent c")
	for range 2 {
		s.next(t).selects(t, 0)
	}
	got := []string{receive(t, s.says), receive(t, s.says)}
	assert.ElementsMatch(t, []string{fmt.Sprintf(selectedA, "1"), fmt.Sprintf(selectedA, "2")}, got)
}

func TestL01L02_CancellingASessionAnswersItsOffers(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	turn := s.prompt(t, session, "offer 1 s1 a\noffer 2 s1 b\noffer 3 other c")
	open := map[uint64]asked{}
	for range 3 {
		q := s.next(t)
		open[q.Number] = q
	}
	require.NoError(t, session.Cancel())
	s.heard(t, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	s.heard(t, fmt.Sprintf(isCancelled, "1"))
	s.heard(t, fmt.Sprintf(isCancelled, "2"))
	for _, n := range []uint64{1, 2} {
		open[n].over(t, pending.CodeStale, pending.ReasonSessionCancelled)
	}
	open[3].open(t) // a cancel must not reach a neighbour
	open[3].selects(t, 0)
	s.heard(t, fmt.Sprintf(selectedA, "3"))
	assert.Len(t, s.tape.answers(), 3, "late answers count for nothing")
	session.instance.Stop(t.Context())
	assert.Error(t, receive(t, turn))
}

func TestL03_AfterACancelTheNextTurnAsksAgain(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	first := s.prompt(t, session, "offer 1 s1 a")
	old := s.next(t)
	require.NoError(t, session.Cancel())
	old.over(t, pending.CodeStale, pending.ReasonSessionCancelled)
	// The turn that was cancelled is not over: what it still asks is cancelled.
	require.NoError(t, session.instance.conn.out.push(outLine{line: []byte(`{"jsonrpc":"2.0","id":99,"method":"session/prompt","params":{"prompt":[{"text":"offer 2 s1 b"}]}}`)}))
	s.heard(t, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	s.heard(t, fmt.Sprintf(isCancelled, "1"))
	s.heard(t, fmt.Sprintf(isCancelled, "2"))
	s.none(t)

	s.turn(t, session, "offer 3 s1 c\nend") // the agent never answered the first prompt
	s.next(t).selects(t, 0)
	s.heard(t, fmt.Sprintf(selectedA, "3"))
	assert.Equal(t, "cancel session_cancelled", s.decisions()[1])
	select {
	case <-first:
		t.Fatal("the first turn has no answer")
	default:
	}
}

func TestACancelWithoutATurnCancelsNothingLater(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	require.NoError(t, session.Cancel())
	s.heard(t, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	s.turn(t, session, "end\noffer 1 s1 a")
	s.next(t).selects(t, 0)
	s.heard(t, fmt.Sprintf(selectedA, "1"))
}

func TestAWithdrawnOfferIsOver(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	withdraw := `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s}}`
	turn := s.prompt(t, session, "offer \"x\" s1 a\noffer 2 s1 b")
	open := map[uint64]asked{}
	for range 2 {
		q := s.next(t)
		open[q.Number] = q
	}
	_, err := session.begin("end")
	require.ErrorIs(t, err, ErrTurnOpen)
	for _, line := range []string{
		fmt.Sprintf(withdraw, `"2"`), fmt.Sprintf(withdraw, `{}`), `{"jsonrpc":"2.0","method":"$/cancel_request"}`, // none of them means an open offer
		fmt.Sprintf(withdraw, `"\u0078"`),
	} {
		more := `{"jsonrpc":"2.0","id":98,"method":"session/prompt","params":{"prompt":[{"text":` + fmt.Sprintf("%q", line) + `}]}}`
		require.NoError(t, session.instance.conn.out.push(outLine{line: []byte(more)}))
	}
	s.heard(t, fmt.Sprintf(isCancelled, `"x"`))
	open[1].over(t, pending.CodeWithdrawn, pending.ReasonWithdrawn)
	assert.Equal(t, pending.ReasonWithdrawn, receive(t, s.answered).Outcome.Reason)
	open[2].selects(t, 0)
	s.heard(t, fmt.Sprintf(selectedA, "2"))
	session.instance.Stop(t.Context())
	<-turn
}

func TestStoppingAnswersWhatIsOpen(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	s.turn(t, session, "offer 1 s1 a\nend")
	q := s.next(t)
	session.instance.Stop(t.Context())
	q.over(t, pending.CodeStale, pending.ReasonInstanceGone)
	got := receive(t, s.answered)
	assert.Equal(t, pending.ReasonInstanceGone, got.Outcome.Reason)
	assert.True(t, got.Sent)
	s.heard(t, fmt.Sprintf(isCancelled, "1"))
}

func TestL10_MoreOffersThanCanWait(t *testing.T) {
	s := newStage(t, "asks by words")
	session := s.session(t)
	var lines []string
	for n := range pending.DefaultMaxOpenPerInstance + 1 {
		lines = append(lines, fmt.Sprintf("offer %d s1 c", n))
	}
	s.turn(t, session, strings.Join(lines, "\n")+"\nend")
	s.heard(t, fmt.Sprintf(isCancelled, "4096"))
	assert.Equal(t, "cancel too_many_open", s.decisions()[pending.DefaultMaxOpenPerInstance])
	s.next(t).selects(t, 0)
	receive(t, s.says)
	s.turn(t, session, "offer \"again\" s1 c\nend")
	assert.Equal(t, "pend", strings.Fields(s.decisions()[pending.DefaultMaxOpenPerInstance+1])[0])
}
