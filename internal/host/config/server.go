package config

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/samber/lo"
)

// Transports of MCP servers as ACP names them. A stdio server has no type.
const (
	TypeHTTP  = "http"
	TypeSSE   = "sse"
	TypeStdio = "stdio"
)

// MCPServer is one entry of mcpServers in the shape of ACP (McpServer): name,
// type, url and headers of an http or sse server, or name, command, args and
// env of a stdio server.
type MCPServer struct {
	Name string `json:"name"`
	// Type is "http" or "sse"; empty or "stdio" for a command.
	Type string `json:"type,omitzero"`
	// URL and Headers can hold secrets.
	URL     string   `json:"url,omitzero"`
	Headers []Header `json:"headers,omitzero"`
	// Command, Args and Env can hold secrets.
	Command string   `json:"command,omitzero"`
	Args    []string `json:"args,omitzero"`
	Env     []EnvVar `json:"env,omitzero"`
}

// Header is one HTTP header that the agent sends to the server.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// EnvVar is one variable of the environment of a stdio server.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Servers is a list of MCP servers. It is a type of its own so that it can be
// logged as a whole without its secrets.
type Servers []MCPServer

// stdio says whether the agent is to start a command.
func (s MCPServer) stdio() bool { return s.Type == "" || s.Type == TypeStdio }

// clone shares nothing with s.
func (s MCPServer) clone() MCPServer {
	s.Headers, s.Args, s.Env = slices.Clone(s.Headers), slices.Clone(s.Args), slices.Clone(s.Env)
	return s
}

func (s Servers) clone() Servers {
	return lo.Map(s, func(m MCPServer, _ int) MCPServer { return m.clone() })
}

// MarshalJSON writes the entry as ACP wants it in a session request: headers of a
// remote server, args and env of a command, also when they are empty.
func (s MCPServer) MarshalJSON() ([]byte, error) {
	type plain MCPServer // without this method
	if s.stdio() {
		s.Args, s.Env = orEmpty(s.Args), orEmpty(s.Env)
	} else {
		s.Headers = orEmpty(s.Headers)
	}
	data, err := json.Marshal(plain(s))
	if err != nil {
		return nil, errors.New("config: an MCP server cannot be encoded: a text in it is no valid UTF-8")
	}
	return data, nil
}

// orEmpty makes a missing list an empty one.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Format prints an entry without URL, header values, command, arguments and
// environment, whatever the verb.
func (s MCPServer) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "{%q type %q, %d headers, %d args, %d env}", s.Name, s.Type, len(s.Headers), len(s.Args), len(s.Env))
}

// LogValue keeps URL, header values, command, arguments and environment out of logs.
func (s MCPServer) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("name", s.Name),
		slog.String("type", s.Type),
		slog.Int("headers", len(s.Headers)),
		slog.Int("args", len(s.Args)),
		slog.Int("env", len(s.Env)),
	)
}

// LogValue keeps everything but names and kinds out of logs.
func (s Servers) LogValue() slog.Value {
	return slog.AnyValue(lo.Map(s, func(m MCPServer, _ int) string { return fmt.Sprintf("%v", m) }))
}

// Format prints the header's name alone.
func (h Header) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "%q: (hidden)", h.Name) }

// LogValue hides the value.
func (h Header) LogValue() slog.Value { return slog.StringValue(h.Name + ": (hidden)") }

// Format prints the variable's name alone.
func (e EnvVar) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "%q=(hidden)", e.Name) }

// LogValue hides the value.
func (e EnvVar) LogValue() slog.Value { return slog.StringValue(e.Name + "=(hidden)") }
