package process

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/pending"
)

// settle is the agent sending lines, until they were handled.
func (w *wired) settle(t *testing.T, lines ...string) {
	t.Helper()
	w.send(append(lines, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"settled"}}}}`)...)
	w.heard(t, "settled")
}

func TestL44_ASessionIsGivenAnotherList(t *testing.T) {
	w := newStage(t, "", injected(nil)).wire(t)
	i := w.instance
	one, err := i.NewSession(t.Context(), "/")
	require.NoError(t, err)
	_, err = i.NewSession(t.Context(), "/")
	require.NoError(t, err)
	for _, secret := range w.tape.hidden {
		require.Equal(t, http.StatusOK, w.knock(t, i, secret))
	}
	n := 0
	ask := func(what string, want ...string) { // an offer of each session
		t.Helper()
		before := len(w.decisions())
		for _, session := range []string{"s1", "s2"} {
			n++
			w.settle(t, injectedOffer(fmt.Sprint(n), session, fmt.Sprint("c", n), listTool))
		}
		assert.Equal(t, want, w.decisions()[before:], what)
	}
	const approved = "select injected_mcp allow_once"
	ask("before", approved, approved)

	for _, fails := range []bool{true, false} {
		requests := make(chan string, 1)
		w.mu.Lock()
		w.reply = func(got agentFrame) []string {
			if got.Method == "session/load" {
				requests <- string(got.ID)
			}
			return nil
		}
		w.mu.Unlock()
		loaded := make(chan error, 1)
		go func() { _, err := i.LoadSession(t.Context(), one.ID(), "/"); loaded <- err }()
		id := receive(t, requests)
		ask("while it is open", "pend server_list_unsettled", approved)
		if fails {
			w.settle(t, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32000,"message":"no"}}`)
			assert.Error(t, receive(t, loaded))
			ask("the earlier list holds again", approved, approved)
			continue
		}
		w.settle(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`)
		require.NoError(t, receive(t, loaded))
	}
	ask("the new list's secret was not seen yet", "pend injected_server_not_contacted", approved)
	require.Equal(t, http.StatusOK, w.knock(t, i, w.tape.hidden[3]))
	ask("and then it was", approved, approved)
}

func TestL41_NothingAboutProvenanceIsKept(t *testing.T) {
	s := newStage(t, "loads", injected(nil))
	session := s.session(t)
	old := session.instance
	assert.True(t, old.Config().InjectedKandevMCP)
	encoded, err := json.Marshal(old.Config())
	require.NoError(t, err)
	var decoded config.InstanceConfig
	require.NoError(t, json.Unmarshal(encoded, &decoded))
	assert.False(t, decoded.InjectedKandevMCP)
	assert.Empty(t, decoded.MCPServers)
	assert.Zero(t, decoded.Port)

	again, err := s.manager.Restart(t.Context(), old)
	require.NoError(t, err)
	t.Cleanup(func() { again.Stop(context.Background()) })
	assert.NotEqual(t, old.ID(), again.ID())
	assert.NotEqual(t, old.Config().Port, again.Config().Port, "an endpoint of its own")
	assert.True(t, again.Config().InjectedKandevMCP, "built anew")
	resumed, err := again.ResumeSession(t.Context(), session.ID(), "/")
	require.NoError(t, err)
	require.Len(t, s.tape.hidden, 2, "and a secret of its own")
	assert.Equal(t, http.StatusUnauthorized, s.knock(t, again, s.tape.hidden[0]))
	assert.Equal(t, http.StatusOK, s.knock(t, again, s.tape.hidden[1]))
	assert.Equal(t, "s1", resumed.ID())
}

func TestL04_TheLateExitOfAReplacedProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, "")
		old, successor := s.wire(t), s.wire(t)
		first := old.open(t, "1", "s1", "c", threeOptions)
		second := successor.open(t, "1", "s1", "c", threeOptions) // the same ids
		old.end(false)
		first.over(t, pending.CodeStale, pending.ReasonInstanceGone)
		assert.Empty(t, old.frames())
		second.open(t)
		old.instance.manager.handlePermissionRequest(old.instance, decodedOffer(t, old.instance, "2", "s1"), nil) // a line that was in its pipe
		assert.Equal(t, 1, s.store.Len())
		second.selects(t, 0)
		synctest.Wait()
		assert.Equal(t, map[string][]string{"1": {"selected a"}}, successor.frames())
		assert.Equal(t, "cancel instance_gone", s.decisions()[2])
	})
}

// Many ask at once, in more than one session, and the agent is killed meanwhile.
func TestL04_KilledWhilePeopleAnswer(t *testing.T) {
	const open = 100
	s := newStage(t, "asks by words")
	session := s.session(t)
	var lines []string
	for n := range open {
		lines = append(lines, fmt.Sprintf("offer %d s%d c", n, n%3))
	}
	s.turn(t, session, strings.Join(lines, "\n")+"\nend")
	errs := make(chan error, open)
	killed := make(chan struct{})
	for range open {
		q := s.next(t)
		go func() {
			<-killed
			errs <- s.store.Resolve(q.Key, pending.Allow(), tester)
		}()
	}
	require.NoError(t, kill(session.instance))
	close(killed)
	wait(t, session.instance.Done())
	sent := 0
	for range open {
		if err := receive(t, errs); err != nil {
			assert.ErrorIs(t, err, pending.ErrStale)
			continue
		}
		sent++
	}
	assert.Zero(t, s.store.Len())
	assert.LessOrEqual(t, len(s.tape.answers()), sent, "nothing but what somebody was told is sent")
	for range open {
		receive(t, s.answered)
	}
	assert.Empty(t, s.answered)
}
