package dialects

import "github.com/kandev/assent/pipeline"

// Reasons of the Qwen dialect: malformed, silent.
const (
	ReasonQwenMeta     pipeline.Reason = "qwen_meta_malformed"      // the request's own _meta is no object
	ReasonQwenToolName pipeline.Reason = "qwen_tool_name_malformed" // toolName in the request's own _meta is no string
	ReasonQwenSilent   pipeline.Reason = "qwen_silent"              // the request's own _meta has no toolName
)

// Qwen reads the requests of qwen-code 0.24.4 (agent id "qwen-acp"). The
// request's own tool call carries _meta.toolName. An earlier update of the same
// call names a bridge ("tool_call") in the same place, so that what the request
// itself does not say stays unsaid. The title is the JSON of the arguments.
type Qwen struct{}

// NewQwen makes the dialect.
func NewQwen() Qwen { return Qwen{} }

// Agent is "qwen-acp".
func (Qwen) Agent() pipeline.Agent { return "qwen-acp" }

// Claim is the tool name in the request's own metadata.
func (Qwen) Claim(req *pipeline.Request) (pipeline.Claim, error) {
	own := req.Call.OwnMeta
	if own.Given() && own.Kind() != pipeline.MetaObject {
		return pipeline.Claim{}, Error{Reason: ReasonQwenMeta}
	}
	toolName := own.Get("toolName")
	if toolName.Kind() == pipeline.MetaAbsent {
		return pipeline.Claim{}, Error{Reason: ReasonQwenSilent, Absent: true}
	}
	name, ok := toolName.Text()
	if !ok { // null too: a member of the metadata has no earlier value to leave
		return pipeline.Claim{}, Error{Reason: ReasonQwenToolName}
	}
	return pipeline.ClaimName(name), nil
}

// Hint names the plain allow. In its auto mode Qwen offers a second one of kind
// allow_once, which also switches the session's mode.
func (Qwen) Hint(*pipeline.Request) pipeline.OptionHint {
	return pipeline.OptionHint{Allow: "proceed_once"}
}
