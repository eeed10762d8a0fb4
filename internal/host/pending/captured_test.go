package pending

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

const recordings = "../../replay/testdata/recordings"

// captured are frames of real agents, and what everybody may see of each: the
// different ones of a recording, in order.
var captured = map[string][]Action{
	"claude-agent-acp-0.101.0/allow+air.v1.jsonl": {
		{Type: "other", Server: "kandev", Tool: "list_tasks"},
		{Type: "other", Server: "other", Tool: "list_tasks"},
		{Type: "execute", Command: "touch made-by-bash", Path: "/workspace/made-by-bash"},
		{Type: "edit", Path: "/workspace/made-by-write.txt"},
	},
	"claude-agent-acp-0.101.0/allow.v2.jsonl": {
		{Type: "other", Server: "kandev", Tool: "list_tasks"},
		{Type: "other", Server: "other", Tool: "list_tasks"},
		{Type: "execute", Command: "touch made-by-bash", Path: "/workspace/made-by-bash"},
		{Type: "edit", Path: "/workspace/made-by-write.txt"},
	},
	"claude-agent-acp-0.23.1/allow.v1.jsonl": {
		{Type: "other", Server: "kandev", Tool: "list_tasks"},
		{Type: "other", Server: "other", Tool: "list_tasks"},
		{Type: "execute", Command: "touch made-by-bash"},
		{Type: "edit", Path: "/workspace/made-by-write.txt"},
	},
	"claude-code-acp-0.16.2/allow.v1.jsonl": {
		{Type: "other", Server: "kandev", Tool: "list_tasks"},
		{Type: "other", Server: "other", Tool: "list_tasks"},
		{Type: "execute", Command: "touch made-by-bash"},
		{Type: "edit", Path: "/workspace/made-by-write.txt"},
	},
	"cline-3.0.65/allow.settings-mcp.jsonl": {
		{Type: "other", Title: "kandev__create_task_kandev: …"},
		{Type: "other", Title: "kandev__list_tasks_kandev: …"},
		{Type: "other", Title: "other__other_ping: …"},
		{Type: "other", Title: "other__create_task_kandev: …"},
		{Type: "execute", Command: "touch lab_proof.txt"},
		{Type: "other", Path: "/workspace/lab_written.txt", Title: "apply_patch: …"},
		{Type: "other", Title: "other__innocent: …"},
	},
	"codex-acp-2.6.0/main-allow.jsonl": {
		{Type: "execute", Server: "kandev", Tool: "list_tasks_kandev"},
		{Type: "execute", Server: "kandev", Tool: "create_task_kandev"},
		{Type: "execute", Command: "mcp.kandev.external__execute"},
		{Type: "execute", Server: "other", Tool: "list_tasks_kandev"},
		{Type: "execute", Command: "touch /scratch/outside-file && id -u", Path: "/workspace"},
	},
	"codex-acp-2.6.0/parallel-on.jsonl": {
		{Type: "execute", Server: "kandev", Tool: "list_tasks_kandev"},
		{Type: "execute", Server: "kandev", Tool: "create_task_kandev"},
		{Type: "execute", Title: "MCP tool call approval"},
	},
	"copilot-1.0.102/allow.jsonl": {
		{Type: "other", Title: "create_task_kandev"},
		{Type: "other", Title: "other_ping"},
		{Type: "execute", Command: "touch lab_proof.txt"},
		{Type: "edit", Path: "/workspace/lab_written.txt"},
		{Type: "execute", Command: "touch lab_proof2.txt"},
	},
	"gemini-0.61.0/allow.jsonl": {
		{Type: "other", Title: "create_task_kandev (kandev MCP Server)"},
		{Type: "other", Title: "list_tasks_kandev (kandev MCP Server)"},
		{Type: "other", Title: "other_ping (other MCP Server)"},
		{Type: "other", Title: "create_task_kandev (other MCP Server)"},
		{Type: "execute", Command: "touch lab_proof.txt"},
		{Type: "edit", Path: "/workspace/lab_written.txt"},
		{Type: "execute", Command: "create_task_kandev (kandev MCP Server)"},
		{Type: "other", Title: "innocent (other MCP Server)"},
	},
	"kilo-7.7.9/spoof-claude-title.jsonl": {
		{Type: "other", Command: "id -u", Path: "/usr"},
		{Type: "execute", Command: "id -u"},
		{Type: "other", Command: "mcp__kandev__list_tasks_kandev", Path: "/usr"},
	},
	"kilo-7.7.9/spoof.jsonl": {
		{Type: "other", Command: "kandev_list_tasks_kandev", Path: "/usr"},
		{Type: "fetch", Destination: "http://127.0.0.1:9/x"},
		{Type: "other", Title: "kandev_list_tasks_kandev"},
	},
	"opencode-1.18.33/main-allow.jsonl": {
		{Type: "other", Title: "kandev_list_tasks_kandev"},
		{Type: "other", Title: "kandev_get_plan_kandev"},
		{Type: "other", Title: "kandev_create_task_kandev"},
		{Type: "other", Title: "kandev_external__execute"},
		{Type: "other", Title: "other_list_tasks_kandev"},
		{Type: "execute", Command: "echo lab > lab-sh.txt"},
		{Type: "edit", Path: "/workspace/lab-edit.txt"},
	},
	"opencode-1.18.33/spoof-claude-title.jsonl": {
		{Type: "other", Command: "id -u", Path: "/usr"},
		{Type: "execute", Command: "id -u"},
		{Type: "other", Command: "mcp__kandev__list_tasks_kandev", Path: "/usr"},
	},
	"pi-0.0.34/allow.extension.jsonl": {
		{Type: "other", Title: "mcp__kandev__create_task_kandev"},
	},
	"qwen-0.24.4/allow.jsonl": {
		{Type: "other", Server: "kandev", Tool: "create_task_kandev"},
		{Type: "read", Server: "kandev", Tool: "list_tasks_kandev"},
		{Type: "other", Server: "other", Tool: "other_ping"},
		{Type: "other", Server: "other", Tool: "create_task_kandev"},
		{Type: "execute", Command: "touch lab_proof.txt"},
		{Type: "edit", Path: "/workspace/lab_written.txt"},
		{Type: "execute", Command: "mcp__kandev__create_task_kandev"},
		{Type: "other", Server: "other", Tool: "innocent"},
	},
	"zed-codex-acp-0.16.0/default-mode.jsonl": {
		{Title: "Approve MCP tool call"},
		{Type: "execute", Command: "/bin/bash -lc 'touch /scratch/outside-file && id -u'", Path: "/workspace"},
	},
}

// What real agents sent can be judged: which command, which file, which address,
// which tool.
func TestActionsOfCapturedFrames(t *testing.T) {
	for file, want := range captured {
		t.Run(file, func(t *testing.T) { assert.Equal(t, want, actionsIn(t, filepath.Join(recordings, file))) })
	}
}

// Every captured offer shows something to judge it by, and no agent is left out.
func TestEveryCapturedFrameShowsSomething(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recordings, "*", "*.jsonl"))
	require.NoError(t, err)
	agents, shown := map[string]bool{}, map[string]bool{"made": true}
	for _, file := range files {
		for _, a := range actionsIn(t, file) {
			agents[filepath.Base(filepath.Dir(file))] = true
			a.Type = ""
			assert.NotEqual(t, Action{}, a, "%s", file)
		}
	}
	for file := range captured {
		shown[filepath.Base(filepath.Dir(file))] = true
	}
	assert.Equal(t, shown, agents, "an agent whose frames are not in the table")
}

// actionsIn are the different actions of a recording, in order.
func actionsIn(t *testing.T, file string) (list []Action) {
	t.Helper()
	in, err := os.Open(file)
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	s := newStore(t)
	var head struct {
		Header struct{ Agent pipeline.Agent }
	}
	set, err := dialects.Index(dialects.All())
	require.NoError(t, err)
	var decoder *acp.Decoder
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if decoder == nil {
			require.NoError(t, json.Unmarshal(lines.Bytes(), &head))
			dialect, _ := set.For(pipeline.Instance{Agent: head.Header.Agent})
			decoder = acp.NewDecoder(acp.Options{Dialect: dialect})
		}
		var recorded struct {
			Dir   string
			Frame json.RawMessage
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &recorded))
		if recorded.Dir != "agent->client" || recorded.Frame == nil {
			continue
		}
		m, err := decoder.FromAgent(recorded.Frame)
		require.NoError(t, err)
		if m.Offer == nil || m.Offer.Reason != "" {
			continue
		}
		o := offer("i", "s", "1", &wire{})
		o.Request, o.Frame = &m.Offer.Request, read(string(recorded.Frame))
		o.Result.Facts = decide(t, set, head.Header.Agent, m.Offer).Facts
		key := register(t, s, o)
		got, err := s.Get(key)
		require.NoError(t, err)
		resolves(t, s, key, Cancel())
		if !slices.Contains(list, got.Action) {
			list = append(list, got.Action)
		}
	}
	require.NoError(t, lines.Err())
	return list
}

func decide(t *testing.T, set dialects.Set, agent pipeline.Agent, o *acp.Offer) pipeline.Result {
	t.Helper()
	newPipeline, err := stages.NewPipelineFactory(stages.DefaultOrder(), stages.Builtin(set))
	require.NoError(t, err)
	p, err := newPipeline(pipeline.Instance{Agent: agent})
	require.NoError(t, err)
	return o.Decide(context.Background(), p)
}
