package replay

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// oracleCall is the earlier part of an effective tool call.
type oracleCall struct {
	name, title, kind, meta *node

	contradictory, ended bool
	codex                struct {
		marked, conflict bool
		server, tool     string
	}
}

// oracleSession is a session's list, or a request that may give it one.
type oracleSession struct {
	method    string
	ids       []string
	list      *node
	untrusted bool
}

func (s *oracleSession) makes() bool { return s.method == "session/new" || s.method == "session/fork" }

// Silent: a text of more than 512 bytes is no id that could be told apart.
const longest = 512

// Effective tool call: updates.
func (o *oracle) update(top *node) {
	u := top.get("params", "update")
	if twice(top) || top.ambiguous(u.get("rawInput"), u.get("content"), u.get("locations")) {
		o.ambiguousUpdate(top)
		return
	}
	session, id, kind := top.get("params", "sessionId"), u.get("toolCallId"), u.get("sessionUpdate")
	start := kind.is("tool_call")
	switch {
	case !start && !kind.is("tool_call_update"), session == nil || session.kind != '"', id == nil || id.kind != '"':
		return
	case len(session.text) > longest:
		o.ambiguousUpdate(top)
		return
	}
	status := u.get("status")
	o.alarm(session.text, id.text, status.is("failed"))
	if o.replaying(session.text) {
		return
	}
	if len(id.text) > longest {
		o.lost[session.text] = true
		return
	}
	key := [2]string{session.text, id.text}
	c := o.calls[key]
	if c != nil && c.ended && !start {
		return
	}
	if c == nil || c.ended {
		c = &oracleCall{}
	} else if start {
		c = &oracleCall{codex: c.codex}
		c.codex.marked = false
	}
	o.calls[key] = c
	c.merge(u, start)
	c.ended = status.is("completed") || status.is("failed")
}

func (c *oracleCall) merge(u *node, start bool) {
	if name := u.get("name"); name.given() {
		if c.name.given() && !same(c.name, name) {
			c.contradictory = true
		}
		c.name = name
	}
	for key, field := range map[string]**node{"title": &c.title, "kind": &c.kind, "_meta": &c.meta} {
		if v := u.get(key); v.given() {
			*field = v
		}
	}
	x, raw, appeared := &c.codex, u.get("rawInput"), start
	if meta := u.get("_meta"); meta.given() || start {
		set, bad := flagOf(meta, "is_mcp_tool_call")
		appeared = appeared || set && !x.marked
		x.marked, x.conflict = set, x.conflict || bad
	}
	if !x.marked || !appeared && !raw.given() { // what is not marked, the adapter did not write
		return
	}
	server, tool := shortText(raw.get("server")), shortText(raw.get("tool"))
	unclear := false // Silent: what a key of bad text, or a very long one, says beside them
	for i, m := range membersOf(raw) {
		unclear = unclear || m.bad || len(m.key) > longest
		for _, other := range raw.members[:i] {
			unclear = unclear || m.key == other.key
		}
	}
	if unclear || (x.server != "" || x.tool != "") && (server != x.server || tool != x.tool) {
		x.conflict = true
		return
	}
	x.server, x.tool = server, tool
}

func membersOf(n *node) []*member {
	if n == nil {
		return nil
	}
	return n.members
}

func shortText(n *node) string {
	if n == nil || n.kind != '"' || n.bad || len(n.text) > longest {
		return ""
	}
	return n.text
}

// same: two names are known to be equal.
func same(a, b *node) bool {
	return a.kind == '"' && b.kind == '"' && a.text == b.text && len(a.text) <= longest
}

// An update that can be read in two ways makes each call that it may be about
// contradictory. Silent: it may be a startup alarm, too.
func (o *oracle) ambiguousUpdate(top *node) {
	var sessions, calls []string
	about := false
	note := func(list []string, values []*node) []string {
		for _, v := range values {
			if v.kind == '"' {
				o.distrusted = o.distrusted || len(v.raw) > 6*longest
				list = append(list, v.text)
			}
		}
		return list
	}
	before := o.distrusted
	for _, p := range top.all("params") {
		sessions = note(sessions, p.all("sessionId"))
		for _, u := range p.all("update") {
			calls = note(calls, u.all("toolCallId"))
			for _, kind := range u.all("sessionUpdate") {
				about = about || kind.is("tool_call") || kind.is("tool_call_update")
			}
		}
	}
	if !about {
		o.distrusted = before
		return
	}
	if o.distrusted && !before {
		return
	}
	for _, s := range sessions {
		for _, c := range calls {
			o.alarm(s, c, true)
			if o.replaying(s) {
				continue
			}
			if len(c) > longest {
				o.lost[s] = true
				continue
			}
			key := [2]string{s, c}
			if o.calls[key] == nil || o.calls[key].ended {
				o.calls[key] = &oracleCall{}
			}
			o.calls[key].contradictory = true
		}
	}
}

// Effective tool call: what an offer leaves out.
func (o *oracle) join(session string, own *node) (oracleCall, bool) {
	out := oracleCall{name: own.get("name"), title: own.get("title"), kind: own.get("kind"), meta: own.get("_meta")}
	c := o.calls[[2]string{session, own.get("toolCallId").text}]
	if c == nil || c.ended {
		return out, false
	}
	if c.contradictory || out.name.given() && c.name.given() && !same(out.name, c.name) {
		return out, true
	}
	if o.lost[session] {
		return out, false
	}
	for field, earlier := range map[**node]*node{&out.name: c.name, &out.title: c.title, &out.kind: c.kind, &out.meta: c.meta} {
		if !(*field).given() {
			*field = earlier
		}
	}
	out.codex = c.codex
	return out, false
}

// The startup alarm of Codex.
func (o *oracle) alarm(session, call string, failed bool) {
	if o.agent == "codex-acp" && failed && strings.HasPrefix(call, "mcp_startup.kandev.") {
		o.alarms[session] = true
	}
}

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
	if top.get("result") != nil || top.get("error") != nil {
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
	if id == nil || id.kind != '"' && id.kind != '0' { // Silent: no answer will ever settle it
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
	var named []*node
	for _, p := range top.all("params") {
		named = append(named, p.all("sessionId")...)
	}
	if len(named) > 1 || len(named) > 0 && twice(top) {
		for _, s := range named {
			o.doubtful[s.text] = true
		}
	}
}

// idKey: two spellings of one string are one id; a number is its digits.
func idKey(id *node) string {
	if id.kind == '"' && !id.bad {
		return `"` + id.text
	}
	return id.raw
}

func (o *oracle) response(top, id *node) {
	if id == nil || o.open[idKey(id)] == nil {
		return
	}
	r := o.open[idKey(id)]
	delete(o.open, idKey(id))
	failed := top.get("error")
	if failed.given() && top.get("result") == nil && !twice(top) {
		return // a failure changes nothing
	}
	r.untrusted = r.untrusted || failed != nil || twice(top) // Silent: both, or an error that is null
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
