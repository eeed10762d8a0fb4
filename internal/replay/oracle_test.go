package replay

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// oracle decides by the rule as it is written down in words: one function per
// paragraph, no stages, no dialects, nothing shared with the code
// under test. It keeps everything and knows no bounds but those on single texts.
// "Silent" marks where the rule says nothing: there a person is asked.
type oracle struct {
	agent       string
	port        int
	injected    bool // the injector's marker
	auto        bool
	placeholder string // a recorded header that counts as none
	every       *node  // the list of every session, in a case

	calls    map[[2]string]*oracleCall
	lost     map[string]bool // sessions that lost an entry
	sessions map[string]*oracleSession
	open     map[string]*oracleSession // session requests without an answer, by id
	alarms   map[string]bool
	doubtful map[string]bool
	nameSeen bool
	// distrusted: nothing is known for sure any more; nameless: a session has a
	// list, but nobody knows which session.
	distrusted, nameless bool
}

// said is what the oracle and the pipeline say about one offer.
type said struct{ id, verdict, option string }

// Ids: exact text, string or number; a request has a method and neither result
// nor error. Silent: of two methods the more careful one counts.
func (o *oracle) fromAgent(line string) (said, bool) {
	top := parse(line)
	if !top.object() {
		return said{}, false
	}
	id := top.get("id")
	switch method := careful(top); {
	case top.get("result") != nil || top.get("error") != nil:
		o.response(top, id)
	case method == "session/update":
		o.update(top)
	case method == "session/request_permission":
		verdict, option := o.offer(top, line)
		if id != nil && (id.kind == '"' || id.kind == '0') {
			return said{shownID(id.raw), verdict, option}, true
		}
	}
	return said{}, false
}

func careful(top *node) string {
	best, method := 0, ""
	for _, m := range top.all("method") {
		rank := 1
		switch {
		case m.kind != '"' || m.bad:
			continue
		case m.text == "session/request_permission":
			rank = 3
		case m.text == "session/update", sessionMethod.MatchString(m.text):
			rank = 2
		}
		if rank >= best {
			best, method = rank, m.text
		}
	}
	return method
}

var sessionMethod = regexp.MustCompile(`^session/(new|load|resume|fork)$`)

func twice(top *node) bool {
	for _, key := range []string{"id", "method", "params", "result", "error"} {
		if len(top.all(key)) > 1 {
			return true
		}
	}
	return false
}

// Reading a frame: what makes an offer unreadable.
func (o *oracle) offer(top *node, line string) (verdict, option string) {
	params := top.get("params")
	call, subject := params.get("toolCall"), params.get("subject")
	if call == nil && subject.object() && subject.get("type").is("tool_call") {
		call = subject.get("toolCall")
	}
	options := params.get("options")
	other := call == nil && subject.object() && !subject.get("type").is("tool_call")
	unreadable := !utf8.ValidString(line) ||
		top.ambiguous(call.get("rawInput"), call.get("content"), call.get("locations")) ||
		params.get("toolCall") != nil && subject != nil ||
		!other && (!call.object() || call.get("toolCallId") == nil || call.get("toolCallId").kind != '"') ||
		params.get("sessionId") == nil || params.get("sessionId").kind != '"' ||
		options == nil || options.kind != '['
	if options != nil {
		for _, e := range options.elements {
			unreadable = unreadable || e.get("optionId") == nil || e.get("optionId").kind != '"'
		}
	}
	seen := o.nameSeen
	switch {
	case unreadable:
		o.nameSeen = o.nameSeen || named(top)
		return "cancel", ""
	case !other && call.get("name").given():
		o.nameSeen = true
	}
	if len(options.elements) == 0 {
		return "cancel", ""
	}
	if o.auto {
		return "select", blanket(options)
	}
	if other {
		return "pend", ""
	}
	return o.decide(params, call, options, seen)
}

// named: a tool call that an unreadable offer may be about has a name. Silent: it
// counts for the title fallback.
func named(top *node) bool {
	var calls []*node
	for _, p := range top.all("params") {
		calls = append(calls, p.all("toolCall")...)
		for _, s := range p.all("subject") {
			calls = append(calls, s.all("toolCall")...)
		}
	}
	for _, c := range calls {
		if slices.ContainsFunc(c.all("name"), (*node).given) {
			return true
		}
	}
	return false
}

// Stage 1.
func blanket(options *node) string {
	for _, e := range options.elements {
		if k := e.get("kind"); k.is("allow_once") || k.is("allow_always") {
			return e.get("optionId").text
		}
	}
	return options.elements[0].get("optionId").text
}

// Stages 2 to 6.
func (o *oracle) decide(params, own, options *node, nameSeen bool) (string, string) {
	session := params.get("sessionId").text
	call, contradictory := o.join(session, own)
	if contradictory || call.name.given() && call.name.kind != '"' {
		return "pend", ""
	}
	name, known := "", call.name.given()
	if known {
		name = call.name.text
	}
	server, tool := qualified(name)
	claimedServer, claimedTool, claimed, wrong := o.claim(params, own, call, nameSeen)
	switch {
	case wrong, claimed && known && (claimedServer != server || claimedTool != tool):
		return "pend", ""
	case claimed && !known:
		server, tool = claimedServer, claimedTool
	}
	if server != "kandev" || tool == "" || !o.proven(session) || never[tool] {
		return "pend", ""
	}
	option, ok := o.allow(options)
	if !ok {
		return "pend", ""
	}
	return "select", option
}

// The qualified name.
var segment = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

func qualified(name string) (server, tool string) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	server, tool, cut := strings.Cut(rest, "__")
	if !ok || !cut || !unambiguous(server, tool) {
		return "", ""
	}
	return server, tool
}

func unambiguous(server, tool string) bool {
	return segment.MatchString(server) && segment.MatchString(tool) &&
		!strings.Contains(server, "__") && !strings.Contains(tool, "__") &&
		!strings.HasPrefix(server, "_") && !strings.HasSuffix(server, "_") && !strings.HasPrefix(tool, "_")
}

// Stage 3. A claim is a server and a tool, both empty when it is no unambiguous
// name. wrong: malformed or contradictory.
func (o *oracle) claim(params, own *node, call oracleCall, nameSeen bool) (server, tool string, claimed, wrong bool) {
	switch o.agent {
	case "claude-acp":
		return claude(call, nameSeen)
	case "codex-acp":
		return codex(params, call)
	case "qwen-acp":
		meta := own.get("_meta")
		toolName := meta.get("toolName")
		if meta.given() && !meta.object() || toolName != nil && toolName.kind != '"' {
			return "", "", false, true
		}
		if toolName == nil {
			return "", "", false, false
		}
		server, tool = qualified(toolName.text)
		return server, tool, true, server == "" && call.name.given() && call.name.text != toolName.text
	}
	return "", "", false, false
}

func claude(call oracleCall, nameSeen bool) (server, tool string, claimed, wrong bool) {
	code := call.meta.get("claudeCode")
	toolName, serves := code.get("toolName"), code.get("mcpServer")
	switch {
	case call.meta.given() && !call.meta.object(),
		code != nil && !code.object(),
		toolName != nil && toolName.kind != '"',
		serves != nil && !serves.object(),
		toolName != nil && call.name.given() && toolName.text != call.name.text:
		return "", "", false, true
	}
	name := toolName
	switch {
	case name == nil && call.name.given():
		name = call.name
	case name == nil && !nameSeen && call.kind.is("other") && call.title.given() && call.title.kind == '"':
		name = call.title
	}
	if name != nil {
		server, tool = qualified(name.text)
	}
	if serves != nil && (server == "" || !serves.get("name").is(server) || !serves.get("source").is("dynamic")) {
		return "", "", false, true
	}
	return server, tool, server != "" || toolName != nil, false
}

func codex(params *node, call oracleCall) (server, tool string, claimed, wrong bool) {
	approval, bad := flagOf(params.get("_meta"), "is_mcp_tool_approval")
	if bad || call.codex.conflict || approval != call.codex.marked {
		return "", "", false, true
	}
	if !approval {
		return "", "", false, false
	}
	server, tool = call.codex.server, call.codex.tool
	if server == "" || tool == "" {
		return "", "", false, true
	}
	if !unambiguous(server, tool) {
		return "", "", true, call.name.given()
	}
	return server, tool, true, false
}

// flagOf reads a marker. Silent: anything but a bool is malformed.
func flagOf(meta *node, key string) (set, bad bool) {
	if meta.given() && !meta.object() {
		return false, true
	}
	switch m := meta.get(key); {
	case m == nil, m.kind == 'f':
		return false, false
	default:
		return m.kind == 't', m.kind != 't'
	}
}

// Stage 5.
var never = map[string]bool{"list_pending_agent_permissions_kandev": true, "resolve_agent_permission_kandev": true}

func (o *oracle) allow(options *node) (string, bool) {
	ids, byKind := map[string]int{}, map[string][]string{}
	for _, e := range options.elements {
		id := e.get("optionId").text
		if ids[id]++; id == "" || ids[id] > 1 {
			return "", false
		}
		if k := e.get("kind"); k != nil && k.kind == '"' {
			byKind[k.text] = append(byKind[k.text], id)
		}
	}
	once, always := byKind["allow_once"], byKind["allow_always"]
	switch {
	case len(once) == 1:
		return once[0], true
	case len(once) > 1:
		for _, id := range once {
			if o.agent == "qwen-acp" && id == "proceed_once" {
				return id, true
			}
		}
		return "", false
	case len(always) == 1:
		return always[0], true
	}
	return "", false
}

func (o *oracle) address(kind string) string {
	path := map[string]string{"http": "mcp", "sse": "sse"}[kind]
	if path == "" {
		return "?"
	}
	return fmt.Sprintf("http://localhost:%d/%s", o.port, path)
}
