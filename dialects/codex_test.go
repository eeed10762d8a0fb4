package dialects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
)

var codexReasons = []pipeline.Reason{
	dialects.ReasonCodexApproval, dialects.ReasonCodexNoTool, dialects.ReasonCodexConflict,
	dialects.ReasonCodexOnlyApproval, dialects.ReasonCodexOnlyCall, dialects.ReasonCodexSilent,
}

func approval(marker pipeline.Meta) pipeline.Meta { return object("is_mcp_tool_approval", marker) }

func codexCall(meta pipeline.Meta, f pipeline.DialectFacts) pipeline.Request {
	return pipeline.Request{Meta: meta, Call: pipeline.ToolCall{Facts: f}}
}

var (
	announced = pipeline.DialectFacts{Marked: true, Server: "kandev", Tool: "list_tasks"}
	conflict  = pipeline.DialectFacts{Marked: true, Server: "kandev", Tool: "list_tasks", Conflict: true}
	unmarked  = pipeline.DialectFacts{Server: "kandev", Tool: "list_tasks"}
	nothing   pipeline.DialectFacts
)

var codexRows = map[string]row{
	"both markers":       {req: codexCall(approval(yes), announced), want: saidApart("kandev", "list_tasks")},
	"outside of grammar": {req: codexCall(approval(yes), pipeline.DialectFacts{Marked: true, Server: "kandev", Tool: "a.b"}), want: saidApart("kandev", "a.b")},

	"no markers":        {twin: "both markers", req: codexCall(missing, nothing), want: silent(dialects.ReasonCodexSilent)},
	"both false":        {twin: "both markers", req: codexCall(approval(no), unmarked), want: silent(dialects.ReasonCodexSilent)},
	"other metadata":    {twin: "both markers", req: codexCall(object("jetbrains", null), nothing), want: silent(dialects.ReasonCodexSilent)},
	"metadata null":     {twin: "both markers", req: codexCall(null, nothing), want: silent(dialects.ReasonCodexSilent)},
	"marker, other key": {twin: "both markers", req: codexCall(object("IS_MCP_TOOL_APPROVAL", yes), announced), want: wrong(dialects.ReasonCodexOnlyCall)},

	"metadata a string":    {twin: "both markers", req: codexCall(pipeline.MetaText("x"), announced), want: wrong(dialects.ReasonCodexApproval)},
	"metadata an array":    {twin: "both markers", req: codexCall(array, nothing), want: wrong(dialects.ReasonCodexApproval)},
	"metadata too large":   {twin: "both markers", req: codexCall(tooLarge, announced), want: wrong(dialects.ReasonCodexApproval)},
	"marker a word":        {twin: "both markers", req: codexCall(approval(pipeline.MetaText("true")), announced), want: wrong(dialects.ReasonCodexApproval)},
	"marker a number":      {twin: "both markers", req: codexCall(approval(number), announced), want: wrong(dialects.ReasonCodexApproval)},
	"marker null":          {twin: "both markers", req: codexCall(approval(null), nothing), want: wrong(dialects.ReasonCodexApproval)},
	"marker an object":     {twin: "both markers", req: codexCall(approval(object()), nothing), want: wrong(dialects.ReasonCodexApproval)},
	"no server":            {twin: "both markers", req: codexCall(approval(yes), pipeline.DialectFacts{Marked: true, Tool: "list_tasks"}), want: wrong(dialects.ReasonCodexNoTool)},
	"no tool":              {twin: "both markers", req: codexCall(approval(yes), pipeline.DialectFacts{Marked: true, Server: "kandev"}), want: wrong(dialects.ReasonCodexNoTool)},
	"a conflict":           {twin: "both markers", req: codexCall(approval(yes), conflict), want: wrong(dialects.ReasonCodexConflict)},
	"a conflict, unasked":  {twin: "both markers", req: codexCall(missing, pipeline.DialectFacts{Conflict: true}), want: wrong(dialects.ReasonCodexConflict)},
	"approval alone":       {twin: "both markers", req: codexCall(approval(yes), nothing), want: wrong(dialects.ReasonCodexOnlyApproval)},
	"approval, unmarked":   {twin: "both markers", req: codexCall(approval(yes), unmarked), want: wrong(dialects.ReasonCodexOnlyApproval)},
	"call alone":           {twin: "both markers", req: codexCall(missing, announced), want: wrong(dialects.ReasonCodexOnlyCall)},
	"call, approval false": {twin: "both markers", req: codexCall(approval(no), announced), want: wrong(dialects.ReasonCodexOnlyCall)},
}

func TestCodex(t *testing.T) { checkRows(t, dialects.NewCodex(), codexRows, codexReasons) }

// start and update are the updates of one call; the rest is what they carry.
func start(meta, rawInput pipeline.Meta) pipeline.ToolCallUpdate {
	return pipeline.ToolCallUpdate{ID: "c-1", Start: true, Meta: meta, RawInput: rawInput}
}

func update(meta, rawInput pipeline.Meta) pipeline.ToolCallUpdate {
	return pipeline.ToolCallUpdate{ID: "c-1", Meta: meta, RawInput: rawInput}
}

func marker(m pipeline.Meta) pipeline.Meta { return object("is_mcp_tool_call", m) }

var (
	marked  = marker(yes)
	kandev  = object("server", "kandev", "tool", "list_tasks", "arguments", tooLarge)
	docs    = object("server", "docs", "tool", "list_tasks", "arguments", tooLarge)
	plan    = object("server", "kandev", "tool", "get_plan", "arguments", tooLarge)
	command = object("command", "ls", "cwd", "/workspace")
)

var docsConflict = pipeline.DialectFacts{Marked: true, Server: "docs", Tool: "list_tasks", Conflict: true}

type updates = []pipeline.ToolCallUpdate

var codexUpdates = map[string]struct {
	updates updates
	want    pipeline.DialectFacts
}{
	"announced":                   {updates{start(marked, kandev)}, announced},
	"progress changes nothing":    {updates{start(marked, kandev), update(missing, missing)}, announced},
	"nulls change nothing":        {updates{start(marked, kandev), update(null, null)}, announced},
	"repeated in an update":       {updates{start(marked, kandev), update(marked, kandev)}, announced},
	"rawInput repeated alone":     {updates{start(marked, kandev), update(missing, kandev)}, announced},
	"the marker repeated alone":   {updates{start(marked, kandev), update(marked, missing)}, announced},
	"announced again, the same":   {updates{start(marked, kandev), start(marked, kandev)}, announced},
	"rawInput comes later":        {updates{start(marked, object()), update(missing, kandev)}, announced},
	"all comes in an update":      {updates{start(missing, missing), update(marked, kandev)}, announced},
	"a marker without rawInput":   {updates{start(marked, missing)}, pipeline.DialectFacts{Marked: true}},
	"no server":                   {updates{start(marked, object("tool", "list_tasks"))}, pipeline.DialectFacts{Marked: true, Tool: "list_tasks"}},
	"a tool that is a number":     {updates{start(marked, object("server", "kandev", "tool", number))}, pipeline.DialectFacts{Marked: true, Server: "kandev"}},
	"rawInput is a string":        {updates{start(marked, pipeline.MetaText("kandev"))}, pipeline.DialectFacts{Marked: true}},
	"a shell command":             {updates{start(object("terminal_info", object()), command)}, nothing},
	"rawInput without the marker": {updates{start(missing, kandev)}, nothing},
	"a false marker":              {updates{start(marker(no), kandev)}, nothing},

	// What was written before the marker came was not written by the adapter.
	"a late marker": {updates{start(missing, kandev), update(marked, missing)}, pipeline.DialectFacts{Marked: true}},
	// The id is used again for something else; what was known is compared only.
	"used again for a shell":     {updates{start(marked, kandev), start(missing, command)}, unmarked},
	"and marked after that":      {updates{start(marked, kandev), start(missing, command), update(marked, missing)}, conflict},
	"and announced after that":   {updates{start(marked, kandev), start(missing, command), start(marked, kandev)}, announced},
	"or for another server":      {updates{start(marked, docs), start(missing, command), start(marked, kandev)}, docsConflict},
	"metadata is one whole":      {updates{start(marked, kandev), update(object(), missing)}, unmarked},
	"marker taken back":          {updates{start(marked, kandev), update(marker(no), missing)}, unmarked},
	"rawInput after a take-back": {updates{start(marked, kandev), update(marker(no), docs)}, unmarked},

	"another server":            {updates{start(marked, docs), start(marked, kandev)}, docsConflict},
	"another tool":              {updates{start(marked, kandev), start(marked, plan)}, conflict},
	"another server, an update": {updates{start(marked, kandev), update(missing, docs)}, conflict},
	"again without a tool":      {updates{start(marked, kandev), start(marked, missing)}, conflict},
	"rawInput emptied":          {updates{start(marked, kandev), update(missing, object())}, conflict},
	"a conflict stays":          {updates{start(marked, kandev), start(marked, docs), start(marked, kandev)}, conflict},
	"completed in parts":        {updates{start(marked, object("server", "kandev")), update(missing, kandev)}, pipeline.DialectFacts{Marked: true, Server: "kandev", Conflict: true}},
	"a duplicate key":           {updates{start(marked, tooLarge)}, pipeline.DialectFacts{Marked: true, Conflict: true}},
	"a duplicate key later":     {updates{start(marked, kandev), update(missing, tooLarge)}, conflict},
	"a marker of a word":        {updates{start(marker(pipeline.MetaText("true")), kandev)}, pipeline.DialectFacts{Conflict: true}},
	"a null marker":             {updates{start(marker(null), kandev)}, pipeline.DialectFacts{Conflict: true}},
	"metadata is an array":      {updates{start(array, kandev)}, pipeline.DialectFacts{Conflict: true}},
	"metadata too large":        {updates{start(marked, kandev), update(tooLarge, missing)}, pipeline.DialectFacts{Server: "kandev", Tool: "list_tasks", Conflict: true}},
}

func TestCodexObserve(t *testing.T) {
	for name, r := range codexUpdates {
		t.Run(name, func(t *testing.T) {
			var f pipeline.DialectFacts
			for i := range r.updates {
				f = dialects.NewCodex().Observe(&r.updates[i], f)
			}
			assert.Equal(t, r.want, f)
		})
	}
}

func TestCodexStartupFailed(t *testing.T) {
	rows := map[string]struct {
		id, status string
		want       bool
	}{
		"failed":                  {"mcp_startup.kandev.57e4ca03", "failed", true},
		"started":                 {"mcp_startup.kandev.57e4ca03", "completed", false},
		"starting":                {"mcp_startup.kandev.57e4ca03", "", false},
		"another server":          {"mcp_startup.docs.57e4ca03", "failed", false},
		"a server that begins so": {"mcp_startup.kandev-two.57e4ca03", "failed", false},
		"no dot behind":           {"mcp_startup.kandev", "failed", false},
		"something before":        {"x_mcp_startup.kandev.1", "failed", false},
		"an ordinary call":        {"call_1", "failed", false},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			u := pipeline.ToolCallUpdate{ID: r.id, Status: r.status}
			assert.Equal(t, r.want, dialects.NewCodex().StartupFailed(&u, "kandev"))
			u.Start = true
			assert.Equal(t, r.want, dialects.NewCodex().StartupFailed(&u, "kandev"), "announced like that")
		})
	}
}

// The edge and the stages find what a dialect offers by these interfaces.
var (
	_ pipeline.Observer       = dialects.Codex{}
	_ pipeline.StartupWatcher = dialects.Codex{}
	_ dialects.OptionHinter   = dialects.Qwen{}
	_ dialects.TitleReader    = dialects.Claude{}
)
