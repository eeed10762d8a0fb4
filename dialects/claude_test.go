package dialects_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
)

const listTasks = "mcp__kandev__list_tasks"

// code is the _meta of a Claude tool call.
func code(keysAndValues ...any) pipeline.Meta { return object("claudeCode", object(keysAndValues...)) }

func servedBy(name, source any) pipeline.Meta { return object("name", name, "source", source) }

func claudeCall(name string, meta pipeline.Meta) pipeline.Request {
	req := pipeline.Request{Call: pipeline.ToolCall{Meta: meta}}
	if name != "" {
		req.Call.Name = pipeline.NewText(name)
	}
	return req
}

// titled is a call with neither name nor toolName.
func titled(title, kind pipeline.Text, meta pipeline.Meta) pipeline.Request {
	return pipeline.Request{Call: pipeline.ToolCall{Title: title, Kind: kind, Meta: meta}}
}

var claudeReasons = []pipeline.Reason{
	dialects.ReasonClaudeMeta, dialects.ReasonClaudeCode, dialects.ReasonClaudeToolName, dialects.ReasonClaudeServer,
	dialects.ReasonClaudeNamesDiffer, dialects.ReasonClaudeOtherServer, dialects.ReasonClaudeOtherSource,
	dialects.ReasonClaudeNameStands, dialects.ReasonClaudeSilent, dialects.ReasonClaudeTitleNamed,
	dialects.ReasonClaudeTitleKind, dialects.ReasonClaudeTitleNoName,
}

var (
	dynamic = servedBy("kandev", "dynamic")
	all     = code("toolName", listTasks, "mcpServer", dynamic)
	served  = code("mcpServer", dynamic)

	listTasksTitle = pipeline.NewText(listTasks)
	other          = pipeline.NewText("other")
)

func TestClaude(t *testing.T) {
	rows := maps.Clone(claudeMetaRows)
	maps.Copy(rows, claudeTitleRows)
	checkRows(t, dialects.NewClaude(), rows, claudeReasons)
}

var claudeMetaRows = map[string]row{
	"all agree":                    {req: claudeCall(listTasks, all), want: said(listTasks)},
	"toolName alone":               {req: claudeCall("", code("toolName", listTasks)), want: said(listTasks)},
	"toolName and server":          {req: claudeCall("", all), want: said(listTasks)},
	"toolName of a shell call":     {req: claudeCall("Bash", code("toolName", "Bash")), want: said("Bash")},
	"an empty toolName is a claim": {req: claudeCall("", code("toolName", "")), want: said("")},
	"unknown members":              {req: claudeCall("", code("toolName", listTasks, "parentToolUseId", null)), want: said(listTasks)},

	"only a name":        {twin: "all agree", req: claudeCall(listTasks, missing), want: silent(dialects.ReasonClaudeNameStands)},
	"name and server":    {twin: "all agree", req: claudeCall(listTasks, code("mcpServer", dynamic)), want: silent(dialects.ReasonClaudeNameStands)},
	"metadata of others": {twin: "all agree", req: claudeCall(listTasks, object("toolName", "Bash")), want: silent(dialects.ReasonClaudeNameStands)},
	"nothing":            {twin: "toolName alone", req: claudeCall("", missing), want: silent(dialects.ReasonClaudeSilent)},
	"other case":         {twin: "toolName alone", req: claudeCall("", object("claudecode", object("toolName", listTasks))), want: silent(dialects.ReasonClaudeSilent)},
	"case of toolName":   {twin: "toolName alone", req: claudeCall("", code("toolname", listTasks)), want: silent(dialects.ReasonClaudeSilent)},

	"meta is a string":       {twin: "all agree", req: claudeCall(listTasks, pipeline.MetaText("x")), want: wrong(dialects.ReasonClaudeMeta)},
	"meta is an array":       {twin: "toolName alone", req: claudeCall("", array), want: wrong(dialects.ReasonClaudeMeta)},
	"meta is too large":      {twin: "all agree", req: claudeCall(listTasks, tooLarge), want: wrong(dialects.ReasonClaudeMeta)},
	"claudeCode is null":     {twin: "all agree", req: claudeCall(listTasks, object("claudeCode", null)), want: wrong(dialects.ReasonClaudeCode)},
	"claudeCode is a list":   {twin: "all agree", req: claudeCall(listTasks, object("claudeCode", array)), want: wrong(dialects.ReasonClaudeCode)},
	"claudeCode too large":   {twin: "toolName alone", req: claudeCall("", object("claudeCode", tooLarge)), want: wrong(dialects.ReasonClaudeCode)},
	"toolName is null":       {twin: "all agree", req: claudeCall(listTasks, code("toolName", null)), want: wrong(dialects.ReasonClaudeToolName)},
	"toolName is a number":   {twin: "toolName alone", req: claudeCall("", code("toolName", number)), want: wrong(dialects.ReasonClaudeToolName)},
	"toolName is too large":  {twin: "toolName alone", req: claudeCall("", code("toolName", tooLarge)), want: wrong(dialects.ReasonClaudeToolName)},
	"mcpServer is null":      {twin: "all agree", req: claudeCall(listTasks, code("toolName", listTasks, "mcpServer", null)), want: wrong(dialects.ReasonClaudeServer)},
	"mcpServer is a string":  {twin: "all agree", req: claudeCall(listTasks, code("mcpServer", "kandev")), want: wrong(dialects.ReasonClaudeServer)},
	"mcpServer is too large": {twin: "toolName and server", req: claudeCall("", code("toolName", listTasks, "mcpServer", tooLarge)), want: wrong(dialects.ReasonClaudeServer)},

	"toolName of another tool": {twin: "all agree", req: claudeCall("mcp__kandev__get_plan", all), want: wrong(dialects.ReasonClaudeNamesDiffer)},
	"toolName in other case":   {twin: "all agree", req: claudeCall("mcp__kandev__List_tasks", all), want: wrong(dialects.ReasonClaudeNamesDiffer)},
	"name is no string":        {twin: "all agree", req: pipeline.Request{Call: pipeline.ToolCall{Name: pipeline.WrongType(), Meta: all}}, want: wrong(dialects.ReasonClaudeNamesDiffer)},
	"name is too long":         {twin: "all agree", req: claudeCall(strings.Repeat("x", pipeline.MaxText+1), all), want: wrong(dialects.ReasonClaudeNamesDiffer)},
	"empty toolName, a name":   {twin: "all agree", req: claudeCall(listTasks, code("toolName", "")), want: wrong(dialects.ReasonClaudeNamesDiffer)},

	"served by another":        {twin: "all agree", req: claudeCall(listTasks, code("toolName", listTasks, "mcpServer", servedBy("other", "dynamic"))), want: wrong(dialects.ReasonClaudeOtherServer)},
	"served by a near one":     {twin: "all agree", req: claudeCall(listTasks, code("mcpServer", servedBy("Kandev", "dynamic"))), want: wrong(dialects.ReasonClaudeOtherServer)},
	"no server name":           {twin: "all agree", req: claudeCall(listTasks, code("mcpServer", object("source", "dynamic"))), want: wrong(dialects.ReasonClaudeOtherServer)},
	"server name is null":      {twin: "all agree", req: claudeCall(listTasks, code("mcpServer", servedBy(null, "dynamic"))), want: wrong(dialects.ReasonClaudeOtherServer)},
	"server within a server":   {twin: "all agree", req: claudeCall("mcp__kandev2__a", code("mcpServer", dynamic)), want: wrong(dialects.ReasonClaudeOtherServer)},
	"a server for a shell":     {twin: "toolName of a shell call", req: claudeCall("Bash", code("toolName", "Bash", "mcpServer", dynamic)), want: wrong(dialects.ReasonClaudeOtherServer)},
	"a server for nothing":     {twin: "toolName and server", req: claudeCall("", code("mcpServer", dynamic)), want: wrong(dialects.ReasonClaudeOtherServer)},
	"empty server, empty name": {twin: "toolName and server", req: claudeCall("", code("toolName", "", "mcpServer", servedBy("", "dynamic"))), want: wrong(dialects.ReasonClaudeOtherServer)},
	"from a sub-agent":         {twin: "all agree", req: claudeCall(listTasks, code("toolName", listTasks, "mcpServer", servedBy("kandev", "agent"))), want: wrong(dialects.ReasonClaudeOtherSource)},
	"no source":                {twin: "all agree", req: claudeCall(listTasks, code("mcpServer", object("name", "kandev"))), want: wrong(dialects.ReasonClaudeOtherSource)},
	"source in other case":     {twin: "all agree", req: claudeCall(listTasks, code("mcpServer", servedBy("kandev", "Dynamic"))), want: wrong(dialects.ReasonClaudeOtherSource)},
	"source is null":           {twin: "all agree", req: claudeCall(listTasks, code("mcpServer", servedBy("kandev", null))), want: wrong(dialects.ReasonClaudeOtherSource)},
}

var claudeTitleRows = map[string]row{
	"title and kind":               {req: titled(listTasksTitle, other, missing), want: said(listTasks)},
	"with metadata of others":      {req: titled(listTasksTitle, other, code("parentToolUseId", "p")), want: said(listTasks)},
	"with its server":              {req: titled(listTasksTitle, other, served), want: said(listTasks)},
	"toolName wins over the title": {req: titled(listTasksTitle, other, code("toolName", "Bash")), want: said("Bash")},
	"toolName after a name":        {req: afterAName(claudeCall("", code("toolName", listTasks))), want: said(listTasks)},

	"after a name":          {twin: "title and kind", req: afterAName(titled(listTasksTitle, other, missing)), want: silent(dialects.ReasonClaudeTitleNamed)},
	"a shell command":       {twin: "title and kind", req: titled(listTasksTitle, pipeline.NewText("execute"), missing), want: silent(dialects.ReasonClaudeTitleKind)},
	"a sub-agent":           {twin: "title and kind", req: titled(listTasksTitle, pipeline.NewText("think"), missing), want: silent(dialects.ReasonClaudeTitleKind)},
	"no kind":               {twin: "title and kind", req: titled(listTasksTitle, pipeline.Text{}, missing), want: silent(dialects.ReasonClaudeTitleKind)},
	"kind in other case":    {twin: "title and kind", req: titled(listTasksTitle, pipeline.NewText("Other"), missing), want: silent(dialects.ReasonClaudeTitleKind)},
	"kind is no string":     {twin: "title and kind", req: titled(listTasksTitle, pipeline.WrongType(), missing), want: silent(dialects.ReasonClaudeTitleKind)},
	"no title":              {twin: "title and kind", req: titled(pipeline.Text{}, other, missing), want: silent(dialects.ReasonClaudeSilent)},
	"an ordinary title":     {twin: "title and kind", req: titled(pipeline.NewText("List tasks"), other, missing), want: silent(dialects.ReasonClaudeTitleNoName)},
	"a blank behind":        {twin: "title and kind", req: titled(pipeline.NewText(listTasks+" "), other, missing), want: silent(dialects.ReasonClaudeTitleNoName)},
	"an ambiguous title":    {twin: "title and kind", req: titled(pipeline.NewText("mcp__kandev__a__b"), other, missing), want: silent(dialects.ReasonClaudeTitleNoName)},
	"an empty title":        {twin: "title and kind", req: titled(pipeline.NewText(""), other, missing), want: silent(dialects.ReasonClaudeTitleNoName)},
	"title is no string":    {twin: "title and kind", req: titled(pipeline.WrongType(), other, missing), want: silent(dialects.ReasonClaudeTitleNoName)},
	"title is too long":     {twin: "title and kind", req: titled(pipeline.TooLong(), other, missing), want: silent(dialects.ReasonClaudeTitleNoName)},
	"from another server":   {twin: "with its server", req: titled(pipeline.NewText("mcp__other__x"), other, served), want: wrong(dialects.ReasonClaudeOtherServer)},
	"not from a name":       {twin: "with its server", req: titled(pipeline.NewText("List tasks"), other, served), want: wrong(dialects.ReasonClaudeOtherServer)},
	"from the settings":     {twin: "with its server", req: titled(listTasksTitle, other, code("mcpServer", servedBy("kandev", "user"))), want: wrong(dialects.ReasonClaudeOtherSource)},
	"a malformed toolName":  {twin: "title and kind", req: titled(listTasksTitle, other, code("toolName", null)), want: wrong(dialects.ReasonClaudeToolName)},
	"an empty name decides": {twin: "title and kind", req: emptyName(titled(listTasksTitle, other, missing)), want: silent(dialects.ReasonClaudeNameStands)},
}

// afterAName is the request on a connection where one carried a name before.
func afterAName(req pipeline.Request) pipeline.Request {
	req.Session.NameSeen = true
	return req
}

// emptyName is the request with a name that is the empty string: a name.
func emptyName(req pipeline.Request) pipeline.Request {
	req.Call.Name = pipeline.NewText("")
	return req
}

func TestClaudeWithoutTitleFallback(t *testing.T) {
	req := titled(pipeline.NewText(listTasks), pipeline.NewText("other"), missing)
	off := dialects.NewClaude().WithoutTitleFallback()
	assert.Equal(t, pipeline.Agent("claude-acp"), off.Agent())
	assert.Equal(t, silent(dialects.ReasonClaudeTitleOff), claim(off, &req))
	assert.Equal(t, said(listTasks), claim(dialects.NewClaude(), &req), "the one it was made from still reads titles")

	told := claudeCall("", code("toolName", listTasks))
	assert.Equal(t, said(listTasks), claim(off, &told), "metadata goes on")
	nothing := claudeCall("", missing)
	assert.Equal(t, silent(dialects.ReasonClaudeSilent), claim(off, &nothing))
}

// A claim is on the way of every request, so it costs no allocation.
func TestClaimsDoNotAllocate(t *testing.T) {
	requests := map[string]pipeline.Request{
		"claim": claudeCall(listTasks, all), "name stands": claudeCall(listTasks, served), "title": titled(listTasksTitle, other, missing),
		"codex": codexCall(approval(yes), announced), "qwen": qwenCall(object("toolName", listTasks), missing), "nothing": {},
	}
	for name, req := range requests {
		for _, d := range everyDialect() {
			assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = d.Claim(&req) }), "%s: %s", d.Agent(), name)
		}
	}
}
