package agents

import (
	"github.com/go-json-experiment/json"

	"github.com/kandev/assent/internal/host/frame"
)

// begun is the part of an answer to a session request that says in which mode the
// session begins: in ACP v1, and in v2 as one of its options.
type begun struct {
	Modes struct {
		Current   string `json:"currentModeId"`
		Available []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	Options []struct {
		ID       string `json:"id"`
		Category string `json:"category"`
		Current  string `json:"currentValue"`
		Options  []struct {
			Value string `json:"value"`
		} `json:"options"`
	} `json:"configOptions"`
}

// ModeRequest is the request that puts a session into the mode in which the agent
// asks. Result is the agent's answer to the request that opened the session. It is
// false when the session does not begin in the mode that it has by default, or the
// agent has no other.
func (l Launch) ModeRequest(result []byte, session string) (method string, params map[string]string, ok bool) {
	var s begun
	if l.AskingMode == "" || json.Unmarshal(result, &s, frame.Lenient) != nil {
		return "", nil, false
	}
	for _, mode := range s.Modes.Available {
		if s.Modes.Current == l.QuietMode && mode.ID == l.AskingMode {
			return "session/set_mode", map[string]string{"sessionId": session, "modeId": mode.ID}, true
		}
	}
	for _, o := range s.Options {
		if o.Category != "mode" || o.Current != l.QuietMode || s.Modes.Current != "" {
			continue
		}
		for _, v := range o.Options {
			if v.Value == l.AskingMode {
				return "session/set_config_option", map[string]string{"sessionId": session, "configId": o.ID, "value": v.Value, "type": "id"}, true
			}
		}
	}
	return "", nil, false
}
