//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/agents"
	"github.com/kandev/assent/internal/proxy"
	"github.com/kandev/assent/pipeline"
)

// documented are the pages with command lines of assent proxy, and how many each
// shows at least.
var documented = map[string]int{"README.md": 3, "docs/editors.md": 9, "docs/proxy.md": 3}

// Every command line of assent proxy in the documentation is one: a reader who
// copies it gets no usage error.
func TestTheDocumentedProxyCommandsAreRight(t *testing.T) {
	for page, least := range documented {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "..", page))
			require.NoError(t, err)
			var found [][]string
			for _, block := range regexp.MustCompile("(?ms)^```(\\w*)\\n(.*?)^```").FindAllStringSubmatch(string(text), -1) {
				switch language, code := block[1], block[2]; language {
				case "sh":
					found = append(found, shellCommands(t, code)...)
				case "json":
					assert.True(t, jsontext.Value(code).IsValid(), "this is no JSON: %s", code)
					found = append(found, quotedCommands(t, code)...)
				case "lua", "elisp":
					found = append(found, quotedCommands(t, code)...)
				}
			}
			assert.GreaterOrEqual(t, len(found), least, "command lines of assent proxy were not found")
			for _, args := range found {
				checkProxyCommand(t, args)
			}
		})
	}
}

// quotedCommands are the lists of strings in settings that begin with "proxy".
func quotedCommands(t *testing.T, code string) (found [][]string) {
	for _, list := range regexp.MustCompile(`"proxy"(?:[\s,]*"(?:[^"\\]|\\.)*")*`).FindAllString(code, -1) {
		var args []string
		for _, quoted := range regexp.MustCompile(`"(?:[^"\\]|\\.)*"`).FindAllString(list, -1) {
			word, err := strconv.Unquote(quoted)
			require.NoError(t, err, quoted)
			args = append(args, word)
		}
		found = append(found, args)
	}
	return found
}

// shellCommands are what a real shell makes of the lines with assent proxy in them.
func shellCommands(t *testing.T, code string) (found [][]string) {
	bin := t.TempDir()
	show := "#!/bin/sh\nfor word; do printf '%s\\000' \"$word\"; done\n"
	for _, name := range []string{"assent", "acpx"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(show), 0o755))
	}
	for line := range strings.Lines(strings.ReplaceAll(code, "\\\n", " ")) {
		if !strings.Contains(line, "assent proxy") || strings.HasPrefix(line, "#") {
			continue
		}
		cmd := exec.Command("/bin/sh", "-c", regexp.MustCompile(`\S*/(assent)\b `).ReplaceAllString(line, "$1 "))
		cmd.Env = []string{"PATH=" + bin, "HOME=" + bin}
		out, err := cmd.Output()
		require.NoError(t, err, line)
		words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if at := slices.Index(words, "--agent"); at == 0 { // of acpx: a command line in one word
			found = append(found, shellCommands(t, words[1]+"\n")...)
			continue
		}
		found = append(found, words)
	}
	return found
}

// checkProxyCommand parses a command line, and those that it starts in turn.
func checkProxyCommand(t *testing.T, args []string) {
	var cli commands
	parser, err := kong.New(&cli, kong.Name("assent"))
	require.NoError(t, err)
	_, err = parser.Parse(args)
	require.NoError(t, err, args)
	if args[0] != "proxy" {
		at := slices.Index(args, "proxy")
		require.Positive(t, at, args)
		checkProxyCommand(t, args[at:])
		return
	}
	c := cli.Proxy
	_, _, err = proxy.ParseInjections(c.Inject, c.InjectHeader, func(string) (string, bool) { return "secret", true })
	require.NoError(t, err, args)
	require.Equal(t, "--", c.Command[0], args)
	_, set, err := composeHost()
	require.NoError(t, err)
	_, known := set.For(pipeline.Instance{Agent: pipeline.Agent(c.Agent)})
	assert.True(t, known, "no dialect knows the agent of %q", args)
	if guess := agents.Guess(c.Command[1:]); guess != "" {
		assert.Equal(t, c.Agent, guess, "%q starts another agent than it says", args)
	}
}
