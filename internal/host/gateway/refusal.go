package gateway

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
)

// ways are the ways out of refusals, for whoever reads the answer or the log.
var ways = map[string]string{
	refusedHost:    "this server does not answer for the host in the address that was used; if it should, add that host to hosts in its configuration",
	refusedOrigin:  "pages of another server may not connect; if they should, add that server's origin to origins in the configuration",
	refusedToken:   "it needs a token that is known here, as in Authorization: Bearer …; assent token create makes one",
	refusedTries:   "too many unknown tokens came from there: wait a minute",
	refusedRate:    "this token sends too many requests: wait a moment",
	refusedClients: "this token has too many connections: close one",
	refusedCalls:   "too many calls of this token run at once: wait until some are answered",
}

// refuse answers a request that is not let in.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, token, why string, status int) {
	g.refusals.log(why, r, token)
	text := why
	if way := ways[why]; way != "" {
		text += ": " + way
	}
	say(w, status, text)
}

// refusalLog logs the first refusal of each reason as a warning and the others at
// debug level: any web page can cause as many as it likes.
type refusalLog struct {
	logger *slog.Logger
	seen   sync.Map
}

// log logs a refusal: from where it came, of what, and the name of the token where it is
// known. Nothing else of the request is in it; r is nil where there is none.
func (l *refusalLog) log(reason string, r *http.Request, token string) {
	level := slog.LevelDebug
	if _, again := l.seen.LoadOrStore(reason, true); !again {
		level = slog.LevelWarn
	}
	about := []any{"reason", reason}
	if way := ways[reason]; way != "" {
		about = append(about, "way", way)
	}
	if r != nil {
		about = append(about, "from", machine(r.RemoteAddr), "path", knownPath(r))
	}
	if token != "" {
		about = append(about, "token", token)
	}
	l.logger.Log(context.Background(), level, "the gateway refused a request", about...)
}

// machine is a remote address without the port.
func machine(remote string) string {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		return host
	}
	return remote
}

// knownPath is the path of a request if it is one of ours: any other text may be a secret.
func knownPath(r *http.Request) string {
	switch path := r.URL.Path; path {
	case "/", "/ws", "/mcp", "/mcp/sse", "/metrics", "/healthz", "/readyz", "/api/actions":
		return path
	}
	return "(none of ours)"
}
