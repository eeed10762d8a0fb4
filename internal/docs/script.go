package docs

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Script is the module of the gateway's page that knows what each reason means, made
// of the page that [Reasons] made. Of two meanings of a reason the first one counts.
func Script(page string) (string, error) {
	var script strings.Builder
	script.WriteString("// What each reason means. Made by: go test ./internal/docs -update\n" +
		"export const reasons = {\n")
	seen := map[string]bool{}
	for line := range strings.Lines(page) {
		reason, meaning, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` | ")
		if !ok || !strings.HasPrefix(line, "| `") || seen[reason] {
			continue
		}
		seen[reason] = true
		text, err := json.Marshal(strings.ReplaceAll(strings.TrimSuffix(meaning, " |\n"), `\|`, "|"))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&script, "  %s: %s,\n", reason, text)
	}
	script.WriteString("};\n")
	return script.String(), nil
}
