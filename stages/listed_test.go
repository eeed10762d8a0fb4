package stages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
)

// A stage whose file is there, but that no order has, would never run.
func TestEveryStageIsListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var named pipeline.Order
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasSuffix(spec.Names[0].Name, "Name") {
				return true
			}
			literal, ok := spec.Values[0].(*ast.BasicLit)
			require.True(t, ok, spec.Names[0].Name)
			name, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			named = append(named, pipeline.Name(name))
			return true
		})
	}
	assert.ElementsMatch(t, stages.HostOrder(), named, "give it a line in DefaultOrder, in Builtin and in wiring/stages.go")
}

func TestHostOrder(t *testing.T) {
	assert.Equal(t, pipeline.Order{
		stages.BlanketName, stages.IdentityName, stages.DialectName, stages.ProvenanceName, stages.WitnessName, stages.OptionName, stages.PendingName,
	}, stages.HostOrder())
	_, err := stages.NewPipelineFactory(stages.HostOrder(), append(stages.Builtin(index(t, speaker{})), stages.WitnessFactory()))
	assert.NoError(t, err)
}
