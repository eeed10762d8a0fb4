package replay

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/record"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
)

// script is a recording or a case, reduced to the lines that a decision can
// depend on.
type script struct {
	name        string
	instance    pipeline.Instance
	placeholder string
	servers     *pipeline.ServerList // of every session
	serverText  string
	lines       []scriptLine
}

type scriptLine struct {
	client bool
	text   string
}

// scripts loads all recordings and cases.
func scripts(t testing.TB) []script {
	t.Helper()
	var all []script
	for _, file := range recordings(t) {
		all = append(all, recordedScript(t, file))
	}
	for _, file := range caseFiles(t) {
		for line := range strings.Lines(read(t, file)) {
			all = append(all, caseScript(t, line))
		}
	}
	return all
}

func recordedScript(t testing.TB, file string) script {
	t.Helper()
	s := script{name: filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file), placeholder: record.RedactedAuthorization}
	for line := range strings.Lines(read(t, file)) {
		var e entry
		require.NoError(t, readEntry([]byte(line), &e))
		if e.Header != nil {
			s.instance = pipeline.Instance{Agent: pipeline.Agent(e.Header.Agent), Port: e.Header.Port, Injected: e.Header.Port > 0}
		}
		if e.Dir == nil {
			continue
		}
		text, err := e.line(file, 0)
		require.NoError(t, err)
		if l := (scriptLine{*e.Dir == record.FromClient, string(text)}); l.counts() {
			s.lines = append(s.lines, l)
		}
	}
	return s
}

// counts leaves out what no decision depends on, and what is too long to be
// mutated many times a second.
func (l scriptLine) counts() bool {
	if len(l.text) > 16<<10 {
		return false
	}
	for _, word := range []string{"session/new", "session/load", "session/resume", "session/fork", "request_permission", "tool_call", `"result":{"sessionId"`, `"result": {"sessionId"`, `"error"`, `"result": null`, "session/prompt"} {
		if strings.Contains(l.text, word) {
			return true
		}
	}
	return false
}

func caseScript(t testing.TB, line string) script {
	t.Helper()
	var c Case
	require.NoError(t, json.Unmarshal([]byte(line), &c))
	list, err := c.Instance.list()
	require.NoError(t, err)
	text, err := json.Marshal(list.Servers)
	require.NoError(t, err)
	s := script{name: c.ID, servers: &list, serverText: lowerKeys(string(text)), instance: pipeline.Instance{
		Agent: pipeline.Agent(c.Instance.Agent), Port: c.Instance.Port,
		Injected: c.Instance.Injected && c.Instance.Port > 0, AutoApprove: c.Instance.AutoApprove,
	}}
	for _, l := range c.Lines {
		text, err := l.text()
		require.NoError(t, err)
		if len(text) < 16<<10 {
			s.lines = append(s.lines, scriptLine{l.Dir == record.FromClient, string(text)})
		}
	}
	return s
}

// lowerKeys turns the text of a server list back into the shape of the wire. The
// counts of args and env become lists of that length.
func lowerKeys(text string) string {
	for _, key := range []string{"Name", "Type", "URL", "Command", "Headers", "Value"} {
		text = strings.ReplaceAll(text, `"`+key+`":`, `"`+strings.ToLower(key)+`":`)
	}
	for _, key := range []string{"Args", "Env"} {
		text = strings.ReplaceAll(text, `"`+key+`":0`, `"`+strings.ToLower(key)+`":[]`)
		text = strings.ReplaceAll(text, `"`+key+`":1`, `"`+strings.ToLower(key)+`":[1]`)
	}
	return strings.ReplaceAll(text, `"Malformed":true`, `"args":5`)
}

// real runs a script through the decoder and the default pipeline.
func (s script) real(t testing.TB, r Runner) []said {
	c, err := r.connect(s.instance, acp.Options{Placeholder: s.placeholder, EverySession: s.servers})
	require.NoError(t, err)
	var all []said
	for _, l := range s.lines {
		dir := record.FromAgent
		if l.client {
			dir = record.FromClient
		}
		if d, ok := c.line(context.Background(), dir, []byte(l.text)); ok {
			x := said{id: shownID(string(d.ID)), verdict: d.Verdict}
			if d.Option != nil {
				x.option = *d.Option
			}
			all = append(all, x)
		}
	}
	return all
}

// expected runs a script through the oracle.
func (s script) expected() []said {
	o := &oracle{
		agent: string(s.instance.Agent), port: s.instance.Port, injected: s.instance.Injected, auto: s.instance.AutoApprove,
		placeholder: s.placeholder,
		calls:       map[[2]string]*oracleCall{}, lost: map[string]bool{}, sessions: map[string]*oracleSession{},
		open: map[string]*oracleSession{}, alarms: map[string]bool{}, doubtful: map[string]bool{},
	}
	if s.servers != nil {
		o.every = parse(s.serverText)
	}
	var all []said
	for _, l := range s.lines {
		if l.client {
			o.fromClient(l.text)
		} else if x, ok := o.fromAgent(l.text); ok {
			all = append(all, x)
		}
	}
	return all
}

func (s script) String() string {
	var b strings.Builder
	b.WriteString(s.name + "\n")
	for _, l := range s.lines {
		b.WriteString(map[bool]string{true: "  > ", false: "  < "}[l.client] + l.text + "\n")
	}
	return b.String()
}
