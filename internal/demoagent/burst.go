package demoagent

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

const (
	maxBurst    = 100_000  // requests of one burst
	burstWindow = 64       // that wait for an answer at a time
	longInput   = 64 << 10 // of one request in a hundred, in bytes
)

// burst asks many times at full speed, with requests of many shapes.
func burst(t *turn, said string) {
	n, err := strconv.Atoi(said)
	if err != nil || n < 1 || n > maxBurst {
		t.missing("anything in a burst", fmt.Sprintf("the number behind the word must be 1 to %d", maxBurst))
		return
	}
	b := &bursting{turn: t, slots: make(chan struct{}, burstWindow)}
	for i := range n {
		select {
		case b.slots <- struct{}{}:
		case <-t.ctx.Done():
		}
		if t.ctx.Err() != nil {
			break
		}
		b.work.Go(func() { defer func() { <-b.slots }(); b.one(i) })
	}
	b.work.Wait()
	t.say(fmt.Sprintf("Burst: asked %d times, allowed %d times.", b.asked, b.allowed))
}

type bursting struct {
	*turn
	slots chan struct{}
	work  sync.WaitGroup

	mu             sync.Mutex
	asked, allowed int
}

// one plays one call: its announcement (most of the time), the question, and
// what comes of it.
func (b *bursting) one(i int) {
	c, offered := b.call(i)
	id := b.agent.number("toolu_demo")
	if i%16 != 2 {
		b.announce(id, c)
	}
	p := readAnswer(b.question(i, id, c, offered), offered)
	b.count(p.allowed)
	if !p.allowed || b.ctx.Err() != nil {
		b.updateCall(c, toolCall{ID: id, Status: statusFailed})
		return
	}
	out := c.run(b.ctx, id)
	status := statusCompleted
	if out.failed {
		status = statusFailed
	}
	b.updateCall(c, toolCall{ID: id, Status: status, RawOutput: out.text, Content: textContent(out.text)})
}

func (b *bursting) count(allowed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	if allowed {
		b.allowed++
	}
}

// call is a tool of the injected server one time in eight, and a command that
// does nothing the other times.
func (b *bursting) call(i int) (call, []option) {
	if at := slices.IndexFunc(b.session.servers, func(s *server) bool { return s.name == injected && s.tool(listTasksTool) != nil }); i%8 == 7 && at >= 0 {
		name := "mcp__" + injected + "__" + listTasksTool
		c := call{name: name, firstTitle: name, title: name, kind: "other", server: &mcpServer{Name: injected, Source: "dynamic"}, input: map[string]any{}}
		c.run = func(ctx context.Context, id string) output {
			return b.session.servers[at].call(ctx, id, listTasksTool, c.input)
		}
		return c, options(c)
	}
	command := "true " + strconv.Itoa(i)
	if i%100 == 50 {
		command += strings.Repeat(" x", longInput/2)
	}
	c := call{name: "Bash", firstTitle: "Terminal", title: clip(command), kind: "execute", input: map[string]any{"command": command}}
	c.run = func(context.Context, string) output { return output{text: "nothing was to be done"} }
	return c, burstOptions(i, c)
}

// burstOptions vary what is offered: everything, nothing, two equal allows, and
// no way to say no.
func burstOptions(i int, c call) []option {
	all := options(c)
	switch i % 16 {
	case 4:
		return []option{}
	case 5:
		return append(all, option{"allow-twice", "Yes, too", pipeline.AllowOnce})
	case 6:
		return all[:1]
	}
	return all
}

// question asks. One in eight is taken back at once, and one in sixteen comes
// from a session that the client never made, as those of sub-agents do.
func (b *bursting) question(i int, id string, c call, offered []option) response {
	asked := permissionParams{SessionID: b.session.id, Options: offered, ToolCall: toolCall{
		ID: id, Name: c.name, Status: statusPending, RawInput: c.input, Title: c.title, Kind: c.kind, Content: []callContent{},
	}}
	if c.server != nil {
		asked.ToolCall.Meta = &callMeta{claudeCode{ToolName: c.name, Server: c.server}}
	}
	if i%16 == 9 {
		asked.SessionID += "-sub"
	}
	if i%8 != 3 {
		return b.ask(asked)
	}
	request, answer := b.agent.peer.request(acp.MethodRequestPermission, asked)
	b.agent.peer.notify(acp.MethodCancelRequest, cancelRequestParams{RequestID: jsontext.Value(request.String())})
	select {
	case r := <-answer:
		return r
	case <-b.agent.ctx.Done():
		return response{}
	}
}
