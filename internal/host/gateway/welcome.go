package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"

	"github.com/kandev/assent/internal/host/dispatch"
)

const (
	// actionAuth is a client's first message, when it came without a header.
	actionAuth = "auth"
	// maxAuth is the largest such message, in bytes.
	maxAuth = 8 << 10
	// maxStrangers bounds the clients that have not sent a token yet.
	maxStrangers = 256
	// maxOfToken bounds the clients of one token, its streams of MCP, and its calls.
	maxOfToken = 64
)

// welcome is what a client is told when it is let in by its first message.
type welcome struct {
	Name   string          `json:"name"`
	Scopes dispatch.Scopes `json:"scopes"`
	Server string          `json:"server"` // the run
}

// authenticate reads the first message of a client that came without a header: its
// token. Whoever sends none in time, or another message, is told so and closed.
func (c *client) authenticate(ctx context.Context, r *http.Request) bool {
	late := time.AfterFunc(c.g.opts.Limits.AuthTimeout, func() {
		c.out.end(websocket.StatusPolicyViolation, "no token came in time")
	})
	defer late.Stop()
	raw, failure, err := c.message(ctx, maxAuth)
	if err != nil {
		return false
	}
	var first request
	if failure == nil {
		first, failure = readRequest(raw)
	}
	var p dispatch.Person
	if failure == nil {
		p, failure = c.personOf(&first, r)
	}
	if failure != nil {
		c.out.put(outgoing{reply: first.reply(nil, failure)})
		c.out.end(websocket.StatusPolicyViolation, "not authenticated")
		return false
	}
	c.out.put(outgoing{reply: first.reply(welcome{p.Name, p.Scopes, c.g.opts.Run}, nil)})
	return true
}

// personOf finds whose token a first message carries, and notes it.
func (c *client) personOf(first *request, r *http.Request) (dispatch.Person, *dispatch.Error) {
	if first.name != actionAuth {
		return dispatch.Person{}, &dispatch.Error{Code: dispatch.CodeForbidden, Message: "the first message has to be the action auth, with the token"}
	}
	var payload struct {
		Token string `json:"token"`
	}
	if json.Unmarshal(first.payload, &payload, json.RejectUnknownMembers(true)) != nil || payload.Token == "" {
		return dispatch.Person{}, &dispatch.Error{Code: dispatch.CodeInvalidPayload, Message: `the payload of auth is {"token":"…"}`}
	}
	why := c.introduce(payload.Token, r)
	if why == "" {
		why = c.introduce(payload.Token, r)
	}
	if why == "" {
		return c.person, nil
	}
	c.g.refusals.log(why, r, "")
	switch why {
	case refusedTries:
		return dispatch.Person{}, &dispatch.Error{Code: dispatch.CodeRateLimited, Message: "too many unknown tokens came from there: wait a minute"}
	case refusedRoom:
		return dispatch.Person{}, &dispatch.Error{Code: dispatch.CodeRateLimited, Message: "the token came late, and too many clients have sent none: connect again"}
	case refusedClients:
		return dispatch.Person{}, &dispatch.Error{Code: dispatch.CodeRateLimited, Message: "this token has too many connections: close one"}
	}
	return dispatch.Person{}, &dispatch.Error{Code: dispatch.CodeForbidden, Message: "the token is unknown"}
}

// introduce notes whom a client is for. It is called once more when that can be seen
// by [Gateway.DropToken]: a token that was deleted meanwhile is then found missing.
func (c *client) introduce(secret string, r *http.Request) (why string) {
	p, why := c.g.identify(secret, r.RemoteAddr, surface(r))
	if why != "" {
		return why
	}
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	switch {
	case c.dropped:
		return refusedRoom
	case c.g.clients[c] && c.person.Name == "" && c.g.full(p.Name):
		return refusedClients
	}
	c.person = p
	return ""
}

// admit counts a client in, or says why not: there are too many, or the gateway ends.
func (g *Gateway) admit(c *client) (why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case c.person.Name != "" && g.full(c.person.Name):
		return refusedClients
	case c.person.Name == "" && g.full(""):
		g.dropStranger()
	}
	if g.ending || len(g.clients) >= g.opts.Limits.MaxClients {
		return "too_many_clients"
	}
	g.admitted++
	c.number = g.admitted
	g.clients[c] = true
	g.sockets.Add(1)
	return ""
}

// full says whether a token has all clients that it may have, so that it cannot take
// the places of others. Those without a token yet share few. The lock is held.
func (g *Gateway) full(name string) bool {
	count, most := 0, maxOfToken
	if name == "" {
		most = maxStrangers
	}
	for c := range g.clients {
		if c.person.Name == name {
			count++
		}
	}
	return count >= most
}

// dropStranger ends the oldest client without a token, so that clients which send
// none do not keep out one that is about to. The lock is held.
func (g *Gateway) dropStranger() {
	var oldest *client
	for c := range g.clients {
		if c.person.Name == "" && (oldest == nil || c.number < oldest.number) {
			oldest = c
		}
	}
	oldest.dropped = true
	delete(g.clients, oldest)
	oldest.drop()
}

// dismiss forgets a client that has left.
func (g *Gateway) dismiss(c *client) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.clients, c)
	g.sockets.Done()
}
