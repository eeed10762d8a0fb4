package demoagent

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// command is a word that the agent obeys.
type command struct {
	word      string
	does      string
	takesText bool // what follows the word is its text
	steps     []step
}

// step is one thing to do in a turn.
type step func(t *turn, text string)

// The tools of the injected server that the agent knows.
const (
	injected       = pipeline.DefaultReservedName
	createTaskTool = "create_task_kandev"
	listTasksTool  = "list_tasks_kandev"
)

// commands lists what the agent understands.
func commands() []command {
	return []command{
		{"plan", `creates a task on the server "kandev" and lists all tasks; the words behind it are the task's title`, true, []step{createTask, listTasks}},
		{"other", `calls a tool of the first server that is not named "kandev" (assent serve --demo has none); the words behind it are its text`, true, []step{otherTool}},
		{"shell", "runs a harmless shell command", false, []step{shell}},
		{"mixed", `creates a task, calls a tool of another server, and runs a shell command; the words behind it are the task's title`, true, []step{createTask, otherTool, shell}},
		{"list-tasks", "lists all tasks", false, []step{listTasks}},
		{"create-child", `creates a task for another agent on the server "kandev"; the words behind it, in quotes, are what that agent is told`, true, []step{createChild}},
		{"stop-child", "stops the agent of the task that was created last", false, []step{stopChild}},
		{"ask", `asks the user through the server "kandev"; the words behind it are the question`, true, []step{askUser}},
		{"complete", "reports that its own task is done; the words behind it are the summary", true, []step{complete}},
		{"burst", "asks as many times as the number behind it says, many at a time, and does nothing", true, []step{burst}},
		{"shadow", "says how to see what happens when an agent does not do what it asked for", false, []step{shadow}},
		{"help", "says this", false, []step{func(t *turn, _ string) { t.say(Help()) }}},
	}
}

// Help says which prompts the agent understands.
func Help() string {
	var b strings.Builder
	b.WriteString("I am a demo agent without a model. I understand these words, one after the other:\n")
	for _, c := range commands() {
		b.WriteString("  " + c.word + strings.Repeat(" ", 14-len(c.word)) + c.does + "\n")
	}
	b.WriteString(`For example: plan "Write the release notes" shell`)
	return b.String()
}

// order is a command of a prompt with its text.
type order struct {
	command command
	text    string
}

// parse reads a prompt: words of the list above, in any case, with or without
// punctuation behind them. Text in double quotes is never a word of the list.
// Unknown is what belongs to no command.
func parse(prompt string) (orders []order, unknown []string) {
	for prompt = strings.TrimSpace(prompt); prompt != ""; prompt = strings.TrimSpace(prompt) {
		var word string
		var quoted bool
		word, prompt, quoted = cutWord(prompt)
		c, known := lookup(word)
		last := len(orders) - 1
		switch {
		case known && !quoted:
			orders = append(orders, order{command: c})
		case last >= 0 && orders[last].command.takesText:
			orders[last].text = strings.TrimSpace(orders[last].text + " " + word)
		default:
			unknown = append(unknown, word)
		}
	}
	return orders, unknown
}

// cutWord takes the first word, or the first text in quotes, off a prompt.
func cutWord(prompt string) (word, rest string, quoted bool) {
	if inside, ok := strings.CutPrefix(prompt, `"`); ok {
		word, rest, _ = strings.Cut(inside, `"`)
		return word, rest, true
	}
	if end := strings.IndexFunc(prompt, unicode.IsSpace); end >= 0 {
		return prompt[:end], prompt[end:], false
	}
	return prompt, "", false
}

func lookup(word string) (command, bool) {
	word = strings.TrimRight(word, ".,;:!?")
	for _, c := range commands() {
		if strings.EqualFold(c.word, word) {
			return c, true
		}
	}
	return command{}, false
}

// prompt starts a turn.
func (a *agent) prompt(id acp.ID, params jsontext.Value) {
	var p struct {
		SessionID string `json:"sessionId"`
		Prompt    *[]struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"prompt"`
	}
	if !decode(params, &p) || p.Prompt == nil {
		a.peer.respond(id, nil, badParams("sessionId must be a string and prompt a list of content blocks"))
		return
	}
	s := a.sessions.find(p.SessionID)
	if s == nil {
		a.peer.respond(id, nil, badParams("there is no such session"))
		return
	}
	said := ""
	for _, block := range *p.Prompt {
		if block.Type == "text" {
			said = block.Text
			break
		}
	}
	a.startTurn(id, s, said)
}
