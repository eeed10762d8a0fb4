package serve

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
)

// A folder becomes its owner's alone when it is new, empty or ours. One of somebody
// else, such as /tmp, stays as it is, whatever names are in it.
func TestWhoseTheDataFolderIs(t *testing.T) {
	book := filepath.Join(t.TempDir(), "book")
	log, err := audit.Open(book, audit.Options{})
	require.NoError(t, err)
	log.Append(audit.Record{Event: audit.Stop, Task: "t"})
	require.NoError(t, log.Close(t.Context()))
	record, err := os.ReadFile(book)
	require.NoError(t, err)
	require.NotEmpty(t, record)
	for name, test := range map[string]struct {
		holds map[string]string // by the name: what is in it; a folder ends with /
		ours  bool
		used  bool
	}{
		"empty":                        {nil, true, false},
		"the top of a disk":            {map[string]string{"lost+found/": ""}, true, false},
		"used":                         {map[string]string{"state/jetstream/": "", "state.lock": "1", "notes.txt": ""}, true, true},
		"used with a cluster":          {map[string]string{"audit.jsonl": string(record), "audit.jsonl.000001": string(record), "notes.txt": ""}, true, true},
		"a cut line comes first":       {map[string]string{"audit.jsonl.000001": string(record[:9]), "audit.jsonl": string(record), "notes.txt": ""}, true, true},
		"its newest audit is empty":    {map[string]string{"audit.jsonl": "", "audit.jsonl.000001": string(record)}, true, true},
		"its state was moved away":     {map[string]string{"audit.jsonl": string(record), "state.lock": "1"}, true, true},
		"cut off at once":              {map[string]string{"state/": ""}, true, false},
		"cut off then":                 {map[string]string{"state/jetstream/": "", "state.lock": "", "audit.jsonl": ""}, true, true},
		"of somebody else":             {map[string]string{"notes.txt": ""}, false, false},
		"with a state":                 {map[string]string{"state/": "", "notes.txt": ""}, false, false},
		"with another's state":         {map[string]string{"state/terraform.tfstate": "{}"}, false, false},
		"with another's state, locked": {map[string]string{"state/terraform.tfstate": "{}", "state.lock": ""}, false, false},
		"with another's lock":          {map[string]string{"state.lock": "", "thesis.tex": ""}, false, false},
		"with a folder as a lock":      {map[string]string{"state/jetstream/": "", "state.lock/": "", "thesis.tex": ""}, false, false},
		"with another's audit":         {map[string]string{"audit.jsonl": "{}\n", ".git/": ""}, false, false},
		"with another's audit alone":   {map[string]string{"audit.jsonl": "{}\n"}, false, false},
		"with an empty audit":          {map[string]string{"audit.jsonl": "", ".git/": ""}, false, false},
		"with another's control.sock":  {map[string]string{"control.sock": "mine"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			require.NoError(t, os.Mkdir(dir, 0o755))
			for file, text := range test.holds {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if strings.HasSuffix(file, "/") {
					require.NoError(t, os.MkdirAll(path, 0o755))
					continue
				}
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			err := PrepareData(dir)
			info, statErr := os.Stat(dir)
			require.NoError(t, statErr)
			if test.ours {
				require.NoError(t, err)
				assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
			} else {
				assert.ErrorContains(t, err, "is not empty and no server was ever started with it")
				assert.Equal(t, os.FileMode(0o755), info.Mode().Perm())
			}
			assert.Equal(t, test.used, usedData(dir) == nil)
		})
	}
}

// What a server was killed with is ours, and used.
func TestADataFolderAfterAKill(t *testing.T) {
	r := begin(t, nil)
	r.stop()
	abandonedSocket(t, filepath.Join(r.dir, controlName))
	assert.NoError(t, PrepareData(r.dir))
	assert.NoError(t, usedData(r.dir))
}

// The folder of somebody else is named, with whose it is.
func TestADataFolderThatMayNotBeUsed(t *testing.T) {
	refused := dataError("/srv", &fs.PathError{Op: "chmod", Path: "/srv", Err: syscall.EPERM})
	assert.ErrorIs(t, refused, fs.ErrPermission)
	assert.ErrorContains(t, refused, `the data folder "/srv", or one around it, belongs to another user: run as that user, or name another one with --data (operation not permitted)`)
	full := dataError("/srv", &fs.PathError{Op: "mkdir", Path: "/srv", Err: syscall.ENOSPC})
	assert.NotContains(t, full.Error(), "another user")
}

func TestWhereTheDataIs(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	dir, err := DefaultData("assent")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join("/state", "assent"), dir)
	t.Setenv("XDG_STATE_HOME", "relative")
	dir, err = DefaultData("assent")
	require.NoError(t, err)
	assert.True(t, filepath.IsAbs(dir))
}
