package replay

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// oracleSession is a session's list, or a request that may give it one.
type oracleSession struct {
	method    string
	ids       []string
	list      *node
	untrusted bool
}

func (s *oracleSession) makes() bool { return s.method == "session/new" || s.method == "session/fork" }

// Stage 4: a session's list.
func (o *oracle) fromClient(line string) {
	top := parse(line)
	method := careful(top)
	if !top.object() {
		return
	}
	if !sessionMethod.MatchString(method) {
		o.twoSessions(top)
		return
	}
	r := &oracleSession{method: method}
	params := top.get("params")
	session, servers := params.get("sessionId"), params.get("mcpServers")
	r.untrusted = twice(top) || top.ambiguous() || !utf8.ValidString(line) || !params.object() ||
		session != nil && session.kind != '"' || session == nil && !r.makes() ||
		servers.given() && (servers.kind != '[' || slices.ContainsFunc(servers.elements, func(e *node) bool { return e.kind != '{' }))
	if !r.untrusted {
		r.list = servers
	}
	for _, p := range top.all("params") {
		for _, s := range p.all("sessionId") {
			if s.kind == '"' && !r.makes() {
				r.ids = append(r.ids, s.text)
			}
		}
	}
	id := top.get("id")
	if id == nil || id.kind != '"' && id.kind != '0' || top.get("result") != nil || top.get("error") != nil { // Silent: no answer will ever settle it
		r.untrusted = true
		o.settle(r, nil)
		return
	}
	for _, other := range o.open { // Silent: which of the two comes last?
		if slices.ContainsFunc(r.ids, func(id string) bool { return slices.Contains(other.ids, id) }) {
			r.untrusted, other.untrusted = true, true
		}
	}
	key := idKey(id)
	if o.open[key] != nil { // Silent: one id for two open requests
		o.distrusted = true
		return
	}
	o.open[key] = r
}

// twoSessions: any client frame that names a session twice makes it untrusted.
func (o *oracle) twoSessions(top *node) {
	var named, lists []*node
	for _, p := range top.all("params") {
		named = append(named, p.all("sessionId")...)
		lists = append(lists, p.all("mcpServers")...)
	}
	if len(named) > 1 || len(named) > 0 && (twice(top) || len(lists) > 1) {
		for _, s := range named {
			o.doubtful[s.text] = true
		}
	}
}

// idKey: two spellings of one string are one id; a number is its digits. Bytes
// that are no text become U+FFFD.
func idKey(id *node) string {
	raw := string([]rune(id.raw))
	if id.kind != '"' {
		return raw
	}
	if text, bad := unquote(raw[1 : len(raw)-1]); !bad {
		return `"` + text
	}
	return raw
}

// shownID is an id as it came; one that was no text as what is left of it.
func shownID(raw string) string {
	raw = string([]rune(raw))
	if raw[0] == '"' {
		if text, _ := unquote(raw[1 : len(raw)-1]); strings.Contains(text, "\ufffd") {
			return text
		}
	}
	return raw
}

func (o *oracle) response(top, id *node) {
	if id == nil || o.open[idKey(id)] == nil {
		return
	}
	r := o.open[idKey(id)]
	delete(o.open, idKey(id))
	failed := top.get("error")
	if failed != nil && failed.kind == '{' && top.get("result") == nil && !twice(top) {
		return // a failure changes nothing
	}
	r.untrusted = r.untrusted || failed != nil || twice(top) // Silent: both, or an error that is none
	var made *node
	if !top.ambiguous() {
		made = top.get("result").get("sessionId")
	}
	o.settle(r, made)
}

func (o *oracle) settle(r *oracleSession, made *node) {
	if r.makes() {
		r.ids = nil
		if made != nil && made.kind == '"' && made.text != "" {
			r.ids = []string{made.text}
			r.untrusted = r.untrusted || o.sessions[made.text] != nil // Silent: made twice
		}
	}
	o.nameless = o.nameless || len(r.ids) == 0
	for _, id := range r.ids {
		o.sessions[id] = r
	}
}

func (o *oracle) replaying(session string) bool {
	for _, r := range o.open {
		if r.method == "session/load" && slices.Contains(r.ids, session) {
			return true
		}
	}
	return false
}

// Stage 4: injected.
func (o *oracle) proven(session string) bool {
	if !o.injected || o.port <= 0 || o.distrusted {
		return false
	}
	if o.every != nil {
		return !o.alarms[session] && !o.doubtful[session] && o.qualifies(o.every)
	}
	if s := o.sessions[session]; s != nil {
		for _, r := range o.open {
			if slices.Contains(r.ids, session) {
				return false
			}
		}
		return !o.alarms[session] && !s.untrusted && !o.doubtful[session] && o.qualifies(s.list)
	}
	// Never announced: the list of every live session, and of those being made.
	if len(o.sessions) == 0 || len(o.alarms) > 0 || len(o.doubtful) > 0 || o.nameless {
		return false
	}
	for _, r := range o.open {
		if !r.makes() || r.untrusted || !o.qualifies(r.list) {
			return false
		}
	}
	for _, s := range o.sessions {
		if s.untrusted || !o.qualifies(s.list) {
			return false
		}
	}
	return true
}

func (o *oracle) qualifies(list *node) bool {
	if list == nil {
		return false
	}
	found := false
	for _, e := range list.elements {
		name := e.get("name")
		if name.given() && name.kind == '"' && name.text != "kandev" { // none of the others can become "kandev"
			continue
		}
		if !name.given() { // no name at all, and nothing odd: an entry of no name
			if !odd(e) {
				continue
			}
			return false
		}
		kind := e.get("type")
		if odd(e) || !kind.given() || e.get("url") == nil || !e.get("url").is(o.address(kind.text)) ||
			e.get("command").given() && e.get("command").text != "" || len(elementsOf(e.get("args")))+len(elementsOf(e.get("env"))) > 0 ||
			!o.noHeaders(elementsOf(e.get("headers"))) {
			return false
		}
		found = true
	}
	return found
}

func (o *oracle) noHeaders(headers []*node) bool {
	return len(headers) == 0 || o.placeholder != "" && len(headers) == 1 &&
		headers[0].get("name").is("Authorization") && headers[0].get("value").is(o.placeholder)
}

func elementsOf(n *node) []*node {
	if n == nil {
		return nil
	}
	return n.elements
}

// odd: a member of an entry has a type that ACP does not give it.
func odd(e *node) bool {
	wrong := func(n *node, kind byte) bool { return n.given() && n.kind != kind }
	bad := wrong(e.get("args"), '[') || wrong(e.get("env"), '[') || wrong(e.get("headers"), '[')
	for _, key := range []string{"name", "type", "url", "command"} {
		bad = bad || wrong(e.get(key), '"')
	}
	for _, h := range elementsOf(e.get("headers")) {
		bad = bad || h.kind != '{'
		for _, m := range h.members {
			bad = bad || m.key != "name" && m.key != "value" || wrong(m.value, '"')
		}
	}
	return bad
}
