package replay

import "strings"

// oracleCall is the earlier part of an effective tool call.
type oracleCall struct {
	name, title, kind, meta *node

	contradictory, ended bool
	codex                struct {
		marked, conflict bool
		server, tool     string
	}
}

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
