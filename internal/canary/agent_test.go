package canary

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// agent is the far end of the connection: a real process that puts secrets into
// everything that it can send.
type agent struct {
	in     *bufio.Reader
	secret string // what the host gave it for the injected server
	url    string
	given  string // the whole list of servers, as it came
	next   int
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Servers []struct {
			Name    string     `json:"name"`
			URL     string     `json:"url"`
			Args    []string   `json:"args"`
			Env     []variable `json:"env"`
			Headers []variable `json:"headers"`
		} `json:"mcpServers"`
		Prompt []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	} `json:"params"`
}

type variable struct {
	Value string `json:"value"`
}

type object = map[string]any

// recv reads a message; the process ends with its input.
func (a *agent) recv() (m message) {
	line, err := a.in.ReadString('\n')
	if err != nil {
		os.Exit(0)
	}
	_ = json.Unmarshal([]byte(line), &m)
	return m
}

func (a *agent) raw(line string) { fmt.Println(line) }

func (a *agent) send(v object) {
	v["jsonrpc"] = "2.0"
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	a.raw(string(line))
}

func (a *agent) result(to message, result any) { a.send(object{"id": to.ID, "result": result}) }

// update sends a session/update.
func (a *agent) update(u object) {
	a.send(object{"method": "session/update", "params": object{"sessionId": "s1", "update": u}})
}

// ask sends a permission request and waits for its answer.
func (a *agent) ask(call object, options ...object) {
	a.next++
	if _, ok := call["toolCallId"]; !ok {
		call["toolCallId"] = fmt.Sprint("call-", a.next)
	}
	if options == nil {
		options = usualOptions()
	}
	a.send(object{"id": a.next, "method": "session/request_permission", "params": object{
		"sessionId": "s1", "toolCall": call, "options": options, "_meta": object{"m": inMeta.token()},
	}})
	a.recv()
}

func usualOptions() []object {
	return []object{
		{"optionId": inOptionID.token(), "name": "Yes, " + inLabel.token(), "kind": "allow_once"},
		{"optionId": "always", "name": "key=" + inLabel.token(), "kind": "allow_always"},
		{"optionId": "odd", "name": "Odd", "kind": inOptionKind.token()},
		{"optionId": "no", "name": "No", "kind": "reject_once"},
	}
}

// unseenOptions are for requests that nobody is asked about.
func unseenOptions() []object {
	return []object{{"optionId": inUnseenOption.token(), "name": inLabel.token(), "kind": "allow_once"}}
}

// main is the whole life of the agent.
func (a *agent) main() {
	a.result(a.recv(), object{
		"protocolVersion":   1,
		"agentCapabilities": object{"mcpCapabilities": object{"http": true, "sse": true}},
		"agentInfo":         object{"name": "canary", "version": "1"},
	})
	for {
		switch m := a.recv(); m.Method {
		case "session/new":
			a.newSession(m)
		case "session/prompt":
			words[m.Params.Prompt[0].Text](a)
			a.result(m, object{"stopReason": "end_turn"})
		}
	}
}

// newSession makes the first session, and refuses a second one at length.
func (a *agent) newSession(m message) {
	if a.secret != "" {
		a.send(object{"id": m.ID, "error": object{"code": -32000, "message": inRPCError.token() + " " + a.secret + a.given, "data": object{"x": inRPCError.token()}}})
		return
	}
	for _, s := range m.Params.Servers {
		if s.Name == "kandev" {
			a.secret, a.url = strings.TrimPrefix(s.Headers[0].Value, "Bearer "), s.URL
		}
	}
	given, _ := json.Marshal(m.Params.Servers)
	a.given = string(given)
	a.result(m, object{"sessionId": "s1"})
}

// words are what the agent is told.
var words = map[string]func(*agent){
	"commands": (*agent).commands,
	"names":    (*agent).names,
	"oddities": (*agent).oddities,
	"endpoint": (*agent).endpoint,
	"end":      (*agent).end,
	"blanket":  (*agent).blanket,
}

// blanket offers what only blanket approval takes.
func (a *agent) blanket() {
	a.ask(object{"title": inTitle.token(), "rawInput": object{"q": inArguments.token()}},
		object{"optionId": inUnseenOption.token(), "name": inLabel.token(), "kind": inOptionKind.token()})
}

// end ends badly, and says too much.
func (a *agent) end() {
	fmt.Fprintln(os.Stderr, "last words:", inStderr.token(), a.secret, a.given, os.Getenv(envVariable), os.Args)
	os.Exit(7)
}

// commands asks for things whose action everybody may see.
func (a *agent) commands() {
	a.update(object{
		"sessionUpdate": "tool_call", "toolCallId": "call-1", "title": inTitle.token(), "kind": "execute", "status": "pending",
		"rawInput": object{"command": "true"}, "_meta": object{"claudeCode": object{"toolName": "Bash", "x": inMeta.token()}},
	})
	a.ask(object{
		"title": "Run with password=" + inLaterTitle.token() + " and " + a.secret, "kind": "execute", "_meta": object{"x": inMeta.token()},
		"rawInput": object{"command": "curl -H 'Authorization: Bearer " + inCommand.token() + "' https://u:" + inCommand.token() + "@host/", "env": object{"KEY": inArguments.token()}},
	})
	a.ask(object{
		"title": "Edit", "kind": "edit", "rawInput": object{"file_path": "/tmp/" + inPath.token() + "/x", "new_string": inArguments.token()},
		"locations": []object{{"path": "/tmp/" + inPath.token()}},
		"content":   []object{{"type": "diff", "path": "/tmp/x", "oldText": inContent.token(), "newText": inContent.token()}},
	})
	a.ask(object{"title": "Fetch", "kind": "fetch", "rawInput": object{"url": "https://host/?access_token=" + inURL.token()}})
	a.ask(object{"title": inTitle.token(), "kind": inKind.token(), "rawInput": object{"q": inArguments.token()}})
	a.ask(object{"title": "just " + a.secret, "rawInput": object{"q": a.secret}})
	a.ask(object{"title": `{"note":"` + inPlainTitle.core() + `"}`, "kind": "other", "rawInput": object{"note": "x"}})
	a.ask(object{"title": "Think " + inTitle.word(), "kind": "think", "toolCallId": inCallID.token()})
	a.ask(object{"title": "rm " + inStageError.token(), "kind": "execute"})
}

// names asks with names of tools.
func (a *agent) names() {
	a.ask(object{"name": "mcp__kandev__list tasks " + inToolName.token(), "title": "x"})
	a.ask(object{"name": "mcp__kandev__x__" + inToolName.word(), "title": "x"})
	a.ask(object{"name": inToolName.word(), "title": "x"})
	a.ask(object{"title": "x", "_meta": object{"claudeCode": object{"toolName": "mcp__kandev__ " + inDialectName.token()}}})
	a.ask(object{"title": "x", "_meta": object{"claudeCode": inMeta.token()}})
	a.ask(object{"name": "mcp__other__do", "kind": "execute", "title": inTitle.token(), "rawInput": object{"command": inPlainArguments.core(), "q": inArguments.token()}})
	a.ask(object{"name": "mcp__kandev__list_tasks_kandev", "title": inTitle.token(), "rawInput": object{"q": inArguments.token()}}) // not contacted yet
	a.post("Bearer "+a.secret, "/mcp", object{"method": "tools/list"})
	a.ask(object{
		"name": "mcp__kandev__list_tasks_kandev", "title": inTitle.token(), "kind": inKind.token(),
		"rawInput": object{"q": inArguments.token()}, "_meta": object{"x": inMeta.token()},
	}, unseenOptions()...) // automatic
	a.update(object{"sessionUpdate": "tool_call_update", "toolCallId": fmt.Sprint("call-", a.next), "status": "completed", "title": inLaterTitle.token(),
		"rawOutput": inContent.token()}) // which trips the wire
	a.update(object{"sessionUpdate": "tool_call", "toolCallId": "mcp_startup.kandev." + inStartupFailed.token(), "title": inStartupFailed.token(), "status": "failed"})
	a.ask(object{"name": "mcp__kandev__list_tasks_kandev", "title": inTitle.token()})
}

// oddities sends what is no request to be decided.
func (a *agent) oddities() {
	a.update(object{"sessionUpdate": "agent_message_chunk", "content": object{"type": "text", "text": inMessage.token() + a.secret}})
	a.raw("warning: " + inNoise.token() + " " + a.secret)
	a.raw(`[{"jsonrpc":"2.0","id":99,"method":"` + inBatch.token() + `"}]`)
	a.recv()
	a.raw(`{"jsonrpc":"2.0","id":98,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c","title":"` + inUnreadable.token() +
		`","title":"` + inUnreadable.token() + `"},"options":[{"optionId":"` + inUnseenOption.token() + `","name":"x","kind":"allow_once"}]}}`)
	a.recv()
	a.send(object{"id": 97, "method": inMethod.token(), "params": object{"x": inMethod.token()}})
	a.recv()
	a.send(object{"method": "session/request_permission", "params": object{"x": inUnreadable.token()}})
	a.send(object{"id": 12345, "result": object{"x": inRPCError.token()}})
	a.send(object{"method": "$/cancel_request", "params": object{"requestId": inRPCError.token()}})
}

// endpoint misbehaves there.
func (a *agent) endpoint() {
	call := func(tool string, arguments object) object {
		return object{"method": "tools/call", "params": object{"name": tool, "arguments": arguments, "_meta": object{"claudecode/toolUseId": inMeta.token()}}}
	}
	a.post("Bearer "+inWrongBearer.token(), "/mcp", object{"method": "tools/list"})
	a.post("Bearer "+a.secret, "/"+inMCPPath.token(), object{"method": "tools/list"})
	a.post("Bearer "+a.secret, "/mcp", call("list_tasks_kandev", object{})) // nobody was asked
	a.post("Bearer "+a.secret, "/mcp", call("create_task_kandev", object{"title": inMCPArguments.token()}))
	a.post("Bearer "+a.secret, "/mcp", call("create_task_kandev", object{"wrong": inMCPArguments.token()}))
	a.post("Bearer "+a.secret, "/mcp", call("no tool "+inMCPTool.token(), object{}))
	a.post("Bearer "+a.secret, "/mcp", call("panics_kandev", object{"with": inPanic.token()}))
}

// post sends a request to the injected server and waits for its end.
func (a *agent) post(authorization, path string, request object) {
	request["jsonrpc"], request["id"] = "2.0", 1
	body, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	r, err := http.NewRequest(http.MethodPost, strings.TrimSuffix(a.url, "/mcp")+path, strings.NewReader(string(body)))
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{"Authorization": authorization, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}
