package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kandev/assent/pipeline"
)

// mutate changes a script as a program of bytes says: lines, JSON structure and
// single bytes. Every program means something; the same one always the same.
func (s script) mutate(program []byte) script {
	s.lines = slices.Clone(s.lines)
	p := &tape{program}
	for range 24 {
		if len(p.rest) == 0 || len(s.lines) == 0 || len(s.lines) > 200 {
			break
		}
		op, at := p.next(), p.pick(len(s.lines))
		if op >= 240 {
			s.mutateInstance(op, p)
			continue
		}
		switch line := &s.lines[at]; op % 16 {
		case 0:
			s.lines = slices.Delete(s.lines, at, at+1)
		case 1:
			s.lines = slices.Insert(s.lines, p.pick(len(s.lines)+1), *line)
		case 2:
			other := p.pick(len(s.lines))
			s.lines[at], s.lines[other] = s.lines[other], s.lines[at]
		case 3:
			if !line.client {
				line.text = mutateBytes(line.text, p)
			}
		default:
			if root := parse(line.text); root != nil {
				mutateTree(root, int(op%16)-4, p, s)
				line.text = root.write()
			}
		}
	}
	return s
}

// mutateInstance changes the settings of the agent's instance.
func (s *script) mutateInstance(op byte, p *tape) {
	switch op % 4 {
	case 0:
		s.instance.Agent = pipeline.Agent(agents[p.pick(len(agents))])
	case 1:
		s.instance.AutoApprove = !s.instance.AutoApprove
	case 2:
		s.instance.Port = []int{0, 1, 9, 41001, 65535}[p.pick(5)]
		s.instance.Injected = s.instance.Injected && s.instance.Port > 0
	case 3:
		s.placeholder = ""
	}
}

var agents = []string{"claude-acp", "codex-acp", "qwen-acp", "zed-codex-acp", "opencode-acp", "gemini-acp", "acme-acp", ""}

// tape hands out the program's bytes; behind the end there are zeros.
type tape struct{ rest []byte }

func (t *tape) next() byte {
	if len(t.rest) == 0 {
		return 0
	}
	b := t.rest[0]
	t.rest = t.rest[1:]
	return b
}

func (t *tape) pick(n int) int {
	if n > 256 {
		return (int(t.next())<<8 | int(t.next())) % n
	}
	return int(t.next()) % n
}

func mutateBytes(text string, p *tape) string {
	if text == "" {
		return "x"
	}
	at, b := p.pick(len(text)), p.next()
	switch p.next() % 4 {
	case 0:
		return text[:at] + string([]byte{b}) + text[at+1:]
	case 1:
		return text[:at] + string([]byte{b}) + text[at:]
	case 2:
		return text[:at] + text[at+1:]
	}
	return text[:at]
}

// mutateTree changes one place below root.
func mutateTree(root *node, op int, p *tape, s script) {
	nodes, objects := root.flatten()
	n := nodes[p.pick(len(nodes))]
	var o *node
	if len(objects) > 0 {
		o = objects[p.pick(len(objects))]
	}
	hasMember := o != nil && len(o.members) > 0
	switch {
	case op == 0:
		*n = *s.value(p)
	case op == 1 && hasMember:
		i := p.pick(len(o.members))
		o.members = slices.Delete(o.members, i, i+1)
	case op == 2 && hasMember: // a key twice, with the same value or another one
		m := *o.members[p.pick(len(o.members))]
		if b := p.next(); b%2 == 0 {
			m.value = s.value(p)
		}
		o.members = slices.Insert(o.members, p.pick(len(o.members)+1), &m)
	case op == 3 && hasMember:
		o.members[p.pick(len(o.members))].raw = quote(keys[p.pick(len(keys))])
	case op == 4 && o != nil:
		o.members = append(o.members, &member{raw: quote(keys[p.pick(len(keys))]), value: s.value(p)})
	case op == 5:
		*n = *s.foreign(p)
	case op == 6:
		other := nodes[p.pick(len(nodes))]
		if !slices.Contains(other.below(), n) && !slices.Contains(n.below(), other) {
			*n, *other = *other, *n
		}
	case op == 7:
		inner := *n
		*n = node{kind: '[', elements: []*node{&inner}}
		if p.next()%2 == 0 {
			*n = node{kind: '{', members: []*member{{raw: quote(keys[p.pick(len(keys))]), value: &inner}}}
		}
	case op == 8 && n.kind == '"':
		n.raw = escape(n.raw, p)
	case op == 9 && hasMember:
		m := o.members[p.pick(len(o.members))]
		m.raw = escape(m.raw, p)
	case op == 10 && n.kind == '"': // a character more, or one less
		inner := n.raw[1 : len(n.raw)-1]
		if b := p.next(); b%2 == 0 && inner != "" && inner[len(inner)-1] != '"' && !strings.Contains(inner, `\`) {
			n.raw = `"` + inner[:len(inner)-1] + `"`
		} else {
			n.raw = `"` + inner + string(rune('!'+b%90)) + `"`
		}
		if !json.Valid([]byte(n.raw)) {
			n.raw = `"` + inner + `"`
		}
	case op == 11 && n.kind == '[':
		n.elements = append(n.elements, s.value(p))
		slices.Reverse(n.elements)
	}
}

// escape writes the first character of a quoted string as \uXXXX.
func escape(raw string, p *tape) string {
	inner := raw[1 : len(raw)-1]
	if inner == "" || inner[0] == '\\' || inner[0] >= 0x80 {
		return raw
	}
	at := p.pick(len(inner))
	if strings.IndexByte(inner, '\\') >= 0 || inner[at] >= 0x80 {
		at = 0
	}
	return `"` + inner[:at] + fmt.Sprintf(`\u%04x`, inner[at]) + inner[at+1:] + `"`
}

func quote(key string) string {
	if strings.HasPrefix(key, `"`) {
		return key
	}
	return `"` + key + `"`
}

func (n *node) below() []*node {
	all, _ := n.flatten()
	return all
}

// flatten lists a value and everything below it.
func (n *node) flatten() (all, objects []*node) {
	all = append(all, n)
	if n.kind == '{' {
		objects = append(objects, n)
	}
	add := func(child *node) {
		a, o := child.flatten()
		all, objects = append(all, a...), append(objects, o...)
	}
	for _, m := range n.members {
		add(m.value)
	}
	for _, e := range n.elements {
		add(e)
	}
	return all, objects
}

// write gives the text of a changed value.
func (n *node) write() string {
	var parts []string
	switch n.kind {
	case '{':
		for _, m := range n.members {
			parts = append(parts, m.raw+":"+m.value.write())
		}
		return "{" + strings.Join(parts, ",") + "}"
	case '[':
		for _, e := range n.elements {
			parts = append(parts, e.write())
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return n.raw
}

// value is one of the values that mean something somewhere.
func (s script) value(p *tape) *node {
	text := strings.ReplaceAll(values[p.pick(len(values))], "PORT", fmt.Sprint(s.instance.Port))
	return parse(text)
}

// foreign is a copy of a value of any line.
func (s script) foreign(p *tape) *node {
	root := parse(s.lines[p.pick(len(s.lines))].text)
	if root == nil {
		return s.value(p)
	}
	all, _ := root.flatten()
	return all[p.pick(len(all))]
}

var keys = []string{
	"name", "title", "kind", "_meta", "rawInput", "content", "locations", "toolCallId", "toolCall", "subject", "type", "options", "optionId",
	"sessionId", "mcpServers", "params", "method", "id", "result", "error", "update", "sessionUpdate", "status", "claudeCode", "toolName", "mcpServer",
	"source", "is_mcp_tool_approval", "is_mcp_tool_call", "server", "tool", "url", "headers", "command", "args", "env", "value",
	"Name", "NAME", "toolname", "_Meta", "Params", "x", "", `"n\u0061me"`, `"\u005fmeta"`, `"raw\u0049nput"`, `"\ud800"`, `"sess\u0069onId"`, "name\xff",
}

var values = []string{
	`null`, `true`, `false`, `0`, `1`, `7`, `-1`, `1.0`, `9007199254740993`, `""`, `"x"`, `"7"`, `"1"`, `[]`, `{}`, `[1]`, `"\ud800"`, "\"\xff\"", `"\u0000"`,
	`"kandev"`, `"other"`, `"execute"`, `"dynamic"`, `"agent"`, `"tool_call"`, `"tool_call_update"`, `"command"`, `"completed"`, `"failed"`,
	`"mcp__kandev__list_tasks"`, `"mcp__kandev__create_task_kandev"`, `"mcp__other__list_tasks"`, `"mcp__kandev__a__b"`, `"mcp__kandev___a"`, `"mcp__Kandev__a"`, `"Bash"`,
	`"mcp__kandev__resolve_agent_permission_kandev"`, `"mcp__kandev__\u006cist_tasks"`, `"list_tasks"`, `"mcp_startup.kandev.1"`, `"proceed_once"`,
	`"allow_once"`, `"allow_always"`, `"reject_once"`, `"Allow_once"`, `"a"`, `{"optionId":"b","name":"B","kind":"allow_once"}`, `{"optionId":"c","kind":"allow_always"}`,
	`"session/new"`, `"session/load"`, `"session/resume"`, `"session/fork"`, `"session/update"`, `"session/request_permission"`, `"session/request\u005fpermission"`,
	`{"claudeCode":{"toolName":"mcp__kandev__list_tasks"}}`, `{"claudeCode":{"mcpServer":{"name":"kandev","source":"dynamic"}}}`, `{"claudeCode":{"mcpServer":{"name":"kandev","source":"user"}}}`,
	`{"claudeCode":null}`, `{"toolName":"mcp__kandev__list_tasks"}`, `{"is_mcp_tool_approval":true}`, `{"is_mcp_tool_call":true}`, `{"is_mcp_tool_call":false}`, `{"server":"kandev","tool":"list_tasks"}`,
	`{"type":"tool_call","toolCall":{"toolCallId":"c","name":"mcp__kandev__list_tasks"}}`, `{"type":"command","command":"ls"}`, `{"toolCallId":"c","name":"mcp__kandev__list_tasks"}`,
	`{"name":"kandev","type":"http","url":"http://localhost:PORT/mcp","headers":[]}`, `{"name":"kandev","type":"sse","url":"http://localhost:PORT/sse"}`,
	`{"name":"kandev","type":"http","url":"http://localhost:9/mcp","headers":[]}`, `{"name":"docs","command":"docs","args":[],"env":[]}`,
	`[{"name":"kandev","type":"http","url":"http://localhost:PORT/mcp","headers":[{"name":"Authorization","value":"Bearer redacted"}]}]`,
	`"session/prompt"`, `{"text":"` + strings.Repeat("long ", 1000) + `"}`, `"http://localhost:PORT/mcp"`, `"http://localhost:PORT/sse"`, `"http"`, `"sse"`, `{"code":-32603,"message":"no"}`, `{"sessionId":"s-new"}`, `[{"optionId":"a","kind":"allow_once"}]`,
}
