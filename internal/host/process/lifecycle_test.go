package process

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/host/pending"
	"github.com/kandev/assent/stages"
)

func TestL25_NoManagerWithoutAnybodyToAsk(t *testing.T) {
	factory, err := stages.NewDefaultFactory()
	require.NoError(t, err)
	store := pending.New(pending.Config{})
	defer store.Close()
	_, err = NewManager(Options{Pipelines: factory})
	assert.ErrorIs(t, err, ErrNoStore)
	_, err = NewManager(Options{Store: store})
	assert.ErrorIs(t, err, ErrNoPipelines)
	_, err = NewManager(Options{Pipelines: factory, Store: store})
	assert.NoError(t, err)
}

func TestStartsThatFail(t *testing.T) {
	short := func(o *Options, _ *Launch) { o.Timeouts.Initialize = 3 * time.Second }
	for name, test := range map[string]struct {
		agent  string
		change func(*Options, *Launch)
		want   string
		stderr string
	}{
		"no such program": {"", func(_ *Options, l *Launch) { l.Command.Path = "assent-no-such-agent" },
			`child: cannot start "assent-no-such-agent": executable file not found in $PATH`, ""},
		"no such directory": {"", func(_ *Options, l *Launch) { l.Command.Dir = "/assent/no/such" },
			`child: cannot start "process.test": no such file or directory`, ""},
		"dies at start":         {"dies at start", nil, "process: the agent ended by itself: exit status 3", `\x1b[31mno such licence\u202e`},
		"never answers":         {"never answers", short, "process: the agent did not answer initialize within 3s", "please log in first"},
		"answers with garbage":  {"answers with garbage", nil, ErrHandshake.Error(), ""},
		"answers with an error": {"answers with an error", nil, "process: the agent answered initialize with error -32000", ""},
		"another version":       {"another version", nil, "process: the agent speaks version 7 of the Agent Client Protocol, not 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			change := test.change
			if change == nil {
				change = func(*Options, *Launch) {}
			}
			s := newStage(t, test.agent, change, injected(nil))
			_, err := s.manager.Start(t.Context(), s.launch)
			require.EqualError(t, err, test.want)
			assert.Empty(t, s.manager.Instances(), "nothing may be left of it")
			stderr := ""
			if exit, ok := errors.AsType[*ExitError](err); ok {
				stderr = exit.Stderr
			} else if handshake, ok := errors.AsType[*HandshakeError](err); ok {
				stderr = handshake.Stderr
			}
			assert.Equal(t, test.stderr, stderr)
		})
	}
}

func TestAStartCanBeGivenUp(t *testing.T) {
	s := newStage(t, "never answers")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("changed my mind")
	go cancel(why)
	_, err := s.manager.Start(ctx, s.launch)
	assert.ErrorIs(t, err, why)
}

func TestAnErrorOfTheAgentIsForEyesOnly(t *testing.T) {
	s := newStage(t, "answers with an error")
	_, err := s.manager.Start(t.Context(), s.launch)
	rpc, ok := errors.AsType[*RPCError](err)
	require.True(t, ok)
	assert.Equal(t, `no, \x1b[2J {"x":1}`, rpc.Detail)
	assert.Equal(t, -32000, rpc.Code)
}

func TestBannersAndProgressAreNoTrouble(t *testing.T) {
	s := newStage(t, "prints banners")
	s.turn(t, s.session(t), "go")
}

func TestAnAgentThatExitsInMidTurn(t *testing.T) {
	s := newStage(t, "exits mid-turn")
	session := s.session(t)
	turn := s.prompt(t, session, "go")
	q := s.next(t)
	require.NoError(t, session.instance.conn.out.push(outLine{line: []byte(`{}`)})) // let it go on
	err := receive(t, turn)
	exit, ok := errors.AsType[*ExitError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, 7, exit.State.ExitCode())
	assert.Equal(t, "panic: out of ideas", exit.Stderr)
	wait(t, session.instance.Done())
	assert.ErrorIs(t, session.instance.Err(), exit)
	q.over(t, pending.CodeStale, pending.ReasonInstanceGone)
	assert.False(t, receive(t, s.answered).Sent)
	assert.Equal(t, []string{"{}"}, s.tape.answers(), "nobody is left to be answered")

	_, err = session.Prompt(t.Context(), "again")
	assert.ErrorIs(t, err, ErrEnded)
	assert.ErrorIs(t, session.Cancel(), ErrEnded)
}

func TestAnAgentThatClosesItsOutput(t *testing.T) {
	s := newStage(t, "closes its output", func(o *Options, _ *Launch) { o.Timeouts.Close, o.Timeouts.Term = time.Millisecond, time.Millisecond })
	session := s.session(t)
	err := receive(t, s.prompt(t, session, "go"))
	assert.ErrorIs(t, err, ErrOutputClosed)
	wait(t, session.instance.Done())
}

func TestTheEndOfALongStderrIsKept(t *testing.T) {
	s := newStage(t, "ends with its stderr")
	i := s.session(t).instance
	i.Stop(t.Context())
	assert.NoError(t, i.Err())
	assert.Equal(t, "the end", i.Stderr())
}

func TestStopping(t *testing.T) {
	for name, test := range map[string]struct {
		agent       string
		close, term time.Duration
		signal      syscall.Signal // 0: it ends by itself
	}{
		"an agent that ends with its input": {"prints banners", patience, patience, 0},
		"one that ignores it":               {"ignores its stdin", time.Millisecond, patience, syscall.SIGTERM},
		"one that ignores SIGTERM as well":  {"ignores SIGTERM", time.Millisecond, time.Millisecond, syscall.SIGKILL},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("no signals")
			}
			s := newStage(t, test.agent, func(o *Options, _ *Launch) { o.Timeouts.Close, o.Timeouts.Term = test.close, test.term })
			i := s.session(t).instance
			if test.agent == "ignores SIGTERM" {
				s.heard(t, "deaf")
			}
			s.manager.Stop(t.Context())
			wait(t, i.Done())
			assert.NoError(t, i.Err())
			status := i.child.State().Sys().(syscall.WaitStatus)
			assert.Equal(t, test.signal != 0, status.Signaled())
			if test.signal != 0 {
				assert.Equal(t, test.signal, status.Signal())
			}
			_, err := s.manager.Start(t.Context(), s.launch)
			assert.ErrorIs(t, err, ErrStopped)
		})
	}
}

func TestNothingIsLeftInTheProcessGroup(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process groups")
	}
	s := newStage(t, "leaves a child")
	session := s.session(t)
	pid, err := strconv.Atoi(receive(t, s.says))
	require.NoError(t, err)
	child, err := os.FindProcess(pid)
	require.NoError(t, err)
	session.instance.Stop(t.Context())
	// It was killed, but somebody else has to wait for it.
	require.Eventually(t, func() bool { return gone(child) }, patience, time.Millisecond)
}

// gone says whether a process is dead, waited for or not.
func gone(p *os.Process) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/stat")
	if err == nil {
		_, after, _ := strings.Cut(string(stat), ") ")
		return strings.HasPrefix(after, "Z")
	}
	return p.Signal(syscall.Signal(0)) != nil
}

func TestAnAgentThatDoesNotReadItsAnswers(t *testing.T) {
	s := newStage(t, "never reads answers", func(o *Options, _ *Launch) { o.Timeouts.Close = time.Millisecond })
	session := s.session(t)
	assert.ErrorIs(t, receive(t, s.prompt(t, session, "go")), ErrNotReading)
	wait(t, session.instance.Done())
}

func TestTenThousandUpdatesAndASlowReader(t *testing.T) {
	s := newStage(t, "floods")
	var got []string
	first, goOn := make(chan struct{}), make(chan struct{})
	s.onUpdate = func(_ context.Context, v View) {
		if got = append(got, v.Text); len(got) == 1 {
			close(first)
			<-goOn
		}
	}
	session := s.session(t)
	turn := s.prompt(t, session, "go")
	wait(t, first)
	select {
	case <-turn:
		t.Fatal("the turn has ended before its updates were seen")
	default:
	}
	close(goOn)
	require.NoError(t, receive(t, turn))
	require.Len(t, got, flood)
	for n, text := range got {
		require.Equal(t, strconv.Itoa(n), text)
	}
}

func TestWhatAnAgentSaidBeforeItEndedIsNotLost(t *testing.T) {
	s := newStage(t, "last words", func(o *Options, _ *Launch) { o.Timeouts.drain = time.Millisecond })
	var i *Instance
	var got []string
	started := make(chan struct{})
	s.onUpdate = func(_ context.Context, v View) {
		if got = append(got, v.Text); len(got) == 1 {
			<-started
			<-i.child.Exited()
			<-time.After(20 * time.Millisecond) // the deadline passes
		}
	}
	session := s.session(t)
	i = session.instance
	close(started)
	wait(t, i.Done())
	assert.Len(t, got, 100)
}

func TestL04_AKilledAgentDropsItsOffers(t *testing.T) {
	const open = 100
	s := newStage(t, "asks by words")
	session := s.session(t)
	s.turn(t, session, strings.Repeat("offer 1 s1 c\n", open)+"end")
	var questions []asked
	for range open {
		questions = append(questions, s.next(t))
	}
	require.NoError(t, kill(session.instance))
	wait(t, session.instance.Done())
	for _, q := range questions {
		q.over(t, pending.CodeStale, pending.ReasonInstanceGone)
		assert.False(t, receive(t, s.answered).Sent)
	}
	assert.Empty(t, s.tape.answers())
	assert.Zero(t, s.store.Len())
}

func TestAWatcherThatNeverReturnsDoesNotOutliveTheAgent(t *testing.T) {
	s := newStage(t, "floods")
	stuck := make(chan struct{}, flood)
	s.onUpdate = func(ctx context.Context, _ View) { stuck <- struct{}{}; <-ctx.Done() }
	session := s.session(t)
	_ = s.prompt(t, session, "go")
	receive(t, stuck)
	session.instance.Stop(t.Context())
}

func TestL32_ALineThatIsTooLongIsSkipped(t *testing.T) {
	s := newStage(t, "asks by words", func(o *Options, _ *Launch) { o.MaxLine = 4 << 10 })
	session := s.session(t)
	s.turn(t, session, strings.Repeat("x", 5000)+"\nend")
	s.turn(t, session, "end")
}
