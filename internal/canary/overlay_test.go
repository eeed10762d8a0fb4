package canary

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the module, seen from here.
const root = "../.."

// removal takes one redaction out of the program.
type removal struct {
	name     string
	file     string // below the module
	old, new string // old is there exactly once
}

// method takes a method that hides something away, by giving it another name.
func method(file, receiver, name string) removal {
	return removal{receiver + " " + name, file, "func (" + receiver + ") " + name + "(", "func (" + receiver + ") Not" + name + "("}
}

// removals lists the redactions. Where two of them stand behind each other, so
// that one alone can be taken away without harm, neither is in the list.
func removals() []removal { return slices.Concat(logged(), shown(), kept()) }

// logged are about what goes into logs.
func logged() []removal {
	const (
		meta     = "pipeline/meta.go"
		request  = "pipeline/request.go"
		trace    = "pipeline/trace.go"
		server   = "internal/host/config/server.go"
		settings = "internal/host/config/config.go"
		session  = "internal/host/config/session.go"
		question = "internal/host/process/question.go"
		hidden   = "internal/host/process/hidden.go"
		offer    = "internal/host/pending/offer.go"
		detail   = "internal/host/pending/detail.go"
		snapshot = "internal/host/pending/snapshot.go"
		watch    = "internal/host/pending/watch.go"
	)
	return []removal{
		method(meta, "t Text", "LogValue"),
		method(meta, "m Meta", "LogValue"),
		method(request, "l ServerList", "LogValue"),
		method(request, "s Server", "LogValue"),
		method(request, "h Header", "LogValue"),
		{"the error of a stage, in a log", trace, `text += fmt.Sprintf(" [%T]", s.Err)`, `text += fmt.Sprintf(" [%v]", s.Err)`},
		{"the error of a stage, in words", trace, `fmt.Fprintf(&b, " [%T]", s.Err)`, `fmt.Fprintf(&b, " [%v]", s.Err)`},
		method(server, "s MCPServer", "Format"),
		method(server, "s MCPServer", "LogValue"),
		method(server, "s Servers", "LogValue"),
		method(server, "h Header", "Format"),
		method(server, "h Header", "LogValue"),
		method(server, "e EnvVar", "Format"),
		method(server, "e EnvVar", "LogValue"),
		method(settings, "c Config", "LogValue"),
		method(settings, "o InstanceOverrides", "LogValue"),
		method(settings, "c InstanceConfig", "LogValue"),
		method(session, "s SessionServers", "Format"),
		method(session, "s SessionServers", "LogValue"),
		method("internal/host/config/codex.go", "l CodexLaunch", "LogValue"),
		method("internal/host/endpoint/session.go", "s *Session", "Format"),
		method("internal/host/child/child.go", "c Command", "Format"),
		method("internal/host/child/child.go", "c Command", "LogValue"),
		{"a tool name that was mended", "internal/host/nets/guard.go", `g.tool(a.Tool)`, `g.tool(pipeline.FlatName(a.Tool))`},
		method(question, "q Question", "Format"),
		method(question, "q Question", "LogValue"),
		method(question, "a Action", "Format"),
		method(question, "a Action", "LogValue"),
		method(detail, "d Detail", "Format"),
		method(detail, "d Detail", "LogValue"),
		method(hidden, "u Update", "Format"),
		method(hidden, "v View", "Format"),
		method(hidden, "v View", "LogValue"),
		method(hidden, "d Decided", "Format"),
		method(hidden, "d Decided", "LogValue"),
		method(hidden, "a Answered", "Format"),
		method(hidden, "a Answered", "LogValue"),
		method(offer, "o Offer", "Format"),
		method(offer, "a Answer", "Format"),
		method(offer, "o Outcome", "Format"),
		method(offer, "o Outcome", "LogValue"),
		method(snapshot, "s Snapshot", "LogValue"),
		method(snapshot, "o Options", "Format"),
		method(snapshot, "o Options", "LogValue"),
		method(watch, "e Event", "LogValue"),
		{"the option id of an answer", offer, `[...]string{"none", "option", "allow", "deny", "cancel"}[a.kind]`, `a.option`},
	}
}

// shown are about what everybody may see.
func shown() []removal {
	const describe = "internal/host/pending/describe.go"
	return []removal{
		{"labels", describe, `Redact(opt.Label, maxLabel)`, `opt.Label`},
		{"kinds of options", describe, `kind = Redact(kind, maxKind)`, `kind += ""`},
		{"kinds of calls", describe, `a.Type = Redact(kind, maxType)`, `a.Type = kind`},
		{"paths", describe, `Redact(strings.Join(paths(f), ", "), maxPath)`, `strings.Join(paths(f), ", ")`},
		{"commands", describe, `Redact(orTitle(f.Commands, "; ", isCommand, title), maxCommand)`, `orTitle(f.Commands, "; ", isCommand, title)`},
		{"destinations", describe, `Redact(orTitle(f.Destinations, ", ", kind == "fetch", title), maxPath)`, `orTitle(f.Destinations, ", ", kind == "fetch", title)`},
		{"titles", describe, `return Redact(text, limit)`, `return text`},
		{"the mask", "internal/host/pending/redact.go", `fit(mask(s, min(input, maxInput)), limit)`, `fit(s[:min(len(s), input)], limit)`},

		{"titles that hold data", describe, `if isProse(text, marks, limit) {`, `if limit > 0 {`},
		{"arguments of a tool that is known", describe, `return a // its arguments are its own`, ``},
	}
}

// kept are about what is kept, sent, and said of errors.
func kept() []removal {
	return []removal{
		{"kinds of options, in a log", "internal/host/process/manager_permission_policy.go", `slog.String("option_kind", pipeline.KnownKind(kind))`, `slog.String("option_kind", kind)`},
		{"what a receiver of telemetry answers", "internal/host/telemetry/export.go", `text, _, _ := strings.Cut(err.Error(), "body:")`, `text := err.Error()`},
		{"the address of a receiver of telemetry", "internal/host/telemetry/export.go", `text = address.ReplaceAllString(text, "the receiver:")`, `_ = address`},
		{"kinds of options, in the audit log", "internal/host/audit/record.go", `r.OptionKind = pipeline.KnownKind(r.OptionKind)`, `r.OptionKind += ""`},
		{"the error of a stage, in a span", "internal/host/telemetry/span.go", `keyFailed.Bool(true)`, `keyFailed.String(step.Err.Error())`},
		{"values of variables, in an error", "internal/host/telemetry/environment.go", `errs = append(errs, wrong(prefix+name, way))`, `errs = append(errs, wrong(prefix+name, way+value))`},
		{"secrets of the host, in what a person is shown", "internal/host/process/secrets.go", `text = strings.ReplaceAll(text, secret, "(hidden)")`, `text = strings.ReplaceAll(text, secret, secret)`},
		{"secrets of the host, in a recording", "internal/record/record.go", `line = hide(line, s)`, `_ = hide(line, s)`},
		{"what the agent says of an error", "internal/host/process/errors.go",
			`return fmt.Sprintf("process: the agent answered %s with error %d", e.Method, e.Code)`, `return fmt.Sprintf("process: the agent answered %s with error %d %s", e.Method, e.Code, e.Detail)`},
		{"how an agent's stderr ended", "internal/host/process/errors.go",
			`return "process: the agent ended by itself: " + e.State.String()`, `return "process: the agent ended by itself: " + e.State.String() + e.Stderr`},
	}
}

// apply makes the file without its redaction.
func (r removal) apply(t *testing.T) []byte {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, r.file))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(source), r.old), "%s: %q is not there exactly once: was the redaction moved?", r.file, r.old)
	return []byte(strings.Replace(string(source), r.old, r.new, 1))
}

// overlaysVariable asks for the test below, which builds the program once for
// each redaction: see make canary.
const overlaysVariable = "CANARY_OVERLAYS"

// Without any one of the redactions TestCanary fails, and says why.
func TestItFailsWithoutAnyRedaction(t *testing.T) {
	if os.Getenv(overlaysVariable) == "" {
		t.Skip("it takes minutes: make canary")
	}
	for _, r := range removals() {
		t.Run(r.name, func(t *testing.T) {
			out, err := exec.Command("go", "test", "-count=1", "-run=^TestCanary$", "-overlay="+r.overlay(t), ".").CombinedOutput()
			assert.Error(t, err)
			assert.Contains(t, string(out), "the secret in ", "it does not fail as it should")
		})
	}
}

// overlay writes the mutated file and the list that the go command takes.
func (r removal) overlay(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	changed := filepath.Join(dir, "changed.go")
	require.NoError(t, os.WriteFile(changed, r.apply(t), 0o600))
	original, err := filepath.Abs(filepath.Join(root, r.file))
	require.NoError(t, err)
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	require.NoError(t, err)
	path := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(path, list, 0o600))
	return path
}
