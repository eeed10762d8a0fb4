package process

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/kandev/assent/internal/host/config"
)

// What was given to an agent does not come back, in whichever part it is quoted.
func TestSecretsOfServers(t *testing.T) {
	header := func(value string) config.MCPServer {
		return config.MCPServer{Name: "x", Headers: []config.Header{{Name: "X", Value: value}}}
	}
	for name, c := range map[string]struct {
		server config.MCPServer
		said   string
		want   string
	}{
		"a header":               {header("canary-12345"), "got canary-12345.", "got (hidden)."},
		"a bearer token":         {header("Bearer canary-12345"), "Bearer canary-12345, token canary-12345", "(hidden), token (hidden)"},
		"a token in odd writing": {header("bearer  canary-12345 "), "token canary-12345", "token (hidden)"},
		"a password":             {header("Basic bmFtZTpjYW5hcnktMTIz"), "bmFtZTpjYW5hcnktMTIz is canary-123", "(hidden) is (hidden)"},
		"no base64":              {header("Basic canary?12345"), "canary?12345", "(hidden)"},
		"a short word":           {header("Bearer true"), "it is true", "it is true"},
		"a variable":             {config.MCPServer{Env: []config.EnvVar{{Name: "KEY", Value: "canary-12345"}}}, "canary-12345", "(hidden)"},
		"a user in a URL":        {config.MCPServer{URL: "https://canary-12345@host/mcp"}, "https://canary-12345@host/mcp", "https://(hidden)@host/mcp"},
		"a password in a URL":    {config.MCPServer{URL: "https://me:canary%2D12345@host/mcp"}, "me canary-12345 canary%2D12345", "me (hidden) (hidden)"},
		"a query":                {config.MCPServer{URL: "https://host/mcp?a=1&key=canary%2F12345"}, "canary%2F12345 canary/12345 a=1", "(hidden) (hidden) a=1"},
		"a query without names":  {config.MCPServer{URL: "https://host/mcp?canary-12345"}, "canary-12345", "(hidden)"},
		"the rest of a URL":      {config.MCPServer{URL: "https://longhost.example/long-path?key=canary-12345"}, "https://longhost.example/long-path", "https://longhost.example/long-path"},
		"no URL":                 {config.MCPServer{URL: "http://ho st/canary-12345"}, "http://ho st/canary-12345", "(hidden)"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, newSecrets(config.Servers{c.server}).redact(c.said))
		})
	}
}

// A secret that is a part of another one does not keep that from being found.
func TestSecretsWithinSecrets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := rapid.StringMatching(`[a-z0-9]{12,40}`).Draw(t, "long")
		at := rapid.IntRange(0, len(long)-8).Draw(t, "at")
		s := &secrets{}
		parts := rapid.Permutation([]string{long, long[at : at+8]}).Draw(t, "parts")
		for _, p := range parts {
			s.add(p)
		}
		if got := s.redact(long); got != "(hidden)" {
			t.Fatalf("%q", got)
		}
	})
}
