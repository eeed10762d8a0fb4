package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/internal/host/child"
	"github.com/kandev/assent/internal/host/frame"
)

func init() {
	roles["bench agent"] = benchAgent
	roles["plain relay"] = plainRelay
	roles["socket relay"] = socketRelay
}

// order is what the benchmark tells its agent to do.
type order struct {
	N    int    `json:"n"`
	Size int    `json:"size"` // of a line, in bytes, about
	Tool string `json:"tool"` // that offers are for
}

// benchAgent does what it is told: it floods its client with notifications, or asks
// for one permission after the other and takes the time.
func benchAgent() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	asked := 0
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     jsontext.Value `json:"id"`
			Method string         `json:"method"`
			Params jsontext.Value `json:"params"`
		}
		if json.Unmarshal(line, &m, frame.Lenient) != nil {
			panic("bench agent: a line that is no message")
		}
		var o order
		_ = json.Unmarshal(m.Params, &o, frame.Lenient)
		switch m.Method {
		case "session/new":
			contact(m.Params)
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}`+"\n", m.ID)
		case "_bench/flood":
			flood(o)
		case "_bench/ask":
			ask(in, o, &asked)
		}
	}
}

// contact lists the tools of the injected server, as a real agent does.
func contact(params jsontext.Value) {
	var p struct {
		Servers []struct {
			URL     string `json:"url"`
			Headers []struct {
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"headers"`
		} `json:"mcpServers"`
	}
	if json.Unmarshal(params, &p, frame.Lenient) != nil || len(p.Servers) == 0 {
		return
	}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	req, err := http.NewRequest(http.MethodPost, p.Servers[0].URL, strings.NewReader(list))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range p.Servers[0].Headers {
		req.Header.Set(h.Name, h.Value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if text, _ := io.ReadAll(resp.Body); !bytes.Contains(text, []byte("create_task_kandev")) {
		panic("bench agent: the injected server does not list its tool")
	}
}

const chunk = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}` + "\n"

// prose is text of a model, with the escapes that it has.
func prose(size int) string {
	const words = `The function returns early when the list is empty.\nIt says \"nothing to do\" then, and the caller goes on. `
	return strings.Repeat(words, size/len(words)+1)[:max(size-len(chunk), 0)/len(words)*len(words)] + strings.Repeat("x", max(size-len(chunk), 0)%len(words))
}

// flood writes notifications, each in one write as an agent does, and then says so.
func flood(o order) {
	line := fmt.Appendf(nil, chunk, prose(o.Size))
	for range o.N {
		if _, err := os.Stdout.Write(line); err != nil {
			return
		}
	}
	fmt.Print(`{"jsonrpc":"2.0","method":"_bench/done"}` + "\n")
}

const offerFrame = `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s","options":[{"optionId":"allow-once","name":"Allow","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}],"toolCall":{"toolCallId":"t%d","name":"%s","title":"%s","kind":"other","rawInput":{"text":"%s"}}}}` + "\n"

// ask asks for permissions and says how long the answers took, in nanoseconds.
func ask(in *bufio.Reader, o order, asked *int) {
	took := make([]int64, 0, o.N)
	text := prose(o.Size)
	for range o.N {
		*asked++
		line := fmt.Appendf(nil, offerFrame, *asked, *asked, o.Tool, o.Tool, text)
		start := time.Now()
		if _, err := os.Stdout.Write(line); err != nil {
			return
		}
		if _, err := in.ReadSlice('\n'); err != nil {
			return
		}
		took = append(took, time.Since(start).Nanoseconds())
	}
	slices.Sort(took)
	fmt.Printf(`{"jsonrpc":"2.0","method":"_bench/done","params":{"p50":%d,"p99":%d}}`+"\n", took[len(took)/2], took[len(took)*99/100])
}

// plainRelay is what a relay costs that looks at nothing: lines through bufio, in
// both directions, between its own stdin and stdout and an agent.
func plainRelay() {
	agent := exec.Command(os.Args[1], os.Args[2:]...)
	agent.Env = append(os.Environ(), roleVariable+"=bench agent")
	agent.Stderr = os.Stderr
	toAgent, err := agent.StdinPipe()
	if err != nil {
		panic(err)
	}
	fromAgent, err := agent.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := agent.Start(); err != nil {
		panic(err)
	}
	go func() { copyLines(toAgent, os.Stdin); _ = toAgent.Close() }()
	copyLines(os.Stdout, fromAgent)
	_ = agent.Wait()
}

// socketRelay is plainRelay with sockets towards the agent, as it has to have them: what
// they cost alone.
func socketRelay() {
	p, err := child.Start(child.Command{Path: os.Args[1], Args: os.Args[2:], Env: append(os.Environ(), roleVariable+"=bench agent")},
		child.Options{Stderr: os.Stderr, Blocking: true})
	if err != nil {
		panic(err)
	}
	go func() { copyLines(p.Stdin, os.Stdin); _ = p.Stdin.Close() }()
	copyLines(os.Stdout, p.Stdout)
	<-p.Exited()
}

func copyLines(to io.Writer, from io.Reader) {
	r := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if _, failed := to.Write(line); err != nil || failed != nil {
			return
		}
	}
}
