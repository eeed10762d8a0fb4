package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("update", false, "write what the README repeats anew")

// The README shows what make run prints, but for the port, which is any free one.
func TestTheREADMEShowsTheDemo(t *testing.T) {
	const begin, end = "<!-- output of make run -->\n```\n", "```\n<!-- end of it -->\n"
	code, stdout, _ := runIt(t, "run", "--demo", "--on-pending", "allow")
	require.Zero(t, code)
	printed := regexp.MustCompile(`on port \d+`).ReplaceAllString(stdout, "on port 41001")

	path := filepath.Join("..", "..", "README.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found, "the README has no place for it: %q", begin)
	shown, after, found := strings.Cut(rest, end)
	require.True(t, found, "the README has no end of it: %q", end)
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(before+begin+printed+end+after), 0o644))
		shown = printed
	}
	assert.Equal(t, printed, shown, "mend it with: go test ./cmd/assent -run README -update")
}
