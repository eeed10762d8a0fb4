package dialects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
)

func qwenCall(own, joined pipeline.Meta) pipeline.Request {
	return pipeline.Request{Call: pipeline.ToolCall{OwnMeta: own, Meta: joined}}
}

var qwenRows = map[string]row{
	"own toolName":            {req: qwenCall(object("toolName", listTasks), missing), want: said(listTasks)},
	"whatever was before":     {req: qwenCall(object("toolName", listTasks), array), want: said(listTasks)},
	"the bridge before":       {req: qwenCall(object("toolName", listTasks), object("toolName", "tool_call")), want: said(listTasks)},
	"a shell command":         {req: qwenCall(object("toolName", "run_shell_command"), missing), want: said("run_shell_command")},
	"an empty name, a claim":  {req: qwenCall(object("toolName", ""), missing), want: said("")},
	"names are compared next": {req: named(listTasks, qwenCall(object("toolName", "mcp__other__x"), missing)), want: said("mcp__other__x")},

	"no metadata":           {twin: "own toolName", req: qwenCall(missing, missing), want: silent(dialects.ReasonQwenSilent)},
	"metadata null":         {twin: "own toolName", req: qwenCall(null, missing), want: silent(dialects.ReasonQwenSilent)},
	"only earlier metadata": {twin: "own toolName", req: qwenCall(missing, object("toolName", listTasks)), want: silent(dialects.ReasonQwenSilent)},
	"no toolName":           {twin: "own toolName", req: qwenCall(object("toolname", listTasks), missing), want: silent(dialects.ReasonQwenSilent)},

	"metadata a string":  {twin: "own toolName", req: qwenCall(pipeline.MetaText(listTasks), missing), want: wrong(dialects.ReasonQwenMeta)},
	"metadata too large": {twin: "own toolName", req: qwenCall(tooLarge, missing), want: wrong(dialects.ReasonQwenMeta)},
	"toolName null":      {twin: "own toolName", req: qwenCall(object("toolName", null), missing), want: wrong(dialects.ReasonQwenToolName)},
	"toolName an array":  {twin: "own toolName", req: qwenCall(object("toolName", array), missing), want: wrong(dialects.ReasonQwenToolName)},
	"toolName too long":  {twin: "own toolName", req: qwenCall(object("toolName", tooLarge), missing), want: wrong(dialects.ReasonQwenToolName)},
}

func named(name string, req pipeline.Request) pipeline.Request {
	req.Call.Name = pipeline.NewText(name)
	return req
}

func TestQwen(t *testing.T) {
	checkRows(t, dialects.NewQwen(), qwenRows, []pipeline.Reason{
		dialects.ReasonQwenMeta, dialects.ReasonQwenToolName, dialects.ReasonQwenSilent,
	})
}

func TestQwenHint(t *testing.T) {
	hint := dialects.NewQwen().Hint(&pipeline.Request{})
	assert.Equal(t, pipeline.OptionHint{Allow: "proceed_once"}, hint)

	// As offered in its auto mode; the id of the twin is made up.
	twins := []pipeline.Option{
		{ID: "switch_mode", Kind: pipeline.AllowOnce},
		{ID: "proceed_once", Kind: pipeline.AllowOnce},
		{ID: "cancel", Kind: pipeline.RejectOnce},
	}
	i, reason := pipeline.LeastAllow(twins, hint)
	assert.Equal(t, 1, i)
	assert.Equal(t, pipeline.ReasonOptionChosen, reason)
	_, reason = pipeline.LeastAllow(twins[:1:1], hint)
	assert.Equal(t, pipeline.ReasonOptionChosen, reason, "one allow needs no hint")
}
