package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kandev/assent/internal/console"
)

// What the front end writes to a terminal that does not say how wide it is, and
// what its rows after the first begin with.
const (
	unknownColumns = 40
	rowPrefix      = "          | "
)

// rendered are the rows that a terminal of so many columns shows.
func rendered(text string, columns int) []string {
	var rows []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n") {
		cells := []rune(line)
		for len(cells) > columns {
			rows = append(rows, string(cells[:columns]))
			cells = cells[columns:]
		}
		rows = append(rows, string(cells))
	}
	return rows
}

// ourRow is what a row begins with that is not more of the row above.
var ourRow = regexp.MustCompile(`^(agent|prompt|call|question|answer|cancelled|turn|summary|server|) *([^ |]|$)`)

// seeNoFakes checks that no row looks like what the agent wants it to look like.
func seeNoFakes(t *testing.T, text string, columns int) {
	t.Helper()
	for _, row := range rendered(text, columns) {
		for _, fake := range fakedRows {
			assert.False(t, strings.HasPrefix(row, fake[:min(len(fake), columns, 30)]), "a faked row: %q", row)
		}
		if len(row) > 10 && !strings.HasPrefix(row[10:], "|") {
			assert.Regexp(t, ourRow, row)
		}
	}
}

// Whatever an agent writes, and however wide the terminal is, its text begins no
// row. A tool that is known by its name is shown in words that no title has.
func TestNoTextOfAnAgentBeginsARow(t *testing.T) {
	for name, test := range map[string]struct {
		columns uint16
		agent   string
	}{
		"80 columns":           {80, "wraps at 80"},
		"40 columns":           {40, "wraps at 40"},
		"nobody knows (40)":    {0, "wraps at 40"},
		"made for another one": {100, "wraps at 80"},
	} {
		t.Run(name, func(t *testing.T) {
			person, tty := openTerminal(t)
			resize(t, person, test.columns)
			args := append([]string{"run", "--agent", "claude-acp", "--prompt", "go", "--on-pending", "reject"}, agent(t, test.agent)...)
			p, seen, _ := atThis(t, person, tty, args...)
			assert.Zero(t, p.wait())
			<-p.shown
			columns := int(test.columns)
			if columns == 0 {
				columns = unknownColumns
			}
			seeNoFakes(t, seen.String(), columns)
			whole := strings.ReplaceAll(strings.ReplaceAll(seen.String(), "\r", ""), "\n"+rowPrefix, "")
			assert.Contains(t, whole, "question  #4  ‹list_tasks_kandev of server kandev›  not automatic: ")
			assert.Contains(t, whole, "#4  ‹list_tasks_kandev of server kandev›  (", "in the summary, too")
			assert.Contains(t, whole, "question  #5  list_tasks_kandev of server kandev  not automatic: ")
			assert.Contains(t, whole, "  server       kandev\n")
		})
	}
}

// A terminal that becomes narrower wraps what it shows already. An answer to that
// does not count: the question is drawn again.
func TestATerminalThatBecomesNarrower(t *testing.T) {
	person, tty := openTerminal(t)
	p, seen, say := atThis(t, person, tty, append([]string{"run", "--agent", "claude-acp", "--prompt", "go"}, agent(t, "asks")...)...)
	seen.until(t, "answer: 1 <option>")
	resize(t, person, 80)
	say("1 3\n")
	seen.until(t, "the terminal has become narrower, and that answer is ignored")
	seen.times(t, 2, "answer: 1 <option>")
	resize(t, person, 20)
	say("1 3\n")
	seen.until(t, "the terminal is too")
	resize(t, person, 120)
	say("1 3\n")
	seen.until(t, "answer    #1  option 3  reject_once  ‹No›")
	say("\x04")
	assert.Equal(t, 1, strings.Count(seen.String(), "that answer is ignored"))
	assert.Zero(t, p.wait())
}

// An agent that asks while it starts gets the person's answer; what is no answer is
// the first prompt.
func TestAnAgentThatAsksBeforeThereIsASession(t *testing.T) {
	p, seen, say := atTerminal(t, append([]string{"run", "--agent", "claude-acp"}, agent(t, "asks early")...)...)
	seen.until(t, "answer: 1 <option>")
	say("go on\n")
	say("1 3\n")
	seen.until(t, "question 1 has the options 1 to 2")
	say("1 2\n")
	seen.until(t, "answer    #1  option 2  reject_once  ‹No›")
	seen.until(t, `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"r"}}}`)
	seen.until(t, "prompt    go on")
	seen.until(t, "the first prompt")
	say("\x04")
	assert.Zero(t, p.wait())
}

func TestThePersonLeavesWhileTheAgentStarts(t *testing.T) {
	p, seen, say := atTerminal(t, append([]string{"run", "--agent", "claude-acp"}, agent(t, "asks early")...)...)
	seen.until(t, "answer: 1 <option>")
	say("\x04")
	seen.until(t, "answer    #1  cancelled")
	assert.Zero(t, p.wait())
}

// Ctrl-C cancels whatever waits, also in sessions that the agent made by itself.
func TestCtrlCCancelsTheOffersOfSubAgents(t *testing.T) {
	p, seen, say := atTerminal(t, append([]string{"run", "--agent", "claude-acp", "--prompt", "go"}, agent(t, "sub-agent")...)...)
	seen.until(t, "answer: 2 <option>")
	say("\x03")
	seen.until(t, "answer    #1  cancelled with its session")
	seen.until(t, "answer    #2  cancelled with its session")
	assert.Equal(t, console.ExitInterrupted, p.wait())
	<-p.shown
	assert.Contains(t, seen.String(), `"method":"session/cancel","params":{"sessionId":"sub"}`)
	assert.Contains(t, seen.String(), "turn      over: cancelled")
}

// Questions stand in the order in which they came.
func TestABurstOfQuestionsIsInOrder(t *testing.T) {
	p, seen, say := atTerminal(t, append([]string{"run", "--agent", "claude-acp", "--prompt", "go"}, agent(t, "burst")...)...)
	seen.until(t, fmt.Sprintf("answer: %d <option>", burst))
	next := 1
	for line := range strings.Lines(seen.String()) {
		if strings.HasPrefix(line, "question  #") {
			assert.Contains(t, line, fmt.Sprintf("#%d  ‹tool %d›", next, next))
			next++
		}
	}
	assert.Equal(t, burst+1, next)
	say(fmt.Sprintf("%d 1\n", burst-1))
	seen.until(t, fmt.Sprintf("answer    #%d  option 1", burst-1))
	say("\x04")
	assert.Zero(t, p.wait())
}
