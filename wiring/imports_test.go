package wiring_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/kandev/assent"

// room says what the packages below a path may import. The longest path counts.
// Patterns: an exact path, or "x/..." for x and everything below it; "..." alone
// is everything.
type room struct {
	path string
	// local packages of this module, libs of others. Test files may import every
	// local package but the composing ones, and the test libraries.
	local, libs []string
	// noStd are packages of the standard library that are out of place here.
	noStd []string
	why   string
}

var rooms = []room{
	{path: "pipeline", libs: []string{lo}, noStd: outside,
		why: "the vocabulary is imported by everything and decides everywhere: it needs nothing but itself"},
	{path: "pipeline/acp", local: []string{"pipeline"}, libs: []string{"github.com/go-json-experiment/json/..."}, noStd: network,
		why: "the edge is for host authors: bytes in, bytes out, no network, no stages"},
	{path: "pipeline/pipelinetest", local: []string{"pipeline"}, noStd: network,
		why: "tests of third parties import it: it must not bring libraries along"},
	{path: "dialects", local: []string{"pipeline"}, libs: []string{lo}, noStd: pure,
		why: "a dialect is a pure function from a request to a claim: the stages judge it, not the other way round"},
	{path: "stages", local: []string{"pipeline", "dialects"}, libs: []string{lo}, noStd: pure,
		why: "a stage is a pure function: no I/O, no logging, and usable without a container"},
	{path: "wiring", local: []string{"pipeline", "dialects", "stages"}, libs: []string{fxlib}, noStd: network,
		why: "it composes and does nothing else"},
	{path: "wiring/hostfx", local: []string{"pipeline/...", "dialects", "stages", "wiring", "internal/..."}, libs: []string{"..."},
		why: "it composes the host, which speaks to the network"},
	{path: "internal", local: []string{"pipeline/...", "dialects", "stages", "internal/..."}, libs: notFx,
		why: "a host takes what it needs as parameters: it must work without a container"},
	{path: "cmd/assent", local: []string{"pipeline/...", "dialects", "stages", "wiring/...", "internal/..."}, libs: []string{"..."},
		why: "the command puts everything together and is imported by nobody"},
	{path: "examples/fx", local: []string{"pipeline", "dialects", "stages", "wiring", "examples/newstage", "examples/newdialect"}, libs: []string{fxlib}, noStd: network,
		why: "it shows what a host with fx needs, which is nothing internal"},
	{path: "examples/newstage", local: []string{"pipeline", "stages"}, noStd: pure,
		why: "it shows what a stage of a third party needs"},
	{path: "examples/newdialect", local: []string{"pipeline", "dialects"}, noStd: pure,
		why: "it shows what a dialect of a third party needs"},
	{path: "examples/demoagent", local: []string{"internal/demoagent"},
		why: "it is the main function of the bundled agent"},
}

const (
	lo    = "github.com/samber/lo"
	fxlib = "go.uber.org/fx/..."
)

var (
	network = []string{"net/...", "os/exec", "database/..."}
	outside = append([]string{"os/...", "log", "syscall", "time", "math/rand/..."}, network...)
	pure    = append([]string{"log/..."}, outside...)

	// testLibs are for test files everywhere.
	testLibs = []string{"github.com/stretchr/testify/...", "pgregory.net/rapid", "go.uber.org/goleak"}

	// notFx are the libraries that the module uses elsewhere. A new one needs a
	// reason in the commit that adds it, and its line here.
	notFx = []string{
		lo,
		"github.com/go-json-experiment/json/...",
		"github.com/modelcontextprotocol/go-sdk/...",
		"github.com/google/jsonschema-go/jsonschema", // payloads of actions; the MCP library's own
		"github.com/coder/websocket/...",
		"github.com/coder/acp-go-sdk/...",
		"github.com/minio/highwayhash", // the checksums of the embedded server's files
		"github.com/nats-io/nats-server/v2/...",
		"github.com/nats-io/nats.go/...",
		"github.com/nats-io/jwt/v2", // the tests' cluster with credentials
		"github.com/nats-io/nkeys",  // the tests' cluster with credentials
		"go.opentelemetry.io/otel/...",
		"go.opentelemetry.io/proto/otlp/...",      // the tests' receiver
		"google.golang.org/protobuf/proto",        // the tests' receiver
		"github.com/go-logr/logr",                 // only to keep the SDK from logging by itself
		"github.com/prometheus/client_golang/...", // the handler of the metrics
		"github.com/pelletier/go-toml/v2/...",
		"github.com/chromedp/...",
		"github.com/alecthomas/kong/...",
		"golang.org/x/net/http/httpguts", // which headers can be sent
		"golang.org/x/sys/...",
		"golang.org/x/term/...",
		"golang.org/x/text/cases",        // which names can be read as another
		"golang.org/x/text/unicode/norm", // which names can be read as another
	}
)

func matches(patterns []string, importPath string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, below := strings.CutSuffix(p, "...")
		return p == importPath || below && (prefix == "" || strings.HasPrefix(importPath+"/", prefix))
	})
}

// roomOf finds the rule of a package.
func roomOf(pkg string) (room, bool) {
	var found room
	for _, r := range rooms {
		if len(r.path) > len(found.path) && strings.HasPrefix(pkg+"/", r.path+"/") {
			found = r
		}
	}
	return found, found.path != ""
}

// forbidden says why a file of a package may not import something; empty: it may.
func forbidden(pkg string, test bool, importPath string) string {
	r, ok := roomOf(pkg)
	if !ok {
		return "package " + pkg + " has no rule: add its room to the list in wiring/imports_test.go"
	}
	local, inModule := strings.CutPrefix(importPath, module+"/")
	composing := []string{"wiring/...", "cmd/...", "examples/..."}
	switch {
	case inModule && (matches(r.local, local) || test && !matches(composing, local)):
	case inModule && local == pkg: // an external test of the package itself
	case inModule:
		return r.path + " must not import " + local + ": " + r.why
	case !strings.Contains(strings.Split(importPath, "/")[0], "."): // the standard library
		if !test && matches(r.noStd, importPath) {
			return r.path + " must not import " + importPath + ": " + r.why
		}
	case matches(r.libs, importPath), test && matches(testLibs, importPath):
	default:
		return r.path + " must not import " + importPath + ": " + r.why
	}
	return ""
}

// The files are parsed, not listed by the go command: so those of other systems
// and build tags count too.
func TestImports(t *testing.T) {
	seen := map[string]bool{}
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || nestedModule(root, name)) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		seen[path.Dir(name)] = true
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", name), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			assert.Empty(t, forbidden(path.Dir(name), strings.HasSuffix(name, "_test.go"), importPath), name)
		}
		return nil
	})
	require.NoError(t, err)
	for _, pkg := range []string{"pipeline", "pipeline/pipelinetest", "dialects", "stages", "wiring"} {
		assert.True(t, seen[pkg], "package %s was not looked at", pkg)
	}
}

func nestedModule(root fs.FS, dir string) bool {
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	return err == nil
}

// The rules themselves, one row for each sentence of the house.
var imports = []struct {
	pkg, imports string
	test         bool
	allowed      bool
}{
	{"pipeline", "context", false, true},
	{"pipeline", "github.com/samber/lo", false, true},
	{"pipeline", "net/http", false, false},
	{"pipeline", "os", false, false},
	{"pipeline", "net", false, false},
	{"pipeline", module + "/dialects", false, false},
	{"pipeline", module + "/pipeline/acp", false, false},
	{"pipeline", module + "/pipeline", true, true},
	{"pipeline", "github.com/stretchr/testify/assert", false, false},
	{"pipeline", "github.com/stretchr/testify/assert", true, true},
	{"pipeline", "go.uber.org/fx", true, false},
	{"pipeline/acp", module + "/pipeline", false, true},
	{"pipeline/acp", module + "/dialects", false, false},
	{"pipeline/acp", "github.com/go-json-experiment/json/jsontext", false, true},
	{"pipeline/acp", "github.com/go-json-experiment/jsonx", false, false},
	{"dialects", module + "/pipeline", false, true},
	{"dialects", module + "/stages", false, false},
	{"dialects", module + "/pipeline/acp", false, false},
	{"dialects", module + "/pipeline/acp", true, true},
	{"stages", module + "/dialects", false, true},
	{"stages", module + "/wiring", true, false},
	{"stages", "log/slog", false, false},
	{"pipeline", "log/slog", false, true},
	{"stages", "time", false, false},
	{"stages", "go.uber.org/fx", false, false},
	{"wiring", module + "/internal/host/config", false, false},
	{"wiring", "go.uber.org/fx", false, true},
	{"wiring/hostfx", module + "/internal/host/config", false, true},
	{"wiring/hostfx", "github.com/coder/websocket", false, true},
	{"internal/proxy", module + "/stages", false, true},
	{"internal/proxy", module + "/wiring", false, false},
	{"internal/proxy", module + "/wiring/hostfx", true, false},
	{"internal/proxy", "go.uber.org/fx", false, false},
	{"internal/proxy", "go.uber.org/fx/fxtest", true, false},
	{"internal/proxy", "github.com/coder/websocket", false, true},
	{"internal/proxy", "example.com/new", false, false},
	{"internal/console", "golang.org/x/term", false, true},
	{"internal/console", module + "/wiring", false, false},
	{"cmd/assent", "go.uber.org/fx", false, true},
	{"cmd/assent", module + "/wiring", false, true},
	{"examples/fx", "go.uber.org/fx", false, true},
	{"examples/fx", module + "/internal/host/config", false, false},
	{"examples/newstage", "go.uber.org/fx", true, false},
	{"unheard/of", "context", false, false},
}

func TestForbidden(t *testing.T) {
	for _, c := range imports {
		got := forbidden(c.pkg, c.test, c.imports)
		assert.Equal(t, c.allowed, got == "", "%s importing %s (test: %t): %q", c.pkg, c.imports, c.test, got)
	}
}
