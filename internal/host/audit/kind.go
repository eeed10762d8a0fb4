package audit

import "github.com/kandev/assent/pipeline"

// Kind is what a tool call does, in the words of ACP (ToolKind). The set is closed.
type Kind string

// KindOther is what ACP calls so, and any kind that it does not know.
const KindOther Kind = "other"

// kinds are those of ACP.
var kinds = map[string]Kind{
	"read": "read", "edit": "edit", "delete": "delete", "move": "move", "search": "search",
	"execute": "execute", "think": "think", "fetch": "fetch", "switch_mode": "switch_mode", "other": KindOther,
}

// CallKind is the kind of a tool call; empty where the agent does not say it.
func CallKind(said pipeline.Text) Kind {
	if text, given := said.Value(); given {
		return KnownKind(text)
	}
	return ""
}

// KnownKind is a kind as an agent says it.
func KnownKind(text string) Kind {
	if k, known := kinds[text]; known {
		return k
	}
	return KindOther
}
