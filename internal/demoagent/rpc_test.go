package demoagent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInitialize(t *testing.T) {
	c := start(t, Options{Version: "1.2.3"})
	for _, version := range []int{0, 1, 2, 99} {
		got := c.response(c.request("initialize", object{"protocolVersion": version, "clientCapabilities": object{}}))
		assert.Equal(t, object{
			"protocolVersion":   1.0,
			"agentCapabilities": object{"loadSession": true, "mcpCapabilities": object{"http": true, "sse": true}},
			"agentInfo":         object{"name": "assent-demo-agent", "title": "Demo agent", "version": "1.2.3"},
			"authMethods":       []any{},
		}, got["result"])
	}
}

// badMessages are answered with an error under the id given, and the agent goes
// on. SESSION and ROOT stand for a session and an absolute path.
var badMessages = map[string]struct {
	line string
	id   string
	code int
}{
	"batch":              {`[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}]`, "null", -32600},
	"empty batch":        {`[]`, "null", -32600},
	"noise":              {`hello`, "null", -32700},
	"cut":                {`{"jsonrpc":"2.0","id":1`, "null", -32700},
	"number":             {`7`, "null", -32700},
	"no method":          {`{"jsonrpc":"2.0","id":1}`, "null", -32600},
	"id null":            {`{"jsonrpc":"2.0","id":null,"method":"initialize","params":{"protocolVersion":1}}`, "null", -32600},
	"id object":          {`{"jsonrpc":"2.0","id":{},"method":"initialize","params":{"protocolVersion":1}}`, "null", -32600},
	"no version":         {`{"id":"a","method":"initialize","params":{"protocolVersion":1}}`, `"a"`, -32600},
	"old version":        {`{"jsonrpc":"1.0","id":"a","method":"initialize","params":{"protocolVersion":1}}`, `"a"`, -32600},
	"duplicate":          {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"protocolVersion":1}}`, "1", -32600},
	"bad text":           {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"a":"` + "\xff" + `"}}`, "1", -32600},
	"lone surrogate":     {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"a":"\ud800"}}`, "1", -32600},
	"unknown method":     {`{"jsonrpc":"2.0","id":9007199254740993,"method":"session/fork","params":{}}`, "9007199254740993", -32601},
	"method in capitals": {`{"jsonrpc":"2.0","id":0,"method":"Initialize","params":{"protocolVersion":1}}`, "0", -32601},
	"no params":          {`{"jsonrpc":"2.0","id":0,"method":"initialize"}`, "0", -32602},
	"params null":        {`{"jsonrpc":"2.0","id":0,"method":"initialize","params":null}`, "0", -32602},
	"params a list":      {`{"jsonrpc":"2.0","id":0,"method":"initialize","params":[1]}`, "0", -32602},
	"version a string":   {`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"1"}}`, "0", -32602},
	"version folded":     {`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"ProtocolVersion":1}}`, "0", -32602},
	"new: no list":       {`{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"/"}}`, "0", -32602},
	"new: relative":      {`{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"x","mcpServers":[]}}`, "0", -32602},
	"new: no cwd":        {`{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"mcpServers":[]}}`, "0", -32602},
	"new: list null":     {`{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"ROOT","mcpServers":null}}`, "0", -32602},
	"new: no name":       {`{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"ROOT","mcpServers":[{"type":"http","url":"http://localhost/"}]}}`, "0", -32602},
	"new: wrong headers": {`{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"ROOT","mcpServers":[{"type":"http","name":"a","url":"http://localhost/","headers":{"a":"canary"}}]}}`, "0", -32602},
	"load: unknown":      {`{"jsonrpc":"2.0","id":0,"method":"session/load","params":{"cwd":"ROOT","mcpServers":[],"sessionId":"x"}}`, "0", -32002},
	"load: no session":   {`{"jsonrpc":"2.0","id":0,"method":"session/load","params":{"cwd":"ROOT","mcpServers":[]}}`, "0", -32002},
	"prompt: unknown":    {`{"jsonrpc":"2.0","id":0,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}`, "0", -32602},
	"prompt: a string":   {`{"jsonrpc":"2.0","id":0,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":"plan"}}`, "0", -32602},
	"prompt: none":       {`{"jsonrpc":"2.0","id":0,"method":"session/prompt","params":{"sessionId":"SESSION"}}`, "0", -32602},
	"prompt: text a 1":   {`{"jsonrpc":"2.0","id":0,"method":"session/prompt","params":{"sessionId":"SESSION","prompt":[{"type":"text","text":1}]}}`, "0", -32602},
}

func TestBadMessages(t *testing.T) {
	c := start(t, Options{})
	c.open()
	for name, at := range badMessages {
		t.Run(name, func(t *testing.T) {
			c.t = t
			line := strings.ReplaceAll(at.line, "SESSION", c.session)
			line = strings.ReplaceAll(line, `"ROOT"`, toJSON(t.TempDir()))
			c.send(line)
			got := c.response(at.id)
			assert.Equal(t, at.code, errorCode(t, got))
			assert.NotContains(t, toJSON(got), "canary")
		})
	}
	c.t = t
	// What wants no answer gets none.
	for _, line := range []string{
		"", "\r", `{"jsonrpc":"2.0","method":"who/knows"}`, `{"jsonrpc":"2.0","id":0,"result":{}}`, `{"jsonrpc":"2.0","id":77,"error":{}}`,
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"` + "\xff" + `"}}`,
	} {
		c.send(line)
	}
	c.response(c.request("initialize", object{"protocolVersion": 1}))
}

func TestLongLinesAreSkipped(t *testing.T) {
	c := start(t, Options{})
	c.send(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", maxLine) + `"}`)
	c.response(c.request("initialize", object{"protocolVersion": 1}))
	assert.Contains(t, c.stderr.String(), "longer than")
}

// One id for two requests, two turns in one session: the second one is refused
// and the first one goes on.
func TestBusy(t *testing.T) {
	c := start(t, Options{})
	c.open()
	id := c.request("session/prompt", promptParams(c.session, "shell"))
	f := c.next()
	for f.Offer == nil {
		f = c.next()
	}
	assert.Equal(t, -32600, errorCode(t, c.response(c.request("session/prompt", promptParams(c.session, "shell")))))
	load := object{"sessionId": c.session, "cwd": t.TempDir(), "mcpServers": []object{}}
	assert.Equal(t, -32600, errorCode(t, c.response(c.request("session/load", load))))
	c.sendf(`{"jsonrpc":"2.0","id":%s,"method":"session/new","params":%s}`, id, toJSON(load))
	assert.Equal(t, -32600, errorCode(t, c.response(id)))

	c.sendf(`{"jsonrpc":"2.0","id":%s,%s}`, f.Offer.ID, selects("allow-once"))
	got := c.play(id, always(""))
	assert.Equal(t, "end_turn", got.stop)
	assert.Equal(t, []string{"completed"}, got.ends)
	require.NoError(t, c.end())
}

// Two sessions ask at the same time; an answer reaches the call it is for.
func TestSessionsAreApart(t *testing.T) {
	c := start(t, Options{ShellCommand: proofCommand})
	dirs, ids, offers := map[string]string{}, map[string]string{}, map[string]string{}
	for range 2 {
		dir := c.open()
		dirs[c.session] = dir
		ids[c.session] = c.request("session/prompt", promptParams(c.session, "shell"))
		f := c.next()
		for f.Offer == nil {
			f = c.next()
		}
		offers[c.session] = f.Offer.ID.String()
	}
	allowed := c.session
	for session, id := range ids {
		answer := selects("reject")
		if session == allowed {
			answer = selects("allow-once")
		}
		c.sendf(`{"jsonrpc":"2.0","id":%s,%s}`, offers[session], answer)
		c.play(id, always(""))
	}
	for session, dir := range dirs {
		if session == allowed {
			assert.FileExists(t, dir+"/proof")
			continue
		}
		assert.NoFileExists(t, dir+"/proof")
	}
}
