package config

import (
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// readOverrides reads -c overrides as Codex does: the key is split at dots, the
// value is TOML (codex-cli 0.166.0, tried with `codex mcp list --json`).
func readOverrides(t require.TestingT, args []string) map[string]any {
	root := map[string]any{}
	require.Zero(t, len(args)%2)
	for i := 0; i < len(args); i += 2 {
		require.Equal(t, "-c", args[i])
		key, value, ok := strings.Cut(args[i+1], "=")
		require.True(t, ok)
		var parsed map[string]any
		require.NoError(t, toml.Unmarshal([]byte("v = "+value), &parsed))
		path := strings.Split(key, ".")
		at := root
		for _, p := range path[:len(path)-1] {
			if at[p] == nil {
				at[p] = map[string]any{}
			}
			at = at[p].(map[string]any)
		}
		at[path[len(path)-1]] = parsed["v"]
	}
	return root
}

func TestL45_CodexApprovesTheInjectedServerAlone(t *testing.T) {
	user := Servers{
		{Name: "docs", Type: TypeHTTP, URL: "https://docs.example/mcp", Headers: []Header{{Name: "X-Key", Value: secretHeader}, {Name: "X-Two", Value: "2"}}},
		{Name: "tools", Command: "tools-mcp", Args: []string{`say "hi"`, `back\slash`, "tab\there"}},
		{Name: "kandev", Command: "evil"},
	}
	ic := instance(t, Config{MCPServers: user}, InstanceOverrides{Port: 41001})
	launch, err := ic.CodexArgs("Bearer injected-5ecret")
	require.NoError(t, err)

	assert.Equal(t, map[string]any{"mcp_servers": map[string]any{
		"docs":  map[string]any{"url": "https://docs.example/mcp", "env_http_headers": map[string]any{"X-Key": "ASSENT_MCP_HEADER_TOKEN_1", "X-Two": "ASSENT_MCP_HEADER_TOKEN_2"}},
		"tools": map[string]any{"command": "tools-mcp", "args": []any{`say "hi"`, `back\slash`, "tab\there"}},
		"kandev": map[string]any{"url": "http://localhost:41001/mcp", "bearer_token_env_var": "ASSENT_MCP_TOKEN", "enabled": true,
			"default_tools_approval_mode": "approve"},
	}}, readOverrides(t, launch.Args))
	assert.Contains(t, launch.Args, `mcp_servers.kandev.url="http://localhost:41001/mcp"`)
	assert.Equal(t, []EnvVar{
		{Name: "ASSENT_MCP_HEADER_TOKEN_1", Value: secretHeader},
		{Name: "ASSENT_MCP_HEADER_TOKEN_2", Value: "2"},
		{Name: "ASSENT_MCP_TOKEN", Value: "injected-5ecret"},
	}, launch.Env)
	assert.NotContains(t, strings.Join(launch.Args, " "), "5ecret")
	assert.Empty(t, launch.Warnings)
}

func TestL45_NoInjectionNoApproval(t *testing.T) {
	own := MCPServer{Name: "kandev", Type: TypeHTTP, URL: "http://localhost:41001/mcp"}
	launch, err := instance(t, Config{MCPServers: Servers{own}}, InstanceOverrides{}).CodexArgs("Bearer x")
	require.NoError(t, err)
	assert.Equal(t, CodexLaunch{Args: []string{"-c", `mcp_servers.kandev.url="http://localhost:41001/mcp"`}}, launch)
}

func TestCodexLeavesOutWhatWouldShowASecret(t *testing.T) {
	user := Servers{
		docs(),   // a secret in the URL's query
		files(),  // a secret in the environment
		events(), // a transport that Codex does not have
		{Name: "who", Type: TypeHTTP, URL: "https://u:" + secretURL + "@who.example/"},
		{Name: "a.b", Command: "x"},
	}
	launch, err := instance(t, Config{MCPServers: user}, InstanceOverrides{Port: 41001}).CodexArgs("Bearer injected-5ecret")
	require.NoError(t, err)
	assert.Equal(t, []Warning{
		{Code: WarnCodexSecret, Server: "docs"}, {Code: WarnCodexSecret, Server: "files"}, {Code: WarnTransport, Server: "events"},
		{Code: WarnCodexSecret, Server: "who"}, {Code: WarnCodexName, Server: "a.b"},
	}, launch.Warnings)
	assert.Equal(t, codexServerArgs("kandev", "http://localhost:41001/mcp"), launch.Args)
}

func TestCodexNeedsASecret(t *testing.T) {
	ic := instance(t, Config{}, InstanceOverrides{Port: 41001})
	for _, auth := range []string{"", "Bearer ", "Basic eDp5", "0123"} {
		_, err := ic.CodexArgs(auth)
		assert.ErrorIs(t, err, ErrNoAuthorization)
	}
}

func TestTomlString(t *testing.T) {
	assert.Equal(t, `"http://localhost:41001/mcp"`, tomlString("http://localhost:41001/mcp"))
	assert.Equal(t, `"a\"b\\c\u000A\u007F\u0000é😀"`, tomlString("a\"b\\c\n\x7f\x00é😀"))
	assert.Equal(t, `[]`, tomlStrings(nil))
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.String()).Draw(t, "list")
		var got struct{ V []string }
		require.NoError(t, toml.Unmarshal([]byte("V = "+tomlStrings(list)), &got))
		require.Equal(t, append([]string{}, list...), append([]string{}, got.V...))
	})
}
