package config

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/kandev/assent/pipeline"
)

// CodexTokenVariable is the environment variable from which Codex reads the
// secret of the injected server. Its name holds TOKEN because Codex keeps
// variables of such names out of the environment of the commands it runs.
const CodexTokenVariable = "ASSENT_MCP_TOKEN"

// codexHeaderVariable is the prefix of the variables with header values of the
// user's servers.
const codexHeaderVariable = "ASSENT_MCP_HEADER_TOKEN_"

// CodexLaunch is what a passthrough launch of Codex needs.
type CodexLaunch struct {
	// Args come before the user's own arguments. They hold no secret.
	Args []string
	// Env are variables for Codex's environment. Their values are secrets.
	Env []EnvVar
	// Warnings name the servers that were left out.
	Warnings []Warning
}

// LogValue keeps the environment out of logs.
func (l CodexLaunch) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("args", len(l.Args)), slog.Int("env", len(l.Env)))
}

// CodexArgs makes the arguments and environment for a passthrough launch of
// Codex: its configuration gets the injected server with its URL and, for that
// server alone, the approval of its tools; the user's servers without it.
// Secrets go into the environment, since every process can read arguments.
// Overrides given with -c win over the user's and the project's configuration.
func (c InstanceConfig) CodexArgs(authorization string) (CodexLaunch, error) {
	var out CodexLaunch
	for _, s := range c.MCPServers {
		if c.InjectedKandevMCP && c.isInjectedEntry(s) {
			continue
		}
		if code, ok := codexTakes(s); !ok {
			out.Warnings = append(out.Warnings, Warning{Code: code, Server: s.Name})
			continue
		}
		out.addUserServer(s)
	}
	if !c.InjectedKandevMCP {
		return out, nil
	}
	token, ok := strings.CutPrefix(authorization, "Bearer ")
	if !ok || token == "" {
		return CodexLaunch{}, ErrNoAuthorization
	}
	out.Args = append(out.Args, codexServerArgs(c.ReservedName, pipeline.MCPURL(c.Port))...)
	out.Env = append(out.Env, EnvVar{Name: CodexTokenVariable, Value: token})
	return out, nil
}

// codexServerArgs are the overrides for the injected server: its URL, where its
// secret is found, and that Codex need not ask about its tools. The approval and
// the URL belong together: without the URL, the approval could fall to a server
// of the same name in the user's or the project's configuration.
func codexServerArgs(name, address string) []string {
	key := "mcp_servers." + name + "."
	return []string{
		"-c", key + "url=" + tomlString(address),
		"-c", key + "bearer_token_env_var=" + tomlString(CodexTokenVariable),
		"-c", key + "enabled=true",
		"-c", key + `default_tools_approval_mode="approve"`,
	}
}

// codexTakes says whether a server can be given to Codex on the command line,
// or why not.
func codexTakes(s MCPServer) (WarningCode, bool) {
	if pipeline.FlatName(s.Name) != s.Name {
		return WarnCodexName, false // Codex splits the key at dots and refuses other characters
	}
	switch {
	case s.Type == TypeSSE:
		return WarnTransport, false
	case len(s.Env) > 0:
		return WarnCodexSecret, false
	case s.Type == TypeHTTP:
		if u, err := url.Parse(s.URL); err != nil || u.User != nil || u.RawQuery != "" {
			return WarnCodexSecret, false
		}
	}
	return "", true
}

// addUserServer adds a server of the user's. Whether its tools need approval
// stays Codex's own decision.
func (l *CodexLaunch) addUserServer(s MCPServer) {
	key := "mcp_servers." + s.Name + "."
	if s.stdio() {
		l.Args = append(l.Args, "-c", key+"command="+tomlString(s.Command), "-c", key+"args="+tomlStrings(s.Args))
		return
	}
	l.Args = append(l.Args, "-c", key+"url="+tomlString(s.URL))
	if len(s.Headers) == 0 {
		return
	}
	pairs := make([]string, 0, len(s.Headers))
	for _, h := range s.Headers {
		variable := fmt.Sprintf("%s%d", codexHeaderVariable, len(l.Env)+1)
		l.Env = append(l.Env, EnvVar{Name: variable, Value: h.Value})
		pairs = append(pairs, tomlString(h.Name)+"="+tomlString(variable))
	}
	l.Args = append(l.Args, "-c", key+"env_http_headers={"+strings.Join(pairs, ",")+"}")
}

// tomlString writes a TOML basic string. Go's own quoting is not TOML's: it has
// \x, \a and \v, which TOML does not know.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// tomlStrings writes a TOML array of strings.
func tomlStrings(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = tomlString(s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
