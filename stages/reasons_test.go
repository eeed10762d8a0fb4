package stages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reasonConstants reads the reasons out of the source of a package: constant
// name to text.
func reasonConstants(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	reasons := map[string]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
				return true
			}
			if text, ok := spec.Values[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
				reasons[spec.Names[0].Name], err = strconv.Unquote(text.Value)
				require.NoError(t, err)
			}
			return true
		})
	}
	require.NotEmpty(t, reasons)
	return reasons
}

// A reason that two exits share would explain neither.
func TestReasonsAreDistinct(t *testing.T) {
	owner := map[string]string{}
	for _, dir := range []string{".", "../pipeline", "../dialects"} {
		for name, text := range reasonConstants(t, dir) {
			full := dir + "." + name
			assert.Regexp(t, `^[a-z]+(_[a-z]+)*$`, text, full)
			assert.Empty(t, owner[text], "%s and %s are both %q", full, owner[text], text)
			owner[text] = full
		}
	}
}

// Every way out of a stage has a row in its table.
func TestEveryReasonHasARow(t *testing.T) {
	tests, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var source strings.Builder
	for _, file := range tests {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		source.Write(text)
	}
	for name := range reasonConstants(t, ".") {
		assert.Contains(t, source.String(), "stages."+name, "no test mentions this reason")
	}
}
