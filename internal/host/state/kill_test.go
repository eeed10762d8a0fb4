package state

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writeForEver is the child: it writes, and says what was acknowledged.
func writeForEver(dir string) {
	ctx := context.Background()
	s, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	b, err := s.Bucket(ctx, "things")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	revisions := map[string]uint64{}
	for n := 0; ; n++ {
		key, value := fmt.Sprintf("%d.%d", os.Getpid(), n%7), fmt.Sprint(n)
		if revisions[key] == 0 {
			revisions[key], err = b.Create(ctx, key, []byte(value))
		} else {
			revisions[key], err = b.Update(ctx, key, []byte(value), revisions[key])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(key, value)
	}
}

// A process that is killed while it writes loses nothing that was acknowledged,
// and the next one starts at once.
func TestKilledWriterLosesNothing(t *testing.T) {
	dir, acknowledged := t.TempDir(), map[string]string{}
	for round := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), childDir+"="+dir), os.Stderr
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines, before := bufio.NewScanner(stdout), len(acknowledged)
		for n := 0; lines.Scan(); n++ { // also what it wrote in the moment of its end
			key, value, ok := strings.Cut(lines.Text(), " ")
			require.True(t, ok)
			acknowledged[key] = value
			if n == 20+17*round {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		require.Error(t, cmd.Wait(), "it was killed")
		require.Equal(t, before+7, len(acknowledged))

		s := open(t, Options{Dir: dir})
		stored := values(t, bucket(t, s, "things"))
		require.NoError(t, s.Close())
		for key, value := range acknowledged {
			var got, want int
			_, err := fmt.Sscan(stored[key]+" "+value, &got, &want)
			require.NoError(t, err, key)
			assert.Contains(t, []int{want, want + 7}, got, "%s: the last one may not have been said", key)
			acknowledged[key] = stored[key]
		}
	}
}
