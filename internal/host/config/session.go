package config

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/kandev/assent/pipeline"
)

// MCPCapabilities is what the agent said in its mcpCapabilities (ACP,
// initialize). Every agent takes stdio servers.
type MCPCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

// takes says whether the agent can be given a server of this transport.
func (m MCPCapabilities) takes(s MCPServer) bool {
	switch s.Type {
	case TypeHTTP:
		return m.HTTP
	case TypeSSE:
		return m.SSE
	}
	return true
}

// SessionServers is what one session/new, load, resume or fork sends.
type SessionServers struct {
	// Servers is the list for the request's mcpServers. It holds the session's
	// secret.
	Servers Servers
	// Injected is the transport of the one injected entry in Servers, "http" or
	// "sse"; empty when there is none.
	Injected string
	// Authorization is the header value that the injected entry carries; empty
	// when there is none. It is a secret.
	Authorization string
	// Warnings name the servers that were left out.
	Warnings []Warning
}

// LogValue keeps the secret out of logs.
func (s SessionServers) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("servers", len(s.Servers)), slog.String("injected", s.Injected))
}

// Format prints the list without its secret, whatever the verb.
func (s SessionServers) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "{%v injected %q}", []MCPServer(s.Servers), s.Injected)
}

// ErrNoAuthorization says that a session would get the injected server without
// a secret of its own, and so be answered 401.
var ErrNoAuthorization = errors.New("config: session servers: the injected server needs the authorization of this session: take one from the endpoint")

// SessionServers makes the list for one session request: the user's servers that
// the agent takes, in their order, and one of the two injected entries (http
// where the agent takes http, else sse, else none) with the given Authorization
// header, such as "Bearer …". Each session has its own.
func (c InstanceConfig) SessionServers(caps MCPCapabilities, authorization string) (SessionServers, error) {
	out := SessionServers{Servers: Servers{}}
	for _, s := range c.MCPServers {
		switch {
		case c.InjectedKandevMCP && c.isInjectedEntry(s):
			continue
		case !caps.takes(s):
			out.Warnings = append(out.Warnings, Warning{Code: WarnTransport, Server: s.Name})
		default:
			out.Servers = append(out.Servers, s.clone())
		}
	}
	if !c.InjectedKandevMCP {
		return out, nil
	}
	entry, ok := c.injectedEntry(caps)
	if !ok {
		out.Warnings = append(out.Warnings, Warning{Code: WarnNoInjection, Server: c.ReservedName})
		return out, nil
	}
	if authorization == "" {
		return SessionServers{}, ErrNoAuthorization
	}
	entry.Headers = []Header{{Name: "Authorization", Value: authorization}}
	out.Servers = append(out.Servers, entry)
	out.Injected, out.Authorization = entry.Type, authorization
	return out, nil
}

// injectedEntry is the injected entry in the transport that the agent takes.
func (c InstanceConfig) injectedEntry(caps MCPCapabilities) (MCPServer, bool) {
	switch {
	case caps.HTTP:
		return MCPServer{Name: c.ReservedName, Type: TypeHTTP, URL: pipeline.MCPURL(c.Port)}, true
	case caps.SSE:
		return MCPServer{Name: c.ReservedName, Type: TypeSSE, URL: pipeline.SSEURL(c.Port)}, true
	}
	return MCPServer{}, false
}
