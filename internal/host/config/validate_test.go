package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBadSettingsAreRefused(t *testing.T) {
	http := func(url string, h ...Header) MCPServer {
		return MCPServer{Name: "s", Type: TypeHTTP, URL: url, Headers: h}
	}
	one := func(s MCPServer) InstanceOverrides { return InstanceOverrides{MCPServers: Servers{s}} }
	rows := []struct {
		name string
		c    Config
		o    InstanceOverrides
		want string
	}{
		{"agent", Config{Agent: "claude acp"}, InstanceOverrides{}, `config: agent id "claude acp": use 1 to 64 of`},
		{"agent begins with -", Config{}, InstanceOverrides{Agent: "-acp"}, `config: agent id "-acp": use`},
		{"agent too long", Config{Agent: strings.Repeat("a", 65)}, InstanceOverrides{}, `config: agent id "aaa`},
		{"reserved name", Config{ReservedName: "a__b"}, InstanceOverrides{}, `config: pipeline: reserved name "a__b": name_with_second_separator: use`},
		{"port", Config{}, InstanceOverrides{Port: 65536}, `config: port 65536 of the injected server: use 1 to 65535, or 0 for none`},
		{"name twice", Config{MCPServers: Servers{{Name: "a", Command: "x"}, {Name: "a", Command: "y"}}}, InstanceOverrides{Port: 1}, `config: MCP server 2: the name "a" is used twice: rename`},
		{"reserved name twice without injection", Config{MCPServers: Servers{{Name: "kandev", Command: "x"}, {Name: "kandev", Command: "y"}}}, InstanceOverrides{}, `the name "kandev" is used twice`},
		{"no name", Config{}, one(MCPServer{Command: "x"}), `config: MCP server 1 (""): the name is missing`},
		{"long name", Config{}, one(MCPServer{Name: strings.Repeat("é", 65), Command: "x"}), `the name has 130 bytes: use at most 128`},
		{"name with a control character", Config{}, one(MCPServer{Name: "a\x1b[31m", Command: "x"}), `("a\x1b[31m"): the name has characters that cannot be printed`},
		{"name with a direction override", Config{}, one(MCPServer{Name: "a\u202eb", Command: "x"}), `the name has characters that cannot be printed`},
		{"name no UTF-8", Config{}, one(MCPServer{Name: "a\xff", Command: "x"}), `the name has characters that cannot be printed`},
		{"type", Config{}, one(MCPServer{Name: "s", Type: secretArg, URL: "http://h"}), `config: MCP server 1 ("s"): unknown type: use http, sse, or no type`},
		{"type in capitals", Config{}, one(MCPServer{Name: "s", Type: "HTTP", URL: "http://h"}), `unknown type`},
		{"url without type", Config{}, one(MCPServer{Name: "s", URL: "http://" + secretURL}), `it has a url but no type: add type http or sse`},
		{"nothing", Config{}, one(MCPServer{Name: "s"}), `neither a command nor a type`},
		{"command and url", Config{}, one(MCPServer{Name: "s", Command: secretArg, URL: "http://" + secretURL}), `a command and a url or headers`},
		{"url and command", Config{}, one(MCPServer{Name: "s", Type: "sse", Command: secretArg, URL: "http://" + secretURL}), `a type with a url, and a command`},
		{"args with NUL", Config{}, one(MCPServer{Name: "s", Command: "c", Args: []string{secretArg + "\x00"}}), `have a NUL`},
		{"env name", Config{}, one(MCPServer{Name: "s", Command: "c", Env: []EnvVar{{"A=B", secretEnv}}}), `env has a variable`},
		{"env value", Config{}, one(MCPServer{Name: "s", Command: "c", Env: []EnvVar{{"A", secretEnv + "\xff"}}}), `env has a variable`},
		{"url missing", Config{}, one(http("")), `the url is missing or malformed`},
		{"url relative", Config{}, one(http("/" + secretURL)), `the url is missing or malformed`},
		{"url of another scheme", Config{}, one(http("file:///" + secretURL)), `the url is missing or malformed`},
		{"url unreadable", Config{}, one(http("http://h:" + secretURL)), `the url is missing or malformed`},
		{"url without host", Config{}, one(http("http://:80/")), `the url is missing or malformed`},
		{"header name", Config{}, one(http("http://h", Header{"A B", secretHeader})), `a header's name or value is malformed`},
		{"header value", Config{}, one(http("http://h", Header{"A", secretHeader + "\r\nX: y"})), `a header's name or value is malformed`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			ic, err := r.c.NewInstanceConfig(r.o)
			require.ErrorContains(t, err, r.want)
			assert.NotContains(t, err.Error(), "5ecret")
			assert.Equal(t, InstanceConfig{}, ic)
		})
	}
}

func TestGoodSettingsAreTaken(t *testing.T) {
	for _, agent := range []string{"", "claude-acp", "a", "Zed.codex_1", strings.Repeat("a", 64)} {
		instance(t, Config{Agent: agent}, InstanceOverrides{})
	}
	for _, port := range []int{1, 65535} {
		assert.Equal(t, port, instance(t, Config{}, InstanceOverrides{Port: port}).Port)
	}
	for _, name := range []string{"my server.v2", "größe", strings.Repeat("a", 128)} {
		instance(t, Config{MCPServers: Servers{{Name: name, Command: "x"}}}, InstanceOverrides{Port: 1})
	}
	instance(t, Config{MCPServers: Servers{docs(), files(), events(), {Name: "v6", Type: TypeHTTP, URL: "http://[::1]:80/mcp"}}}, InstanceOverrides{Port: 1})
}
