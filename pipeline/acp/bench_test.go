package acp_test

import (
	"context"
	stdjson "encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/ratio"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

// minimalOffer is the least that somebody decodes who decides an offer of Claude
// and answers it: the reference for both JSON libraries.
type minimalOffer struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		SessionID string `json:"sessionId"`
		ToolCall  struct {
			ToolCallID string `json:"toolCallId"`
			Name       string `json:"name"`
			Title      string `json:"title"`
			Kind       string `json:"kind"`
			Meta       struct {
				ClaudeCode struct {
					ToolName  string `json:"toolName"`
					MCPServer struct {
						Name   string `json:"name"`
						Source string `json:"source"`
					} `json:"mcpServer"`
				} `json:"claudeCode"`
			} `json:"_meta"`
		} `json:"toolCall"`
		Options []struct {
			OptionID string `json:"optionId"`
			Kind     string `json:"kind"`
			Name     string `json:"name"`
		} `json:"options"`
	} `json:"params"`
}

// BenchmarkRatio measures the way from a raw line to a verdict.
func BenchmarkRatio(b *testing.B) {
	factory, err := stages.NewDefaultFactory()
	require.NoError(b, err)
	p, err := factory(pipeline.Instance{Agent: "claude-acp", Port: 41001, Injected: true})
	require.NoError(b, err)
	decoder := acp.NewDecoder(acp.Options{EverySession: &pipeline.ServerList{Servers: []pipeline.Server{
		{Name: "kandev", Type: "http", URL: "http://localhost:41001/mcp"},
	}}})
	ctx := context.Background()
	toVerdict := func(line []byte) func(n int) {
		return func(n int) {
			for range n {
				message, err := decoder.FromAgent(line)
				if err != nil || message.Offer.DecideUntraced(ctx, p).Decision.Verdict != pipeline.Select {
					panic("the line was not selected")
				}
			}
		}
	}
	v2 := func(line []byte) func(n int) {
		return func(n int) {
			for range n {
				var m minimalOffer
				if err := json.Unmarshal(line, &m); err != nil {
					panic(err)
				}
			}
		}
	}
	v1 := func(line []byte) func(n int) {
		return func(n int) {
			for range n {
				var m minimalOffer
				if err := stdjson.Unmarshal(line, &m); err != nil {
					panic(err)
				}
			}
		}
	}
	decided, err := decoder.FromAgent(offerLine(1<<10, text))
	require.NoError(b, err)
	ratio.Run(b, ratio.Figure{Name: "decide/raw-line-1kB", Limit: 0.1, Reference: toVerdict(offerLine(1<<10, text)), Subject: func(n int) {
		for range n {
			_ = decided.Offer.DecideUntraced(ctx, p)
		}
	}})
	counts := map[float64]struct{}{}
	for _, size := range []int{1 << 10, 20 << 10, 1 << 20} {
		for name, fill := range map[string]func(int) string{"text": text, "objects": objects} {
			line := offerLine(size, fill)
			label := name + "-" + strconv.Itoa(size>>10) + "kB"
			ratio.Run(b, ratio.Figure{Name: "raw-line/json-v2-" + label, Limit: 1.25, Subject: toVerdict(line), Reference: v2(line)})
			if limit := map[string]float64{"text": 0.2, "objects": 0.5}[name]; size > 1<<10 {
				ratio.Run(b, ratio.Figure{Name: "raw-line/encoding-json-" + label, Limit: limit, Subject: toVerdict(line), Reference: v1(line)})
			}
			count, bytes := ratio.Allocations(toVerdict(line))
			counts[math.Round(count)] = struct{}{}
			ratio.Value(b, "raw-line-bytes-"+label, bytes, 1536)
		}
	}
	ratio.Value(b, "raw-line-different-allocation-counts", float64(len(counts)), 1)
}

// offerLine is a permission request in the shape of claude-agent-acp 0.101.0
// with arguments that fill the line to about the given size in bytes.
func offerLine(size int, fill func(int) string) []byte {
	const head = `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"24b9f08b-0ed3-4ca7-9a58-4b0bfe386657",` +
		`"toolCall":{"toolCallId":"toolu_lab0001","name":"mcp__kandev__list_tasks","title":"mcp__kandev__list_tasks","kind":"other","status":"pending",` +
		`"_meta":{"claudeCode":{"toolName":"mcp__kandev__list_tasks","mcpServer":{"name":"kandev","source":"dynamic"}}},"rawInput":`
	const tail = `},"options":[{"optionId":"allow-once","name":"Yes","kind":"allow_once"},` +
		`{"optionId":"allow-with-updates","name":"Yes, and don't ask again","kind":"allow_always"},{"optionId":"reject","name":"No","kind":"reject_once"}]}}`
	return []byte(head + fill(max(size-len(head)-len(tail), 2)) + tail)
}

func text(size int) string {
	return `{"text":"` + strings.Repeat("a", max(size-11, 0)) + `"}`
}

func objects(size int) string {
	const one = `{"id":12345,"name":"some name","done":false,"tags":["a","b"]}`
	n := max((size-1)/(len(one)+1), 1)
	return `[` + strings.Repeat(one+",", n-1) + one + `]`
}
