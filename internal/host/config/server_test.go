package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ACP requires headers of a remote server, and args and env of a command, also
// when they are empty (McpServer in the ACP schema, protocol version 1).
func TestServersAreEncodedInACPsShape(t *testing.T) {
	rows := []struct {
		in   MCPServer
		want string
	}{
		{MCPServer{Name: "a", Type: TypeHTTP, URL: "http://h/?a=1&b=2"}, `{"name":"a","type":"http","url":"http://h/?a=1&b=2","headers":[]}`},
		{MCPServer{Name: "a", Type: TypeSSE, URL: "http://h/", Headers: []Header{{"N", "v"}}}, `{"name":"a","type":"sse","url":"http://h/","headers":[{"name":"N","value":"v"}]}`},
		{MCPServer{Name: "a", Command: "c"}, `{"name":"a","command":"c","args":[],"env":[]}`},
		{MCPServer{Name: "a", Type: TypeStdio, Command: "c", Args: []string{"x"}, Env: []EnvVar{{"N", "v"}}}, `{"name":"a","type":"stdio","command":"c","args":["x"],"env":[{"name":"N","value":"v"}]}`},
	}
	for _, r := range rows {
		v2, err := jsonv2.Marshal(r.in)
		require.NoError(t, err)
		assert.Equal(t, r.want, string(v2))
		v1, err := json.Marshal(r.in)
		require.NoError(t, err)
		assert.JSONEq(t, r.want, string(v1))

		var back MCPServer
		require.NoError(t, jsonv2.Unmarshal(v2, &back))
		again, err := jsonv2.Marshal(back)
		require.NoError(t, err)
		assert.Equal(t, r.want, string(again))
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	ic := instance(t, Config{MCPServers: Servers{docs(), files()}}, InstanceOverrides{Port: 41001})
	session, err := ic.SessionServers(MCPCapabilities{HTTP: true}, "Bearer "+secretHeader)
	require.NoError(t, err)
	plain := docs()
	plain.URL = "https://docs.example/mcp"
	codex, err := instance(t, Config{MCPServers: Servers{plain}}, InstanceOverrides{Port: 41001}).CodexArgs("Bearer " + secretHeader)
	require.NoError(t, err)
	require.Len(t, codex.Env, 2)

	values := []any{
		docs(), files(), ic, &ic, ic.MCPServers, session, &session, codex, Config{MCPServers: ic.MCPServers},
		InstanceOverrides{MCPServers: ic.MCPServers}, docs().Headers, docs().Headers[0], files().Env, files().Env[0],
	}
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			assert.NotContains(t, fmt.Sprintf(verb, v), "5ecret", "%T %s", v, verb)
			assert.NotContains(t, fmt.Sprintf(verb, v), fmt.Sprintf("%x", "5ecret"), "%T %s", v, verb)
		}
	}
	loggable := []any{docs(), ic, ic.MCPServers, session, codex, docs().Headers[0], files().Env[0], Config{MCPServers: ic.MCPServers}, InstanceOverrides{MCPServers: ic.MCPServers}}
	for _, v := range loggable {
		var out bytes.Buffer
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		assert.NotContains(t, out.String(), "5ecret", "%T", v)
	}
}

func TestWarningsHaveTexts(t *testing.T) {
	for _, code := range []WarningCode{WarnReplaced, WarnSameFlatName, WarnTransport, WarnNoInjection, WarnCodexName, WarnCodexSecret} {
		assert.NotEmpty(t, warningTexts[code], code)
	}
}
