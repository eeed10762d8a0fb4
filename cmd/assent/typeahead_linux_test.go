package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// An answer that was typed before its question was there, but not sent yet, is
// gone: only the person's next line counts.
func TestTypingAheadAnswersNothing(t *testing.T) {
	p, seen, say := atTerminal(t, "run", "--demo")
	seen.until(t, "Ctrl-D ends")
	say("shell\n1 1")
	seen.until(t, "answer: 1 <option>")
	say("\n")
	say("1 3\n")
	seen.until(t, "Did not run: the shell command (rejected).")
	seen.until(t, "turn      over")
	say("\x04")
	assert.Zero(t, p.wait())
}
