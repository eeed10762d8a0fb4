package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// differences compares decisions with the lines of a .want.jsonl: the fields
// that a line has, as text. It shares no code with the comparison of cases.
func differences(decisions []Decision, want string) []string {
	var found []string
	lines := strings.FieldsFunc(want, func(r rune) bool { return r == '\n' })
	if len(lines) != len(decisions) {
		found = append(found, fmt.Sprintf("%d decisions, wanted %d", len(decisions), len(lines)))
	}
	for i, line := range lines[:min(len(lines), len(decisions))] {
		var expected, got map[string]json.RawMessage
		text, err := json.Marshal(decisions[i])
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err == nil {
			err = json.Unmarshal([]byte(line), &expected)
		}
		if err != nil {
			return append(found, err.Error())
		}
		for field, value := range expected {
			if !bytes.Equal(got[field], value) {
				found = append(found, fmt.Sprintf("request %d: %s is %s, wanted %s", i+1, field, got[field], value))
			}
		}
	}
	return found
}
