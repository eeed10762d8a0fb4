package replay

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/stages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newRunner composes what the commands compose: the default order, all dialects.
func newRunner(t testing.TB) Runner {
	t.Helper()
	set, err := dialects.Index(dialects.All())
	require.NoError(t, err)
	pipelines, err := stages.NewDefaultFactory()
	require.NoError(t, err)
	return Runner{Pipelines: pipelines, Dialects: set}
}

// recordings lists the recorded files, without their expectations.
func recordings(t testing.TB) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(filepath.Join("testdata", "recordings"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") && !strings.HasSuffix(path, ".want.jsonl") {
			files = append(files, path)
		}
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func caseFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// replay runs a recording that is given as text.
func replay(t testing.TB, text string, over Instance) ([]Decision, error) {
	t.Helper()
	var decisions []Decision
	err := newRunner(t).Recording(context.Background(), "x.jsonl", strings.NewReader(text), over, func(d Decision) error {
		decisions = append(decisions, d)
		return nil
	})
	return decisions, err
}

// check runs a case file that is given as text.
func check(t testing.TB, text string) ([]Outcome, error) {
	t.Helper()
	var outcomes []Outcome
	err := newRunner(t).Cases(context.Background(), "x.jsonl", strings.NewReader(text), func(o []Outcome) error {
		outcomes = append(outcomes, o...)
		return nil
	})
	return outcomes, err
}
