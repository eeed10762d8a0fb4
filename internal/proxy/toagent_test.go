package proxy

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// stuck is an agent that does not read until it is let.
type stuck struct {
	*side
	reads chan struct{} // closed when it does
}

func newStuck() *stuck { return &stuck{newSide(), make(chan struct{})} }

func (s *stuck) Write(p []byte) (int, error) {
	<-s.reads
	return s.side.Write(p)
}

// Our own lines wait for an agent that does not read, but not without a bound; the
// end frees whoever waits.
func TestOwnLinesWaitForTheAgent(t *testing.T) {
	const lines = 3 * maxQueued
	synctest.Test(t, func(t *testing.T) {
		agent := newStuck()
		a := newToAgent(agent, nil)
		var working sync.WaitGroup
		working.Go(a.serve)
		queued := 0
		working.Go(func() {
			for ; queued < lines; queued++ {
				a.queueLine([]byte(strconv.Itoa(queued)))
			}
		})
		synctest.Wait()
		assert.LessOrEqual(t, queued, 2*maxQueued, "those that are being written, and the queue")
		close(agent.reads)
		synctest.Wait()
		assert.Equal(t, lines, queued)
		a.stop()
		working.Wait()
		want := &strings.Builder{}
		for n := range lines {
			want.WriteString(strconv.Itoa(n) + "\n")
		}
		assert.Equal(t, want.String(), agent.read(), "in its order")
	})
	synctest.Test(t, func(t *testing.T) {
		agent := newStuck()
		a := newToAgent(agent, nil)
		var working sync.WaitGroup
		working.Go(func() {
			for range 2 * maxQueued {
				a.queueLine([]byte("x"))
			}
		})
		synctest.Wait()
		assert.Len(t, a.queue, maxQueued)
		a.stop()
		a.stop()
		working.Wait()
		assert.Empty(t, a.queue)
		a.queueLine([]byte("late"))
		assert.Empty(t, a.queue)
	})
}

// What is queued is written before any line of the client that comes later, and what
// is said behind a line follows it at once.
func TestTheOrderToTheAgent(t *testing.T) {
	agent := newSide()
	a := newToAgent(agent, nil)
	a.queueLine([]byte("one"))
	a.queueLine([]byte("two"))
	a.relay([]byte("three\r\n"), []byte("four"), []byte("five"))
	a.relay(nil)
	a.queueLine([]byte("six"))
	a.end()
	assert.Equal(t, "one\ntwo\nthree\r\nfour\nfive\nsix\n", agent.read())
	a.serve() // the end is there already
}

// Lines of two writers stay whole, and each one's order is kept.
func TestLinesStayWhole(t *testing.T) {
	const lines = 5000
	agent := newSide()
	a := newToAgent(agent, nil)
	var working, serving sync.WaitGroup
	serving.Go(a.serve)
	working.Go(func() {
		for n := range lines {
			a.queueLine([]byte("own " + strconv.Itoa(n)))
		}
	})
	working.Go(func() {
		for n := range lines {
			a.relay([]byte("client "+strconv.Itoa(n)+"\n"), []byte("behind "+strconv.Itoa(n)))
		}
	})
	working.Wait()
	a.end()
	serving.Wait()
	next, last := map[string]int{}, ""
	for line := range strings.Lines(agent.read()) {
		who, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		require.Equal(t, strconv.Itoa(next[who]), number, line)
		next[who]++
		require.Equal(t, who == "behind", last == "client", "nothing comes between a line and what is said behind it")
		last = who
	}
	assert.Equal(t, map[string]int{"own": lines, "client": lines, "behind": lines}, next)
}

// broken takes nothing.
type broken struct{ side }

var errBroken = errors.New("the other end has gone")

func (*broken) Write([]byte) (int, error) { return 0, errBroken }

// After a failed write nothing more is written to that side.
func TestABrokenEnd(t *testing.T) {
	a := newToAgent(&broken{}, nil)
	a.relay([]byte("one\n"))
	a.relay([]byte("two\n"))
	require.ErrorIs(t, a.err, errBroken)
	a.end()

	s := newSink(&broken{})
	require.NoError(t, s.relay([]byte("one\n"), true), "it waits for the next one")
	require.ErrorIs(t, s.relay([]byte("two\n"), false), errBroken)
	require.ErrorIs(t, s.relay([]byte("three\n"), true), errBroken)
	require.ErrorIs(t, s.send([]byte("four")), errBroken)
	require.ErrorIs(t, s.settle(), errBroken)
}

// Lines that follow one another at once are written together.
func TestLinesAreWrittenTogether(t *testing.T) {
	c := &counting{}
	s := newSink(c)
	require.NoError(t, s.relay([]byte("one\n"), true))
	require.NoError(t, s.relay(nil, true))
	assert.Zero(t, c.writes)
	require.NoError(t, s.relay([]byte("two\n"), false))
	assert.Equal(t, 1, c.writes)
	require.NoError(t, s.send([]byte("three")))
	assert.Equal(t, "one\ntwo\nthree\n", c.read())
	require.NoError(t, s.relay([]byte("four\n"), true))
	require.NoError(t, s.settle())
	assert.Equal(t, "four\n", c.read())
}

// counting counts writes.
type counting struct {
	strings.Builder
	writes int
}

func (c *counting) Write(p []byte) (int, error) {
	c.writes++
	return c.Builder.Write(p)
}

func (c *counting) read() string {
	defer c.Reset()
	return c.String()
}

// limited takes some bytes without being waited for, and the rest when it is let.
type limited struct {
	*side
	takes int
}

func (l *limited) try(p []byte) int {
	n := min(l.takes, len(p))
	l.takes -= n
	_, _ = l.side.Write(p[:n])
	return n
}

// What the agent takes at once is written at once; the rest waits, and comes before
// whatever is said later.
func TestWhatIsTakenAtOnce(t *testing.T) {
	agent := &limited{side: newSide(), takes: 8}
	a := newToAgent(agent, agent.try)
	a.queueLine([]byte("one"))
	assert.Equal(t, "one\n", agent.read())
	a.pass([]byte("second\n"))
	assert.Equal(t, "seco", agent.read())
	assert.Equal(t, 1, a.queued())
	agent.takes = 100
	line := []byte("third\n")
	a.pass(line)
	copy(line, "xxxxx") // it is not the caller's
	a.queueLine([]byte("fourth"))
	assert.Empty(t, agent.read(), "not before what waits")
	a.relay([]byte("fifth")) // without a line end
	assert.Equal(t, "nd\nthird\nfourth\nfifth", agent.read())
	a.pass([]byte("sixth\n"))
	a.end()
	assert.Equal(t, "\nsixth\n", agent.read())
	a.pass([]byte("late\n"))
	assert.Empty(t, agent.read())
	assert.Zero(t, a.queued())
}

// However much the agent takes at once: each writer's lines stay whole and in order.
func TestAtOnceInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agent := &limited{side: newSide()}
		a := newToAgent(agent, agent.try)
		var want strings.Builder
		t.Repeat(map[string]func(*rapid.T){
			"room":  func(t *rapid.T) { agent.takes = rapid.IntRange(0, 30).Draw(t, "takes") },
			"own":   func(t *rapid.T) { a.queueLine([]byte("own")); want.WriteString("own\n") },
			"pass":  func(t *rapid.T) { a.pass([]byte("answer\n")); want.WriteString("answer\n") },
			"relay": func(t *rapid.T) { a.relay([]byte("client\n"), []byte("behind")); want.WriteString("client\nbehind\n") },
		})
		a.end()
		assert.Equal(t, want.String(), agent.read())
	})
}
