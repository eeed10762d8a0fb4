package upstream

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// Target is one MCP server: a URL, or a program to start.
type Target struct {
	// URL of the server; empty for a program. Whether it speaks streamable HTTP or
	// HTTP with SSE is found out.
	URL string
	// Headers go with every request to the host of URL and to nobody else. They
	// are secrets.
	Headers http.Header
	// Command is the program and its arguments; empty for a URL.
	Command []string
	// Dir is the program's working directory; empty means the caller's.
	Dir string
	// Env is the program's whole environment; nil means the caller's.
	Env []string
}

// stdioScheme begins a target that is a program.
const stdioScheme = "stdio:"

// ParseTarget reads a target as a user writes it: "http://HOST/PATH",
// "https://HOST/PATH", or "stdio:PROGRAM ARGUMENTS". Errors quote nothing of it:
// a URL can hold secrets.
func ParseTarget(s string) (Target, error) {
	if line, ok := strings.CutPrefix(s, stdioScheme); ok {
		command, err := words(line)
		if err != nil {
			return Target{}, fmt.Errorf("upstream: the command after %q %w", stdioScheme, err)
		}
		return Target{Command: command}, nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return Target{}, errors.New("upstream: the target is no URL: use http://HOST:PORT/PATH, https://HOST/PATH or stdio:PROGRAM ARGUMENTS")
	case u.Scheme != "http" && u.Scheme != "https":
		return Target{}, errors.New("upstream: the target begins with none of http://, https:// and stdio: write one of them")
	case u.Hostname() == "":
		return Target{}, errors.New("upstream: the URL of the target has no host")
	case !validPort(u.Port()):
		return Target{}, errors.New("upstream: the URL of the target has a port that is none: use 1 to 65535")
	case u.User != nil:
		return Target{}, errors.New("upstream: the URL of the target holds a user name or password: use a header instead")
	case u.Fragment != "":
		return Target{}, errors.New("upstream: the URL of the target has a fragment (#): leave it out")
	}
	return Target{URL: u.String()}, nil
}

// validPort says whether a URL can have this port; empty means the scheme's own.
func validPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n >= 1 && n <= 65535
}

// Loopback is the port of a target on this machine's loopback; 0 for any other.
func (t Target) Loopback() int {
	u, err := url.Parse(t.URL)
	if err != nil || t.URL == "" {
		return 0
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip := net.ParseIP(host); host != "localhost" && !strings.HasSuffix(host, ".localhost") && (ip == nil || !ip.IsLoopback() && !ip.IsUnspecified()) {
		return 0
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return 0
	}
	return number
}

// Format prints the host or the program's name alone, whatever the verb: the rest
// can hold secrets.
func (t Target) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, t.name()) }

// LogValue is the host or the program's name alone.
func (t Target) LogValue() slog.Value { return slog.StringValue(t.name()) }

func (t Target) name() string {
	if len(t.Command) > 0 {
		return stdioScheme + filepath.Base(t.Command[0])
	}
	u, err := url.Parse(t.URL)
	if err != nil {
		return "no URL"
	}
	return u.Scheme + "://" + u.Host
}
