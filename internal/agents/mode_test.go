package agents

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestModeRequest(t *testing.T) {
	v1 := map[string]string{"sessionId": "s", "modeId": "default"}
	v2 := map[string]string{"sessionId": "s", "configId": "mode", "value": "default", "type": "id"}
	for name, c := range map[string]struct {
		agent, result, method string
		params                map[string]string
	}{
		"quiet by default":    {Claude, `{"sessionId":"s","modes":{"currentModeId":"auto","availableModes":[{"id":"plan"},{"id":"default"}]}}`, "session/set_mode", v1},
		"asks already":        {Claude, `{"modes":{"currentModeId":"default","availableModes":[{"id":"default"}]}}`, "", nil},
		"the user's own mode": {Claude, `{"modes":{"currentModeId":"bypassPermissions","availableModes":[{"id":"default"}]}}`, "", nil},
		"no asking mode":      {Claude, `{"modes":{"currentModeId":"auto","availableModes":[{"id":"plan"}]}}`, "", nil},
		"no modes":            {Claude, `{"sessionId":"s"}`, "", nil},
		"odd":                 {Claude, `{"modes":7}`, "", nil},
		"v2":                  {Claude, `{"configOptions":[{"id":"model","category":"model","currentValue":"auto","options":[{"value":"default"}]},{"id":"mode","category":"mode","currentValue":"auto","options":[{"value":"default"}]}]}`, "session/set_config_option", v2},
		"v2, asks already":    {Claude, `{"configOptions":[{"id":"mode","category":"mode","currentValue":"default","options":[{"value":"default"}]}]}`, "", nil},
		"both, v1 wins":       {Qwen, `{"modes":{"currentModeId":"auto","availableModes":[{"id":"default"}]},"configOptions":[{"id":"mode","category":"mode","currentValue":"auto","options":[{"value":"default"}]}]}`, "session/set_mode", v1},
		"another agent":       {"gemini-acp", `{"modes":{"currentModeId":"auto","availableModes":[{"id":"default"}]}}`, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			method, params, ok := Launching(c.agent).ModeRequest([]byte(c.result), "s")
			assert.Equal(t, c.method != "", ok)
			assert.Equal(t, c.method, method)
			assert.Equal(t, c.params, params)
		})
	}
}
