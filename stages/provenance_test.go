package stages_test

import (
	"fmt"
	"testing"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
	"github.com/kandev/assent/stages"
)

// list gives the session exactly these entries.
func list(servers ...pipeline.Server) *pipeline.Request {
	return pipelinetest.Request(pipelinetest.Servers(servers...))
}

// entry is the injected http entry with a change.
func entry(change func(*pipeline.Server)) pipeline.Server {
	e := pipelinetest.Injected()[0]
	change(&e)
	return e
}

func session(change func(*pipeline.Session)) *pipeline.Request {
	return pipelinetest.Request(func(r *pipeline.Request) { change(&r.Session) })
}

func TestProvenance(t *testing.T) {
	instance := func(change func(*pipeline.Instance)) pipeline.Instance {
		i := pipelinetest.Instance()
		change(&i)
		return i
	}
	facts := func(server string) pipeline.Facts {
		return pipeline.Facts{Identity: pipelinetest.Tool(server, "list_tasks")}
	}
	proven := continues(stages.ReasonInjected, pipeline.Facts{Injected: true})
	pipelinetest.RunPerInstance(t, stages.ProvenanceFactory().New, []pipelinetest.Case{
		{Name: "the injected server's tool", Instance: pipelinetest.Instance(), Facts: facts("kandev"), Want: proven},
		{Name: "another server's", Instance: pipelinetest.Instance(), Facts: facts("docs"), Want: kept(stages.ReasonOtherServer)},
		{Name: "names are exact", Instance: pipelinetest.Instance(), Facts: facts("Kandev"), Want: kept(stages.ReasonOtherServer)},
		{Name: "no identity", Instance: pipelinetest.Instance(), Want: kept(stages.ReasonNotNamed)},
		{Name: "no identity, kept before", Instance: pipelinetest.Instance(), Facts: pipeline.Facts{Kept: "earlier"},
			Want: continues(stages.ReasonNotNamed, pipeline.Facts{})},
		{Name: "no marker", Instance: instance(func(i *pipeline.Instance) { i.Injected = false }), Facts: facts("kandev"),
			Want: kept(stages.ReasonNothingInjected)},
		{Name: "no port", Instance: instance(func(i *pipeline.Instance) { i.Port = 0 }), Facts: facts("kandev"),
			Want: kept(stages.ReasonNothingInjected)},
		{Name: "another port", Instance: instance(func(i *pipeline.Instance) { i.Port = 41002 }), Facts: facts("kandev"),
			Want: kept(stages.ReasonEntryOtherURL)},
		{Name: "another reserved name", Instance: instance(func(i *pipeline.Instance) { i.Reserved = "docs" }), Facts: facts("kandev"),
			Want: kept(stages.ReasonOtherServer)},
		{Name: "another reserved name and its own server", Instance: instance(func(i *pipeline.Instance) { i.Reserved = "docs" }),
			Request: list(entry(func(e *pipeline.Server) { e.Name = "docs" })), Facts: facts("docs"), Want: proven},
	})
}

func TestProvenanceOfSessions(t *testing.T) {
	good := pipeline.ServerList{Servers: pipelinetest.Injected()}
	bad := pipeline.ServerList{Servers: []pipeline.Server{{Name: "kandev", Command: "x"}}}
	lists := func(announced bool, lists ...pipeline.ServerList) *pipeline.Request {
		return session(func(s *pipeline.Session) { s.Announced, s.Lists = announced, lists })
	}
	proven := continues(stages.ReasonInjected, pipeline.Facts{Injected: true})
	runListed(t, []pipelinetest.Case{
		{Name: "announced", Want: proven},
		{Name: "alarm", Request: session(func(s *pipeline.Session) { s.StartupAlarm = true }), Want: kept(stages.ReasonStartupAlarm)},
		{Name: "untrusted", Request: session(func(s *pipeline.Session) { s.Untrusted = true }), Want: kept(stages.ReasonListUntrusted)},
		{Name: "unsettled", Request: session(func(s *pipeline.Session) { s.Unsettled = true }), Want: kept(stages.ReasonListUnsettled)},
		{Name: "no list", Request: lists(true), Want: kept(stages.ReasonListUnknown)},
		{Name: "an empty list", Request: lists(true, pipeline.ServerList{}), Want: kept(stages.ReasonEntryMissing)},
		{Name: "unannounced: all lists qualify", Request: lists(false, good, good), Want: proven},
		{Name: "unannounced: the last one does not", Request: lists(false, good, bad), Want: kept(stages.ReasonEntryRunsCommand)},
		{Name: "unannounced: one without the entry", Request: lists(false, good, pipeline.ServerList{}), Want: kept(stages.ReasonEntryMissing)},
		{Name: "unannounced: no live session", Request: lists(false), Want: kept(stages.ReasonListUnknown)},
	})
}

// runListed runs rows of the host's own tool that differ in the session only.
func runListed(t *testing.T, rows []pipelinetest.Case) {
	t.Helper()
	for i := range rows {
		rows[i].Instance, rows[i].Facts = pipelinetest.Instance(), listTasks()
	}
	pipelinetest.RunPerInstance(t, stages.ProvenanceFactory().New, rows)
}

func TestProvenanceOfEntries(t *testing.T) {
	both := pipelinetest.Injected()
	http, sse := both[0], both[1]
	docs := pipeline.Server{Name: "docs", Type: "stdio", Command: "docs-mcp", Args: 1}
	proven := continues(stages.ReasonInjected, pipeline.Facts{Injected: true})
	rows := []pipelinetest.Case{
		{Name: "http alone", Request: list(http), Want: proven},
		{Name: "sse alone", Request: list(sse), Want: proven},
		{Name: "both, the other way round", Request: list(sse, http), Want: proven},
		{Name: "twice the same", Request: list(http, http), Want: proven},
		{Name: "among unrelated ones", Request: list(docs, http, pipeline.Server{Name: "Kandev"}, pipeline.Server{Name: "kandev-2"}), Want: proven},
		{Name: "no entry", Request: list(docs), Want: kept(stages.ReasonEntryMissing)},
		{Name: "its address under another name", Request: list(entry(func(e *pipeline.Server) { e.Name = "docs" })), Want: kept(stages.ReasonEntryMissing)},
		{Name: "a third entry of the name", Request: list(http, sse, pipeline.Server{Name: "kandev", Command: "x"}), Want: kept(stages.ReasonEntryRunsCommand)},
		{Name: "a command", Request: list(entry(func(e *pipeline.Server) { e.Command = "x" })), Want: kept(stages.ReasonEntryRunsCommand)},
		{Name: "arguments", Request: list(entry(func(e *pipeline.Server) { e.Args = 1 })), Want: kept(stages.ReasonEntryRunsCommand)},
		{Name: "an environment", Request: list(entry(func(e *pipeline.Server) { e.Env = 1 })), Want: kept(stages.ReasonEntryRunsCommand)},
		{Name: "malformed", Request: list(entry(func(e *pipeline.Server) { e.Malformed = true })), Want: kept(stages.ReasonEntryMalformed)},
		{Name: "a malformed unrelated entry", Request: list(http, pipeline.Server{Name: "docs", Malformed: true}), Want: proven},
		{Name: "a malformed entry whose name cannot be read", Request: list(http, pipeline.Server{Malformed: true}), Want: kept(stages.ReasonEntryMalformed)},
		{Name: "an entry without a name", Request: list(http, pipeline.Server{}), Want: proven},
	}
	for _, typ := range []string{"", "HTTP", "sse", "stdio", "streamable-http"} {
		rows = append(rows, pipelinetest.Case{Name: fmt.Sprintf("type %q", typ),
			Request: list(entry(func(e *pipeline.Server) { e.Type = typ })), Want: kept(stages.ReasonEntryOtherURL)})
	}
	for _, url := range []string{
		"", "http://localhost/mcp", "http://localhost:041001/mcp", "http://localhost:41001", "http://localhost:41001/mcp/", "http://localhost:41001/MCP",
		"http://localhost:41001/mcp?x", "http://localhost:41001/mcp#x", " http://localhost:41001/mcp", "https://localhost:41001/mcp",
		"http://LOCALHOST:41001/mcp", "http://127.0.0.1:41001/mcp", "http://[::1]:41001/mcp", "http://u@localhost:41001/mcp", "http://localhost:41001/sse",
	} {
		rows = append(rows, pipelinetest.Case{Name: fmt.Sprintf("url %q", url),
			Request: list(entry(func(e *pipeline.Server) { e.URL = url })), Want: kept(stages.ReasonEntryOtherURL)})
	}
	runListed(t, rows)
}

func TestProvenanceOfHeaders(t *testing.T) {
	const secret = "Bearer secret"
	listed := func(authorization string, headers ...pipeline.Header) *pipeline.Request {
		return session(func(s *pipeline.Session) {
			e := entry(func(e *pipeline.Server) { e.Headers = headers })
			wiki := pipeline.Server{Name: "wiki", Headers: []pipeline.Header{{Name: "X-Key", Value: "v"}}}
			s.Lists = []pipeline.ServerList{{Authorization: authorization, Servers: []pipeline.Server{wiki, e}}}
		})
	}
	header := func(name, value string) pipeline.Header { return pipeline.Header{Name: name, Value: value} }
	proven := continues(stages.ReasonInjected, pipeline.Facts{Injected: true})
	wrong := kept(stages.ReasonEntryHeaders)
	runListed(t, []pipelinetest.Case{
		{Name: "none put, none there", Request: listed(""), Want: proven},
		{Name: "none put, one there", Request: listed("", header("Authorization", secret)), Want: wrong},
		{Name: "none put, an empty one there", Request: listed("", header("Authorization", "")), Want: wrong},
		{Name: "the secret", Request: listed(secret, header("Authorization", secret)), Want: proven},
		{Name: "missing", Request: listed(secret), Want: wrong},
		{Name: "another secret", Request: listed(secret, header("Authorization", "Bearer other")), Want: wrong},
		{Name: "another case of the name", Request: listed(secret, header("authorization", secret)), Want: wrong},
		{Name: "another header", Request: listed(secret, header("X-Key", secret)), Want: wrong},
		{Name: "twice", Request: listed(secret, header("Authorization", secret), header("Authorization", secret)), Want: wrong},
		{Name: "one more", Request: listed(secret, header("Authorization", secret), header("X-Key", "v")), Want: wrong},
	})
}

// Agents replace what they do not like in a name by "_", so that another entry
// can end up as the reserved one.
func TestProvenanceOfLookalikes(t *testing.T) {
	mine := pipelinetest.Instance()
	mine.Reserved = "my_tools"
	own := entry(func(e *pipeline.Server) { e.Name = "my_tools" })
	proven := continues(stages.ReasonInjected, pipeline.Facts{Injected: true})
	var rows []pipelinetest.Case
	row := func(name string, want pipeline.Decision) {
		rows = append(rows, pipelinetest.Case{
			Name: fmt.Sprintf("%q", name), Instance: mine, Want: want,
			Request: list(own, pipeline.Server{Name: name, Type: "http", URL: "http://localhost:1/mcp"}),
			Facts:   pipeline.Facts{Identity: pipelinetest.Tool("my_tools", "x")},
		})
	}
	for _, name := range []string{"my tools", "my.tools", "my/tools", "my\x00tools", "my\xfftools", "myétools", "my\u200btools", "my😀tools"} {
		row(name, kept(stages.ReasonEntryLookalike))
	}
	for _, name := range []string{"my-tools", "mytools", "My tools", "my  tools", "my tools ", " my tools", "my toolsX", "my tool", "my_tool", "éy_tools", ""} {
		row(name, proven)
	}
	pipelinetest.RunPerInstance(t, stages.ProvenanceFactory().New, rows)
}
