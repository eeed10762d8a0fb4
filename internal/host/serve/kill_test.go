package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/internal/host/task"
	"github.com/kandev/assent/internal/testlog"
)

// victimVariable is the data folder of a server that is going to be killed.
const victimVariable = "ASSENT_SERVE_TEST_DATA"

// victim is a server that says where it is and runs until its input ends.
func victim() int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	dir := os.Getenv(victimVariable)
	c := Config{
		Listen: "127.0.0.1:0", Data: dir, Offers: Offers{NoSurfaceAfter: -1},
		Agents: map[string]Agent{"keeper": {ID: "claude-acp", Command: []string{self}, Env: map[string]string{roleVariable: "keeper"}, Directory: dir}},
	}
	o, _, err := compose(context.Background(), c, new(testlog.Buffer))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s, err := New(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(s.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// startVictim starts one and gives its address.
func startVictim(t *testing.T, dir string) (kill func(), url string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"=server", victimVariable+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = in.Close()
	})
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return kill, strings.TrimSpace(line)
}

// promised is what the server has said yes to, over all its runs.
type promised struct {
	mu       sync.Mutex
	tasks    map[task.ID]bool // whether it was stopped
	quiet    []task.ID        // without an agent
	asking   []task.ID        // with an agent
	answered map[string]int   // by request: how often somebody heard that their answer counts
	records  map[string]bool  // lines of the audit that were shown
}

// operate does one random thing. It is fine that the server dies meanwhile.
func (w *promised) operate(p *peer) {
	w.mu.Lock()
	quiet := pick(w.quiet)
	asking := pick(w.asking)
	w.mu.Unlock()
	switch n := rand.IntN(100); {
	case n < 40:
		if m, ok := p.call("task.start", `{"title":"note"}`); ok {
			w.mu.Lock()
			defer w.mu.Unlock()
			id := m.task(p.t)
			w.tasks[id], w.quiet = false, append(w.quiet, id)
		}
	case n < 60:
		p.call("task.prompt", fmt.Sprintf(`{"task":%q,"text":"offer"}`, asking))
	case n < 85:
		w.answer(p)
	case n < 90:
		if m, ok := p.call("task.stop", fmt.Sprintf(`{"task":%q}`, quiet)); ok && m.Error == nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.tasks[quiet] = true
		}
	default:
		w.look(p)
	}
}

func (m message) task(t testing.TB) task.ID {
	var made wireTask
	assert.Nil(t, m.Error)
	assert.NoError(t, json.Unmarshal(m.Result, &made))
	return made.ID
}

func pick[T any](list []T) (one T) {
	if len(list) > 0 {
		one = list[rand.IntN(len(list))]
	}
	return one
}

// answer answers a random offer; others may do the same at the same time.
func (w *promised) answer(p *peer) {
	m, ok := p.call("permission.list", "{}")
	var open struct {
		Offers []wireOffer `json:"offers"`
	}
	if !ok || json.Unmarshal(m.Result, &open) != nil || len(open.Offers) == 0 {
		return
	}
	offer := pick(open.Offers)
	var result answeredResult
	m, ok = p.call("permission.resolve", offer.resolve(pick([]string{`{"choice":"allow"}`, `{"choice":"deny"}`})))
	if ok && m.Error == nil && json.Unmarshal(m.Result, &result) == nil && !result.Already {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.answered[offer.Request]++
	}
}

// look notes records of the audit that the server has shown.
func (w *promised) look(p *peer) {
	m, ok := p.call("audit.tail", `{"limit":50}`)
	var shown struct {
		Records []jsontext.Value `json:"records"`
	}
	if !ok || json.Unmarshal(m.Result, &shown) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range shown.Records {
		w.records[string(r)] = true
	}
}

// kept compares what was promised with what is there after the kill.
func (w *promised) kept(t *testing.T, p *peer, dir string) {
	t.Helper()
	var list struct {
		Tasks []wireTask `json:"tasks"`
	}
	p.ask("task.list", "{}", &list)
	states := map[task.ID]task.State{}
	for _, each := range list.Tasks {
		states[each.ID] = each.State
	}
	for id, ended := range w.tasks {
		require.Contains(t, states, id, "an acknowledged task is lost")
		if ended {
			require.Equal(t, task.Stopped, states[id], "an acknowledged stop is lost")
		}
	}
	answers, lines := map[string]int{}, map[string]bool{}
	require.NoError(t, audit.Read(AuditFile(dir), func(l audit.Line) error {
		lines[string(l.Text)] = true
		if l.Err == nil && l.Record.Event == audit.Answer && l.Record.By != "" {
			answers[l.Record.Request]++
		}
		return nil // a line that is cut belongs to the moment of the kill
	}))
	for r := range w.records {
		require.True(t, lines[r], "an acknowledged audit record is lost: %s", r)
	}
	for id, n := range w.answered {
		require.Equal(t, 1, n, "an offer was answered twice")
		require.Equal(t, 1, answers[id], "an acknowledged answer is not in the audit")
	}
	for id, n := range answers {
		require.Equal(t, 1, n, "offer %s has two answers in the audit", id)
	}
	text, err := os.ReadFile(filepath.Join(dir, answersFile))
	if err == nil {
		got := strings.Fields(string(text))
		slices.Sort(got)
		require.Len(t, slices.Compact(slices.Clone(got)), len(got), "an agent got two answers to one request")
	}
}

const (
	kills      = 20
	operations = 200
	clients    = 4
)

// The server is killed in the middle of random operations, again and again: nothing
// that it has said yes to is lost, and no offer is answered twice.
func TestKilledInTheMiddle(t *testing.T) {
	dir, err := os.MkdirTemp("", "assent")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	beginIn(t, dir, nil).stop() // tokens are for folders that a server knows
	out, err := command(t, dir, TokenRequest{Command: "create", Name: "desk", Scopes: all})
	require.NoError(t, err)
	secret := secretForm.FindString(out)
	w := &promised{tasks: map[task.ID]bool{}, answered: map[string]int{}, records: map[string]bool{}}
	for run := range kills {
		if testing.Short() && run == 3 {
			break
		}
		kill, url := startVictim(t, dir)
		first := dial(t, url, secret)
		w.kept(t, first, dir)
		if run == 0 {
			for range 3 {
				made := first.start("asks", "offer")
				w.tasks[made.ID], w.asking = false, append(w.asking, made.ID)
			}
		}
		w.killed(t, url, secret, kill)
	}
	_, url := startVictim(t, dir)
	w.kept(t, dial(t, url, secret), dir)
	assert.NotEmpty(t, w.answered, "offers were answered")
	assert.NotEmpty(t, w.records, "records were shown")
	t.Logf("%d tasks, %d answers, %d audit records were acknowledged", len(w.tasks), len(w.answered), len(w.records))
}

// killed lets clients operate, and kills the server while they do.
func (w *promised) killed(t *testing.T, url, secret string, kill func()) {
	t.Helper()
	end := int64(rand.IntN(operations-operations/4) + operations/4)
	var begun atomic.Int64
	var running sync.WaitGroup
	for range clients {
		p := dial(t, url, secret)
		running.Go(func() {
			for range operations / clients {
				if begun.Add(1) == end {
					go kill()
				}
				w.operate(p)
			}
		})
	}
	running.Wait()
	kill()
}
