package dialects_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/dialects"
)

// sources parses the package's own files, tests left out.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	files := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files[name] = f
	}
	return files
}

// A type with a Claim method that nobody lists would be a dialect that never runs.
func TestEveryDialectIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, d := range dialects.All() {
		listed[strings.TrimPrefix(fmt.Sprintf("%T", d), "dialects.")] = true
	}
	found := 0
	for name, f := range sources(t) {
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Claim" {
				continue
			}
			found++
			typ := fn.Recv.List[0].Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			assert.Truef(t, listed[typ.(*ast.Ident).Name], "%s: type %s implements Dialect but has no line in All (dialects.go)", name, typ)
		}
	}
	assert.Equal(t, len(listed), found)
}

// Reasons are a public contract: unique, in one spelling, and never made of
// anything that a request holds.
func TestReasonsAreUniqueConstants(t *testing.T) {
	spelling := regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`)
	where := map[string]string{}
	for name, f := range sources(t) {
		for _, decl := range f.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.ValueSpec)
				if !strings.HasPrefix(spec.Names[0].Name, "Reason") {
					continue
				}
				value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				assert.Regexp(t, spelling, value)
				assert.Emptyf(t, where[value], "%s: reason %q is another one's", name, value)
				where[value] = name
			}
		}
	}
	assert.NotEmpty(t, where)
}

// A folder of frames without an agent.json would not be seen at start-up.
func TestEveryCorpusFolderSaysWhatItIs(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() && e.Name() != "fuzz" {
			assert.FileExists(t, filepath.Join("testdata", e.Name(), "agent.json"))
		}
	}
}
