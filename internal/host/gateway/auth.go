package gateway

import (
	"context"
	"net/http"
	"strings"

	"github.com/kandev/assent/internal/host/dispatch"
)

// Why a request without a good token is refused.
const (
	refusedToken   = "token_missing_or_unknown"
	refusedTries   = "too_many_unknown_tokens"
	refusedRate    = "too_many_requests"
	refusedClients = "too_many_connections_of_this_token"
	refusedRoom    = "made_room_before_its_token_came"
	refusedCalls   = "too_many_calls_of_this_token_at_once"
)

// Tries with an unknown token, of one remote address.
const (
	failRate  = 1.0 / 6 // per second
	failBurst = 20
)

// bearer is the secret of the Authorization header; empty for none, and for more
// than one header.
func bearer(h http.Header) string {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

// identify finds the person of a secret. Else it says why not: after too many tries
// the reason is another one. A known token is let in all the same, or any process of
// this machine could lock its user out; what the limit spares is log and work, since
// a secret cannot be guessed.
func (g *Gateway) identify(secret, remote, surface string) (dispatch.Person, string) {
	if secret != "" {
		if p, ok := g.opts.Tokens.Find(secret); ok {
			p.Surface = surface
			return p, ""
		}
	}
	if !g.failures.allow(machine(remote)) {
		return dispatch.Person{}, refusedTries
	}
	return dispatch.Person{}, refusedToken
}

// surface is where a WebSocket client is: browsers send an Origin header.
func surface(r *http.Request) string {
	if r.Header.Get("Origin") != "" {
		return "page"
	}
	return "api"
}

type personKey struct{}

// PersonOf is who sent a request that the gateway let through to the external MCP
// server.
func PersonOf(ctx context.Context) (dispatch.Person, bool) {
	p, ok := ctx.Value(personKey{}).(dispatch.Person)
	return p, ok
}

// known lets requests with a good token through, as often as its rate allows.
func (g *Gateway) known(surface string, next func(w http.ResponseWriter, r *http.Request, p dispatch.Person)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, why := g.identify(bearer(r.Header), r.RemoteAddr, surface)
		switch {
		case why != "":
			g.refuseToken(w, r, "", why)
		case !g.requests.allow(p.Name):
			g.refuseToken(w, r, p.Name, refusedRate)
		default:
			defer stays(r.Context())()
			next(w, r, p)
		}
	})
}

// refuseToken answers a request whose token is not good, or good too often; then it has
// a name.
func (g *Gateway) refuseToken(w http.ResponseWriter, r *http.Request, token, why string) {
	status := http.StatusTooManyRequests
	if why == refusedToken {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", "Bearer")
	} else {
		w.Header().Set("Retry-After", "6")
	}
	g.refuse(w, r, token, why, status)
}
