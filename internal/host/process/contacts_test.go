package process

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
)

// injectedOffer is an offer of a tool of the injected server.
func injectedOffer(id, session, call, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":%q,"name":"mcp__kandev__%s"},"options":%s}}`,
		id, session, call, tool, threeOptions)
}

const listTool = "list_tasks_kandev"

func TestOnlyASessionThatListedTheToolsIsApproved(t *testing.T) {
	s := newStage(t, "asks by words", injected(nil))
	session := s.session(t)
	i := session.instance
	ask := func(id, session, tool string) {
		s.turn(t, i.sessions["s1"], injectedOffer(id, session, "c"+id, tool)+"\nend")
	}
	pends := func() { s.next(t).cancels(t); receive(t, s.says) }

	ask("1", "s1", listTool) // nobody was at the endpoint yet
	pends()
	require.Equal(t, http.StatusOK, s.knock(t, i, s.tape.hidden[0]))
	ask("2", "s1", listTool)
	s.heard(t, fmt.Sprintf(selectedA, "2"))
	ask("3", "s1", "no_such_tool")
	pends()
	ask("4", "of-a-sub-agent", listTool) // it has no secret
	pends()
	assert.Equal(t, []string{
		"pend injected_server_not_contacted", "select injected_mcp allow_once", "pend tool_not_offered", "pend session_without_secret",
	}, s.decisions())
}

func TestNoSessionBorrowsWhatAnotherOneDid(t *testing.T) {
	s := newStage(t, "loads", injected(nil))
	session := s.session(t)
	i := session.instance
	require.Equal(t, http.StatusOK, s.knock(t, i, s.tape.hidden[0]))
	fork, err := i.ForkSession(t.Context(), session.ID(), "/")
	require.NoError(t, err)
	witnessed := func(session string) pipeline.Session {
		req := pipeline.Request{SessionID: session}
		i.nets.Witness(&req)
		return req.Session
	}
	assert.Contains(t, witnessed(session.ID()).OfferedTools, listTool)
	assert.Equal(t, pipeline.Session{}, witnessed(fork.ID()), "its own secret was not seen")

	_, err = i.ResumeSession(t.Context(), session.ID(), "/")
	require.NoError(t, err)
	assert.Equal(t, pipeline.Session{}, witnessed(session.ID()), "a resumed session has to be seen anew")
}
