package serve

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/need"
)

// npmSource is where it stands which packages of npm the tests need.
const npmSource = "testdata/npm"

// npmFolder is where "make npm" installs them.
func npmFolder() (string, error) {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(home, ".cache")
	}
	folder := filepath.Join(cache, "assent-test")
	want, err := os.ReadFile(filepath.Join(npmSource, "package-lock.json"))
	if err != nil {
		return "", err
	}
	have, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return "", fmt.Errorf("%w: \"make npm\" installs them", err)
	}
	if !bytes.Equal(want, have) {
		return "", errors.New("those of another version are installed: \"make npm\" installs them anew")
	}
	_, err = os.Stat(filepath.Join(folder, "node_modules", ".bin", "node"))
	return folder, err
}

// npmPackages is the folder with the packages.
func npmPackages(t testing.TB) string {
	t.Helper()
	folder, err := npmFolder()
	need.Of(t, "packages of npm", err)
	return folder
}

// node is the command of Node.js, one of the packages, in the folder of the packages.
func node(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	folder := npmPackages(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(folder, "node_modules", ".bin", "node"), args...)
	cmd.Dir = folder
	return cmd
}

// client runs testdata/npm/client.mjs, which is read from the input so that its imports
// are those of the folder, and gives the line that it prints.
func (s stolen) client(t testing.TB, calls string) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(npmSource, "client.mjs"))
	require.NoError(t, err)
	cmd := node(t, "--input-type=module", "-", s.url, calls)
	cmd.Env = append(os.Environ(), "AUTHORIZATION="+s.authorization)
	cmd.Stdin = bytes.NewReader(script)
	var trouble strings.Builder
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	require.NoError(t, err, trouble.String())
	return string(out)
}
