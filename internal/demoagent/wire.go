package demoagent

import "github.com/go-json-experiment/json/jsontext"

// What the agent sends. Tool calls have the shape of claude-agent-acp 0.101.0,
// protocol version 1.

type initializeResult struct {
	ProtocolVersion int          `json:"protocolVersion"`
	Capabilities    capabilities `json:"agentCapabilities"`
	Info            agentInfo    `json:"agentInfo"`
	AuthMethods     []string     `json:"authMethods"`
}

type capabilities struct {
	LoadSession bool            `json:"loadSession"`
	MCP         mcpCapabilities `json:"mcpCapabilities"`
}

type mcpCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

type agentInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

type newSessionResult struct {
	SessionID string `json:"sessionId"`
}

type promptResult struct {
	StopReason string `json:"stopReason"`
}

// Why a turn ended.
const (
	stopEndTurn   = "end_turn"
	stopCancelled = "cancelled"
)

type updateParams struct {
	SessionID string         `json:"sessionId"`
	Update    jsontext.Value `json:"update"`
}

// The kinds of update.
const (
	updateAgentText = "agent_message_chunk"
	updateUserText  = "user_message_chunk"
	updateCallStart = "tool_call"
	updateCall      = "tool_call_update"
)

// The states of a tool call.
const (
	statusPending    = "pending"
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusFailed     = "failed"
)

type chunk struct {
	Update    string    `json:"sessionUpdate"`
	Content   textBlock `json:"content"`
	MessageID string    `json:"messageId,omitzero"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func text(s string) textBlock { return textBlock{Type: "text", Text: s} }

// toolCall is a tool call in an update or in a permission request.
type toolCall struct {
	Meta      *callMeta      `json:"_meta,omitzero"`
	ID        string         `json:"toolCallId"`
	Update    string         `json:"sessionUpdate,omitzero"`
	Name      string         `json:"name,omitzero"`
	RawInput  map[string]any `json:"rawInput,omitzero"`
	Status    string         `json:"status,omitzero"`
	Title     string         `json:"title,omitzero"`
	Kind      string         `json:"kind,omitzero"`
	Content   []callContent  `json:"content,omitzero"`
	RawOutput any            `json:"rawOutput,omitzero"`
}

type callMeta struct {
	ClaudeCode claudeCode `json:"claudeCode"`
}

type claudeCode struct {
	ToolName string     `json:"toolName"`
	Server   *mcpServer `json:"mcpServer,omitzero"`
	// NonExecution says why the tool did not run.
	NonExecution string `json:"nonExecutionKind,omitzero"`
}

// mcpServer is the server of a call. Source "dynamic" are those of session/new.
type mcpServer struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

type callContent struct {
	Type    string    `json:"type"`
	Content textBlock `json:"content"`
}

func textContent(s string) []callContent {
	return []callContent{{Type: "content", Content: text(s)}}
}

type permissionParams struct {
	ToolCall  toolCall `json:"toolCall"`
	Options   []option `json:"options"`
	SessionID string   `json:"sessionId"`
}

type option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type cancelRequestParams struct {
	RequestID jsontext.Value `json:"requestId"`
}

// serverEntry is one entry of mcpServers, as it is read.
type serverEntry struct {
	Type    string      `json:"type"`
	Name    string      `json:"name"`
	URL     string      `json:"url"`
	Headers []nameValue `json:"headers"`
	Command string      `json:"command"`
	Args    []string    `json:"args"`
	Env     []nameValue `json:"env"`
}

type nameValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
