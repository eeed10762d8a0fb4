package gateway

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/dispatch"
)

// What a message has to be. Where it can be read the reply has its id and action.
var messages = []struct {
	name, message string
	id, action    string // in the reply
	want          dispatch.Code
	says          string
}{
	{"good", `{"id":"1","action":"task.list","payload":{"task":"t1"}}`, `"1"`, `"task.list"`, "", ""},
	{"good, in another order and with space", " {\n\"payload\" : {} , \"action\":\"task.list\", \"id\" : 7 }\r\n", `7`, `"task.list"`, "", ""},
	{"good, without payload", `{"id":0,"action":"task.list"}`, `0`, `"task.list"`, "", ""},
	{"good, a number that no float holds", `{"id":9007199254740993,"action":"task.list"}`, `9007199254740993`, `"task.list"`, "", ""},
	{"good, a number as it was written", `{"id":1.0e2,"action":"task.list"}`, `1.0e2`, `"task.list"`, "", ""},
	{"good, with escapes", `{"i\u0064":"\u0061","action":"task\u002elist"}`, `"\u0061"`, `"task\u002elist"`, "", ""},
	{"good, an empty id", `{"id":"","action":"task.list"}`, `""`, `"task.list"`, "", ""},

	{"an array", `[{"id":"1","action":"task.list"}]`, `null`, `null`, dispatch.CodeInvalidRequest, "one JSON object"},
	{"a text", `"task.list"`, `null`, `null`, dispatch.CodeInvalidRequest, "one JSON object"},
	{"a number", `7`, `null`, `null`, dispatch.CodeInvalidRequest, "one JSON object"},
	{"null", `null`, `null`, `null`, dispatch.CodeInvalidRequest, "one JSON object"},
	{"nothing", ``, `null`, `null`, dispatch.CodeInvalidRequest, "one JSON object"},
	{"noise", `hello`, `null`, `null`, dispatch.CodeInvalidRequest, "one JSON object"},
	{"cut off", `{"id":"1","action":"task.list"`, `null`, `null`, dispatch.CodeInvalidRequest, "not well-formed"},
	{"a comma too many", `{"id":"1","action":"task.list",}`, `null`, `null`, dispatch.CodeInvalidRequest, "not well-formed"},
	{"a value too few", `{"id":"1","action":}`, `null`, `null`, dispatch.CodeInvalidRequest, "not well-formed"},
	{"two objects", `{"id":"1","action":"task.list"}{}`, `null`, `null`, dispatch.CodeInvalidRequest, "follows"},
	{"a lone surrogate", `{"id":"1","action":"task.list","payload":{"text":"\ud800"}}`, `null`, `null`, dispatch.CodeInvalidRequest, "not UTF-8"},
	{"a lone surrogate in a key", `{"id":"1","\ud800":1,"action":"task.list"}`, `null`, `null`, dispatch.CodeInvalidRequest, "not UTF-8"},
	{"too deep", `{"id":"1","action":"task.list","payload":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, `null`, `null`, dispatch.CodeInvalidRequest, "not well-formed"},

	{"no action", `{"id":"1","payload":{}}`, `"1"`, `null`, dispatch.CodeInvalidRequest, "action is missing"},
	{"no id", `{"action":"task.list"}`, `null`, `"task.list"`, dispatch.CodeInvalidRequest, "id is missing"},
	{"nothing in it", `{}`, `null`, `null`, dispatch.CodeInvalidRequest, "id is missing"},
	{"an action in another case", `{"id":"1","Action":"task.list"}`, `"1"`, `null`, dispatch.CodeInvalidRequest, "a key is there that messages do not have"},
	{"an identity beside", `{"id":"1","action":"task.list","origin":"in_process"}`, `"1"`, `"task.list"`, dispatch.CodeInvalidRequest, "a key is there that messages do not have"},
	{"action twice", `{"id":"1","action":"task.list","action":"mcp.list_tasks"}`, `"1"`, `null`, dispatch.CodeInvalidRequest, "twice"},
	{"action twice, the other way", `{"id":"1","action":"mcp.list_tasks","action":"task.list"}`, `"1"`, `null`, dispatch.CodeInvalidRequest, "twice"},
	{"action twice, by an escape", `{"id":"1","action":"task.list","\u0061ction":"mcp.list_tasks"}`, `"1"`, `null`, dispatch.CodeInvalidRequest, "twice"},
	{"action three times", `{"id":"1","action":"task.list","action":"x","action":"mcp.list_tasks"}`, `"1"`, `null`, dispatch.CodeInvalidRequest, "twice"},
	{"id twice", `{"id":"1","id":"2","action":"task.list"}`, `null`, `"task.list"`, dispatch.CodeInvalidRequest, "twice"},
	{"payload twice", `{"id":"1","action":"task.list","payload":{},"payload":{"task":"t1"}}`, `"1"`, `"task.list"`, dispatch.CodeInvalidRequest, "twice"},
	{"an id of null", `{"id":null,"action":"task.list"}`, `null`, `"task.list"`, dispatch.CodeInvalidRequest, "id is a text or a number"},
	{"an id that is an object", `{"id":{},"action":"task.list"}`, `null`, `"task.list"`, dispatch.CodeInvalidRequest, "id is a text or a number"},
	{"an endless id", `{"id":"` + strings.Repeat("x", 300) + `","action":"task.list"}`, `null`, `"task.list"`, dispatch.CodeInvalidRequest, "id is a text or a number"},
	{"an action that is a number", `{"id":"1","action":7}`, `"1"`, `null`, dispatch.CodeInvalidRequest, "action is a text"},
	{"an action that is a list", `{"id":"1","action":["task.list"]}`, `"1"`, `null`, dispatch.CodeInvalidRequest, "action is a text"},
	{"an empty action", `{"id":"1","action":""}`, `"1"`, `null`, dispatch.CodeInvalidRequest, "action is a text"},
	{"a payload that is a list", `{"id":"1","action":"task.list","payload":[]}`, `"1"`, `"task.list"`, dispatch.CodeInvalidPayload, "not an object"},
	{"a payload with a key twice", `{"id":"1","action":"task.list","payload":{"task":"a","task":"b"}}`, `"1"`, `"task.list"`, dispatch.CodeInvalidPayload, "twice"},
}

func TestMessages(t *testing.T) {
	s := begin(t, nil)
	s.action(t, "task.list", dispatch.ScopeView, nil)
	s.action(t, "mcp.list_tasks", dispatch.ScopeView, nil)
	p := s.dial(t, "s3cret")
	for _, c := range messages {
		t.Run(c.name, func(t *testing.T) {
			before := len(s.asked())
			reply := p.ask(t, c.message)
			assert.True(t, strings.HasPrefix(reply, fmt.Sprintf(`{"id":%s,"action":%s,`, c.id, c.action)), reply)
			assert.Equal(t, c.want, codeOf(t, reply))
			assert.Contains(t, reply, c.says)
			if c.want == "" {
				assert.Len(t, s.asked(), before+1)
				return
			}
			assert.Len(t, s.asked(), before)
		})
	}
}

func TestG16BadFrames(t *testing.T) {
	s := begin(t, func(o *Options) { o.Limits.MaxMessage = 1000 })
	s.action(t, "task.list", dispatch.ScopeView, nil)
	p, other := s.dial(t, "s3cret"), s.dial(t, "wall")
	for message, want := range map[string]dispatch.Code{
		`[1]`:        dispatch.CodeInvalidRequest,
		`{"id":"1"}`: dispatch.CodeInvalidRequest,
		`{"id":"1","action":"` + strings.Repeat("x", 1000) + `"}`:                                        dispatch.CodeTooLarge,
		`{"id":"1","action":"task.list","payload":{"text":"` + strings.Repeat("x", 2_000_000) + `"}}`:    dispatch.CodeTooLarge,
		`{"id":"1","action":"task.list","payload":{"text":"` + strings.Repeat("x", 1000-53-2) + `"}}   `: dispatch.CodeTooLarge,
	} {
		assert.Equal(t, want, codeOf(t, p.ask(t, message)), "%.60s", message)
		p.alive(t)
	}
	fits := `{"id":"1","action":"task.list","payload":{"text":"` + strings.Repeat("x", 1000-53) + `"}}`
	assert.Len(t, fits, 1000)
	assert.Contains(t, p.ask(t, fits), `"result"`)
	require.NoError(t, p.conn.Write(p.ctx, websocket.MessageBinary, []byte(`{"id":"1","action":"task.list"}`)))
	assert.Equal(t, dispatch.CodeInvalidRequest, codeOf(t, p.receive(t)))
	p.alive(t)
	other.alive(t)

	// What cannot be read to its end, or breaks the protocol, costs its sender the connection.
	for name, frame := range map[string][]byte{
		"endless":           append([]byte{0x81, 0xff}, append(binary.BigEndian.AppendUint64(nil, 1<<40), 0, 0, 0, 0)...),
		"not masked":        {0x81, 0x02, '{', '}'},
		"an unknown opcode": {0x83, 0x80, 0, 0, 0, 0},
	} {
		conn := s.rawSocket(t)
		_, err := conn.Write(frame)
		require.NoError(t, err)
		if name == "endless" {
			_, _ = conn.Write(make([]byte, maxSkipped+1<<16))
		}
		_, err = conn.Read(make([]byte, 1))
		for err == nil {
			_, err = conn.Read(make([]byte, 1<<16))
		}
		other.alive(t)
		p.alive(t)
	}
}

// rawSocket is a connection that has said its upgrade and got its answer.
func (s *stand) rawSocket(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.host)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "GET /ws HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer s3cret\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", s.host)
	require.NoError(t, err)
	head := ""
	for !strings.HasSuffix(head, "\r\n\r\n") {
		b := make([]byte, 1)
		_, err := conn.Read(b)
		require.NoError(t, err)
		head += string(b)
	}
	require.Contains(t, head, "101 Switching Protocols")
	return conn
}

func TestReplies(t *testing.T) {
	r := request{id: jsontext.Value(`"1"`), action: jsontext.Value(`"a"`)}
	assert.Equal(t, `{"id":"1","action":"a","result":null}`, string(r.reply(nil, nil)))
	assert.Equal(t, `{"id":"1","action":"a","result":{"b":[]}}`, string(r.reply(map[string][]int{"b": nil}, nil)))
	assert.Equal(t, dispatch.CodeInternal, codeOf(t, string(r.reply(make(chan int), nil))))
	assert.JSONEq(t, `{"id":null,"action":null,"error":{"code":"too_large","message":"a \"b\""}}`,
		string((&request{}).reply("x", &dispatch.Error{Code: dispatch.CodeTooLarge, Message: `a "b"`})))
}

// FuzzRawMessage: whatever a client sends has one reply, of the right shape, and
// reaches no internal handler.
func FuzzRawMessage(f *testing.F) {
	for _, c := range messages {
		f.Add([]byte(c.message))
	}
	for _, action := range []string{"mcp.stop_task", "MCP.stop_task", " mcp.stop_task", "ｍcp.stop_task", `m\u0063p.stop_task`, `mcp\u200b.stop_task`} {
		f.Add([]byte(`{"id":1,"action":"` + action + `","payload":{"sender_task_id":"forged"}}`))
	}
	s := begin(f, func(o *Options) { o.Limits.Rate, o.Limits.Burst = 1e12, 1e12 })
	for _, name := range internalActions {
		s.action(f, name, dispatch.ScopeOperate, nil)
	}
	s.action(f, "task.list", dispatch.ScopeView, nil)
	s.action(f, "state.watch", dispatch.ScopeView, nil)
	p := s.dial(f, "s3cret")
	f.Fuzz(func(t *testing.T, raw []byte) {
		text := p.ask(t, string(raw))
		p.alive(t) // no second reply came
		var reply struct {
			ID     jsontext.Value  `json:"id"`
			Action *string         `json:"action"`
			Result *jsontext.Value `json:"result,omitzero"`
			Error  *dispatch.Error `json:"error,omitzero"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &reply, json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(true)))
		require.NotEqual(t, reply.Result == nil, reply.Error == nil)
		if reply.Action != nil && dispatch.Internal(*reply.Action) {
			require.NotNil(t, reply.Error)
			require.Contains(t, []dispatch.Code{dispatch.CodeForbidden, dispatch.CodeInvalidRequest}, reply.Error.Code)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, call := range s.calls {
			require.False(t, dispatch.Internal(call.action))
		}
		s.calls = nil
	})
}

// The short way of reading says the same as the long one.
func FuzzReadRequest(f *testing.F) {
	for _, c := range messages {
		f.Add([]byte(c.message))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		short, failure := readRequest(raw)
		long, longFailure := scanRequest(raw)
		require.Equal(t, long, short)
		require.Equal(t, longFailure, failure)
	})
}
