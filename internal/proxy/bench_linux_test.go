package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/ratio"
)

// benchTarget is the MCP server that is injected.
func benchTarget(b *testing.B) string {
	s := mcp.NewServer(&mcp.Implementation{Name: "target", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "create_task_kandev", InputSchema: map[string]any{"type": "object"}}, nil)
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	b.Cleanup(server.Close)
	return server.URL + "/mcp"
}

// bencher starts relays between itself and the bench agent.
type bencher struct {
	b      *testing.B
	assent string // the program
	target string
	self   string
}

func newBencher(b *testing.B) *bencher {
	self, err := os.Executable()
	require.NoError(b, err)
	assent := filepath.Join(b.TempDir(), "assent")
	out, err := exec.Command("go", "build", "-o", assent, "../../cmd/assent").CombinedOutput()
	require.NoError(b, err, string(out))
	return &bencher{b: b, assent: assent, target: benchTarget(b), self: self}
}

// relayed is one relay process with the bench agent behind it; the benchmark is the
// client.
type relayed struct {
	b   *testing.B
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (x *bencher) proxy() *relayed {
	return x.start(exec.Command(x.assent, "proxy", "--agent", "claude-acp", "--inject", "kandev="+x.target, "--", x.self), "bench agent")
}

func (x *bencher) plain() *relayed { return x.start(exec.Command(x.self, x.self), "plain relay") }

func (x *bencher) sockets() *relayed { return x.start(exec.Command(x.self, x.self), "socket relay") }

func (x *bencher) alone() *relayed { return x.start(exec.Command(x.self), "bench agent") }

func (x *bencher) start(cmd *exec.Cmd, role string) *relayed {
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(x.b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(x.b, err)
	require.NoError(x.b, cmd.Start())
	return &relayed{b: x.b, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

// session opens the one session, so that the agent has contacted the injected server.
func (r *relayed) session() *relayed {
	r.say(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	line := r.read()
	require.Contains(r.b, line, `"sessionId":"s"`)
	return r
}

func (r *relayed) say(line string) {
	_, err := io.WriteString(r.in, line+"\n")
	require.NoError(r.b, err)
}

func (r *relayed) read() string {
	line, err := r.out.ReadString('\n')
	require.NoError(r.b, err)
	return line
}

func (r *relayed) end() {
	_ = r.in.Close()
	_, _ = io.Copy(io.Discard, r.out)
	_ = r.cmd.Wait()
}

var answerHead = []byte(`"method":"session/request_permission"`)

// run gives an order, answers what is asked, and waits for the end. It counts the
// other lines.
func (r *relayed) run(method string, o order) (count int, p50, p99 float64) {
	params, err := json.Marshal(o)
	require.NoError(r.b, err)
	r.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"_bench/%s","params":%s}`, method, params))
	for {
		line, err := r.out.ReadSlice('\n')
		for err == bufio.ErrBufferFull { // a long notification
			line, err = r.out.ReadSlice('\n')
		}
		require.NoError(r.b, err)
		head := line[:min(len(line), 120)]
		switch {
		case bytes.Contains(head, answerHead):
			_, id, _ := bytes.Cut(head, []byte(`"id":`))
			id, _, _ = bytes.Cut(id, []byte(","))
			r.say(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"outcome":{"outcome":"selected","optionId":"allow-once"}}}`)
		case bytes.Contains(head, []byte("_bench/done")):
			var m struct {
				Params struct{ P50, P99 float64 } `json:"params"`
			}
			require.NoError(r.b, json.Unmarshal(line, &m, json.MatchCaseInsensitiveNames(true)))
			return count, m.Params.P50, m.Params.P99
		default:
			count++
		}
	}
}

// cpu is the time that the relay process was on a processor, in nanoseconds.
func (r *relayed) cpu() (sum float64) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", r.cmd.Process.Pid))
	require.NoError(r.b, err)
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // a thread that has ended
		}
		n, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
		require.NoError(r.b, err)
		sum += n
	}
	return sum
}

// peak is the most memory that the relay process had, in MiB.
func (r *relayed) peak() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	require.NoError(r.b, err)
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	require.NoError(r.b, err)
	return n / 1024
}

// BenchmarkRatioRelay measures the relay against a plain one, each in a process of
// its own, with an agent and a client that are others.
func BenchmarkRatioRelay(b *testing.B) {
	x := newBencher(b)
	subject, reference := x.proxy().session(), x.plain().session()
	defer subject.end()
	defer reference.end()

	for _, f := range []struct {
		name  string
		order order
		limit float64
	}{
		{"proxy-cpu/plain-relay-200B", order{N: 50_000, Size: 200}, 2.5},
		{"proxy-cpu/plain-relay-2kB", order{N: 20_000, Size: 2000}, 1.25},
		{"proxy-cpu/plain-relay-64kB", order{N: 2000, Size: 64_000}, 1.25},
	} {
		cpu := func(r *relayed) func() float64 {
			return func() float64 {
				before := r.cpu()
				count, _, _ := r.run("flood", f.order)
				require.Equal(b, f.order.N, count)
				return r.cpu() - before
			}
		}
		ratio.Compare(b, f.name, f.limit, 11, cpu(subject), cpu(reference))
	}

	wall := func(r *relayed) func() float64 {
		return func() float64 {
			start := time.Now()
			r.run("flood", order{N: 10, Size: 10_000_000})
			return float64(time.Since(start).Nanoseconds())
		}
	}
	ratio.Compare(b, "proxy-wall/plain-relay-10MB", 1.1, 11, wall(subject), wall(reference))
}

// BenchmarkRatioRoundTrips measures how long an agent waits for its answers, against two
// relays that look at nothing: one that has sockets towards the agent, as ours has to
// have them so that nobody forges an answer, and one with pipes. The goals are for the
// first one, the cost of the relay; the second one shows what the sockets cost besides.
func BenchmarkRatioRoundTrips(b *testing.B) {
	x := newBencher(b)
	subject, sockets, pipes := x.proxy().session(), x.sockets().session(), x.plain().session()
	defer subject.end()
	defer sockets.end()
	defer pipes.end()
	for label, size := range map[string]int{"1kB": 1000, "20kB": 20_000} {
		o := order{N: 1000, Size: size, Tool: "Bash"}
		compareTrips(b, "forwarded", "plain-socket-relay-"+label, subject, sockets, o, 1.1, 1.25)
		compareTrips(b, "forwarded", "plain-pipe-relay-"+label, subject, pipes, o, 1.5, 1.5)
		compareTrips(b, "plain-socket-relay", "plain-pipe-relay-"+label, sockets, pipes, o, 1.5, 1.5)
	}
	const tool = "mcp__kandev__create_task_kandev"
	for _, f := range []struct {
		label string
		size  int
		n     int
		limit float64
	}{{"1kB", 1000, 200, 0.8}, {"20kB", 20_000, 200, 1.2}, {"1MB", 1_000_000, 20, 1.2}} {
		measure := func(tool string) func() float64 {
			return func() float64 { _, p50, _ := subject.run("ask", order{N: f.n, Size: f.size, Tool: tool}); return p50 }
		}
		ratio.Compare(b, "approved-p50/forwarded-p50-"+f.label, f.limit, 9, measure(tool), measure("Bash"))
	}
}

// compareTrips compares the median and the 99th percentile of the same round trips.
func compareTrips(b *testing.B, name, against string, subject, reference *relayed, o order, limit50, limit99 float64) {
	var ratios99 []float64
	ratio.Compare(b, name+"-p50/"+against, limit50, 11,
		func() float64 { _, p50, p99 := subject.run("ask", o); ratios99 = append(ratios99, p99); return p50 },
		func() float64 {
			_, p50, p99 := reference.run("ask", o)
			ratios99[len(ratios99)-1] /= p99
			return p50
		})
	n := 0
	ratio.Compare(b, name+"-p99/"+against, limit99, len(ratios99),
		func() float64 { n++; return ratios99[n-1] }, func() float64 { return 1 })
}

// BenchmarkRatioBurst measures memory while the client does not read.
func BenchmarkRatioBurst(b *testing.B) {
	x := newBencher(b)
	r := x.proxy().session()
	defer r.end()
	r.say(`{"jsonrpc":"2.0","method":"_bench/flood","params":{"n":60000,"size":200}}`)
	count := 0
	for line := ""; !strings.Contains(line, "_bench/done"); count++ {
		line = r.read()
		if count%6000 == 0 {
			time.Sleep(50 * time.Millisecond) // a slow reader
		}
	}
	require.Equal(b, 60_001, count)
	ratio.Value(b, "burst-60000x200B-peak-MiB", r.peak(), 64)
}

// BenchmarkRatioStart measures what the relay adds to an agent's start.
func BenchmarkRatioStart(b *testing.B) {
	x := newBencher(b)
	first := func(start func() *relayed) func() float64 {
		return func() float64 {
			begin := time.Now()
			r := start()
			r.run("flood", order{N: 1, Size: 200})
			took := float64(time.Since(begin).Microseconds()) / 1000
			r.end()
			return took
		}
	}
	ratio.Differ(b, "start-to-first-frame-ms-more", 30, 11, first(x.proxy), first(x.alone))
}
