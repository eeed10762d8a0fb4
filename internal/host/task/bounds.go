package task

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds. Lengths are in characters.
const (
	MaxTitle    = 200
	MaxText     = 64 << 10 // a prompt or a message
	MaxSummary  = 4000
	MaxQuestion = 4000
	MaxOptions  = 10
	MaxOption   = 200
	MaxAnswer   = 16 << 10

	MaxTasks            = 10000 // in all; the oldest that ended make room
	MaxChildren         = 100   // of one task
	MaxDepth            = 8     // tasks from the top to the lowest, both counted
	MaxOpenOfTask       = 8     // open questions
	MaxOpen             = 1000  // open questions in all
	maxName             = 256   // ids of agents, instances and sessions
	maxNote             = 32 << 10
	maxDirectory        = 4096
	rememberedQuestions = 1024
)

// checkText says what is wrong with a text, which may not be empty.
func checkText(what, text string, most int) error {
	if strings.TrimSpace(text) == "" {
		return invalid(what + " is empty")
	}
	return checkLength(what, text, most)
}

func checkLength(what, text string, most int) error {
	if !utf8.ValidString(text) {
		return invalid(what + " is not UTF-8")
	}
	if n := utf8.RuneCountInString(text); n > most {
		return invalid(fmt.Sprintf("%s has %d characters, at most %d are allowed: shorten it", what, n, most))
	}
	return nil
}

// checkLine says what is wrong with a text of one line, which may not be empty.
func checkLine(what, text string, most int) error {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return invalid(what + " has line breaks or control characters: put it in one line")
	}
	return checkText(what, text, most)
}
