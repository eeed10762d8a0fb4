package main

import (
	"os"
	"strings"
	"testing"
)

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct{ line, explains, answer string }{
		"the host's own tool": {
			request, "select by option: injected_mcp (tool list_tasks of server kandev)",
			`{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`,
		},
		"another server's": {
			strings.Replace(request, "mcp__kandev__", "mcp__docs__", 1), "pend by pending: server_is_not_the_hosts", "",
		},
		"nothing to choose from": {
			strings.Replace(request, `"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]`, `"options":[]`, 1),
			"cancel by acp: no_options", `{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			explanation, answer, err := decide(c.line)
			if err != nil || !strings.HasPrefix(explanation, c.explains) || string(answer) != c.answer {
				t.Fatalf("decide: %q, %q, %v", explanation, answer, err)
			}
		})
	}
	for line, want := range map[string]string{
		"no message":                         "plain: acp: line is no JSON object",
		`{"jsonrpc":"2.0","method":"other"}`: "plain: the line is no permission request",
	} {
		if _, _, err := decide(line); err == nil || err.Error() != want {
			t.Errorf("decide(%q): %v", line, err)
		}
	}
}

// The README shows this program's lines.
func TestTheREADMEShowsThisProgram(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "```go\n")
	shown, _, found := strings.Cut(shown, "```\n")
	if !found {
		t.Fatal("the README shows no Go")
	}
	for line := range strings.Lines(shown) {
		code, _, _ := strings.Cut(line, " // ")
		if code = strings.TrimSpace(code); !strings.Contains(string(program), code) {
			t.Errorf("README.md shows a line that main.go does not have: %s", code)
		}
	}
}
