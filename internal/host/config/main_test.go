package config

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Secrets of the test servers: none of them may ever be printed.
const (
	secretHeader = "header-5ecret"
	secretEnv    = "env-5ecret"
	secretArg    = "arg-5ecret"
	secretURL    = "url-5ecret"
)

func docs() MCPServer {
	return MCPServer{Name: "docs", Type: TypeHTTP, URL: "https://docs.example/mcp?key=" + secretURL,
		Headers: []Header{{Name: "X-Key", Value: secretHeader}}}
}

func files() MCPServer {
	return MCPServer{Name: "files", Command: "files-mcp", Args: []string{"--token", secretArg},
		Env: []EnvVar{{Name: "FILES_TOKEN", Value: secretEnv}}}
}

func events() MCPServer {
	return MCPServer{Name: "events", Type: TypeSSE, URL: "https://events.example/sse"}
}

// injected are the entries that a port of 41001 brings.
func injected() Servers {
	return Servers{
		{Name: "kandev", Type: "http", URL: "http://localhost:41001/mcp"},
		{Name: "kandev", Type: "sse", URL: "http://localhost:41001/sse"},
	}
}

func instance(t *testing.T, c Config, o InstanceOverrides) InstanceConfig {
	t.Helper()
	ic, err := c.NewInstanceConfig(o)
	require.NoError(t, err)
	return ic
}
