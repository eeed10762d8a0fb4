package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kandev/assent/pipeline"
)

const (
	maxAgentID    = 64  // bytes
	maxServerName = 128 // bytes; MCP's limit for the parts of a tool name
	maxPort       = 65535
)

// checkSettings refuses an agent id, reserved name or port that nothing could
// be decided by. A port of 0 or below is no error: there is no server then.
func (c *InstanceConfig) checkSettings(port int) error {
	if c.Agent != "" && !isAgentID(c.Agent) {
		return fmt.Errorf("config: agent id %q: use 1 to %d of A-Z a-z 0-9 . _ -, beginning with a letter or digit, such as claude-acp", printable(c.Agent), maxAgentID)
	}
	if err := pipeline.CheckReservedName(c.ReservedName); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if port > maxPort {
		return fmt.Errorf("config: port %d of the injected server: use 1 to %d, or 0 for none", port, maxPort)
	}
	return nil
}

func isAgentID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return len(s) <= maxAgentID
}

// check refuses an entry that is no server of ACP's shape. Its errors name
// members, never their content.
func (s MCPServer) check() error {
	if err := checkName(s.Name); err != nil {
		return err
	}
	switch s.Type {
	case "", TypeStdio:
		return s.checkStdio()
	case TypeHTTP, TypeSSE:
		return s.checkRemote()
	}
	return fmt.Errorf("unknown type: use http, sse, or no type for a command")
}

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is missing: give each server a name")
	case len(name) > maxServerName:
		return fmt.Errorf("the name has %d bytes: use at most %d", len(name), maxServerName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("the name has characters that cannot be printed: use letters, digits, _ and -")
	}
	return nil
}

func (s MCPServer) checkStdio() error {
	switch {
	case s.Command == "" && s.URL != "":
		return errors.New("it has a url but no type: add type http or sse")
	case s.Command == "":
		return errors.New("it has neither a command nor a type with a url: add one of them")
	case s.URL != "" || len(s.Headers) > 0:
		return errors.New("it has a command and a url or headers: keep one kind")
	}
	for _, text := range append([]string{s.Command}, s.Args...) {
		if !isText(text) {
			return errors.New("command or args have a NUL or bytes that are no UTF-8: remove them")
		}
	}
	for _, e := range s.Env {
		if e.Name == "" || strings.ContainsAny(e.Name, "=\x00") || !isText(e.Name) || !isText(e.Value) {
			return errors.New("env has a variable that no process can be given: a name without = and text without NUL are needed")
		}
	}
	return nil
}

func (s MCPServer) checkRemote() error {
	if s.Command != "" || len(s.Args) > 0 || len(s.Env) > 0 {
		return errors.New("it has a type with a url, and a command, args or env: keep one kind")
	}
	u, err := url.Parse(s.URL) // the error would quote the URL
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !utf8.ValidString(s.URL) {
		return errors.New("the url is missing or malformed: it must be absolute and begin with http:// or https://")
	}
	for _, h := range s.Headers {
		if !isToken(h.Name) || strings.ContainsAny(h.Value, "\r\n\x00") || !utf8.ValidString(h.Value) {
			return errors.New("a header's name or value is malformed: names are letters, digits and -, values one line of text")
		}
	}
	return nil
}

// isText says whether a text can be an argument or variable of a process.
func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// isToken says whether a text is a header name (RFC 9110, token).
func isToken(s string) bool {
	const special = "!#$%&'*+-.^_`|~"
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(special, r)
	})
}

// printable bounds a name that goes into an error.
func printable(s string) string {
	if len(s) > maxServerName {
		return strings.ToValidUTF8(s[:maxServerName], "") + "…"
	}
	return s
}
