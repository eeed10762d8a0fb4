package pagetest

import (
	"net/http"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A page whose token has too many connections says so while it tries again.
func TestATokenWithTooManyConnections(t *testing.T) {
	s := begin(t)
	header := http.Header{"Authorization": {"Bearer s3cret"}}
	var last *websocket.Conn
	for {
		conn, answer, err := websocket.Dial(t.Context(), "ws://"+s.address+"/ws", &websocket.DialOptions{HTTPHeader: header})
		if err != nil {
			require.Equal(t, http.StatusTooManyRequests, answer.StatusCode)
			break
		}
		defer func() { _ = conn.CloseNow() }()
		last = conn
	}
	w := open(t)
	w.visit("http://" + s.address + "/#token=s3cret")
	w.shows("#connection", "Not connected: this token has too many connections: close one (the next try is in")
	require.NoError(t, last.CloseNow())
	w.run(`document.getElementById("now").click()`)
	w.connected()
	assert.NotContains(t, w.text("#connection"), "too many")
}

// What the host has to say about a task can be seen without opening anything, as text.
func TestTheNoteOfATask(t *testing.T) {
	s := begin(t)
	s.state.Tasks[0].Note = "The agent could not go on: <b>it has ended</b>"
	w := s.enter("s3cret")
	w.shows("#tasks .note", "The agent could not go on: <b>it has ended</b>")
	assert.True(t, eval[bool](w, `document.querySelector("#tasks .note").checkVisibility()`))
	s.tell("task.changed", map[string]any{"task": task{ID: "t1", Title: "Mend the build", State: "running"}})
	w.until(`!document.querySelector("#tasks .note").checkVisibility()`)
}
