package proxy

import (
	"cmp"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/kandev/assent/pipeline/acp"
)

// both lets the goroutine that hears the agent hear the client as well, while there is
// nothing but answers to take: then an answer has to wake nobody who sleeps, which
// takes longer than all else that is done with it. It is a matter of speed alone, of
// the answers: whatever else comes first takes the way back. At any doubt the client
// is given back to its own goroutine, and whatever may have to wait for one side is
// done while the other one is heard elsewhere:
//
//   - a line to the client is written only if the pipe to it is empty and has room,
//     or after the client was given back;
//   - answers to the agent are written without waiting: see [toAgent.pass];
//   - anything but an answer is left to the client's own goroutine.
//
// A nil both does nothing: the client has its own goroutine all the time.
type both struct {
	relay *relay
	lines *acp.Reader // of the client; whoever hears the client has it

	agent, client, toClient, poke syscall.RawConn
	poker                         *os.File // an eventfd: the client is to be heard as well
	fds                           [3]unix.PollFd

	mu      sync.Mutex
	here    bool // the client is heard by the agent's goroutine
	waiting bool // that goroutine waits for the agent
	away    bool // it may have to wait for something else
	over    bool
	back    chan struct{} // told when the client is given back
}

// newBoth is nil where one goroutine cannot hear both.
func newBoth(r *relay, lines *acp.Reader, o Options, agent *os.File) *both {
	client, in := pipe(o.Client)
	toClient, out := pipe(o.ToClient)
	if !in || !out {
		return nil
	}
	conn, err := agent.SyscallConn()
	if err != nil || shared(o.ToClient, o.AgentStderr) {
		return nil
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return nil
	}
	poker := os.NewFile(uintptr(fd), "poke")
	poke, err := poker.SyscallConn()
	if err != nil {
		return nil
	}
	return &both{
		relay: r, lines: lines, agent: conn, client: client, toClient: toClient,
		poke: poke, poker: poker, back: make(chan struct{}, 1),
	}
}

// pipe is the connection of a file that is a pipe.
func pipe(f any) (syscall.RawConn, bool) {
	file, ok := f.(*os.File)
	if !ok {
		return nil, false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return nil, false
	}
	conn, err := file.SyscallConn()
	return conn, err == nil
}

// shared says whether the agent's stderr is in the way to the client, as after 2>&1:
// then nobody can say what has room there.
func shared(toClient any, stderr *os.File) bool {
	file, ok := toClient.(*os.File)
	if !ok || stderr == nil {
		return false
	}
	one, err := file.Stat()
	other, failed := stderr.Stat()
	return err != nil || failed != nil || os.SameFile(one, other)
}

// lend lets the agent's goroutine hear the client, unless it may be waiting for something
// else, until it gives the client back. It is for the client's goroutine, when it has
// taken all that was read.
func (b *both) lend() {
	if b == nil {
		return
	}
	b.mu.Lock()
	if b.over || b.away {
		b.mu.Unlock()
		return
	}
	b.here = true
	if b.waiting {
		_, _ = b.poker.Write([]byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
	b.mu.Unlock()
	<-b.back
}

// giveBack lets the client's goroutine go on.
func (b *both) giveBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.returnClient()
}

// leave gives the client back before the agent's goroutine may have to wait for
// something else than the agent. It is not lent again before come.
func (b *both) leave() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = true
	b.returnClient()
}

// come is the end of what leave has begun.
func (b *both) come() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = false
}

// returnClient is giveBack for whoever holds mu.
func (b *both) returnClient() {
	if b.here {
		b.here = false
		b.back <- struct{}{}
	}
}

// end gives the client back for ever.
func (b *both) end() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.returnClient()
	if !b.over {
		b.over = true
		_ = b.poker.Close()
	}
}

// write is called before a line is written to the client, and come behind it.
func (b *both) write(size int, more bool) {
	if b != nil && (more || !b.hears() || !b.room(size)) {
		b.leave()
	}
}

// hears says whether the client is heard here.
func (b *both) hears() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.here
}

// room says whether the client's pipe takes so many bytes at once: one that is empty
// takes what its size says, unless somebody else writes to it just then, who can only
// be a stranger that shares our stdout.
func (b *both) room(size int) (takes bool) {
	_ = b.toClient.Control(func(fd uintptr) {
		unread, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		if err != nil || unread != 0 {
			return
		}
		holds, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
		takes = err == nil && size <= holds
	})
	return takes
}

// hearing reads the agent, and meanwhile takes what the client answers.
func (b *both) hearing(agent io.Reader) io.Reader { return hearing{b, agent} }

type hearing struct {
	*both
	r io.Reader
}

// Read waits for the agent.
func (h hearing) Read(p []byte) (int, error) {
	for {
		agent, client := h.wait()
		if client && !h.take() {
			h.giveBack()
		}
		if agent {
			return h.r.Read(p)
		}
	}
}

// wait waits until somebody has something to say.
func (b *both) wait() (agent, client bool) {
	b.mu.Lock()
	b.waiting = true
	conns := []syscall.RawConn{b.agent, b.poke, b.client}
	if !b.here {
		conns = conns[:2]
	}
	b.mu.Unlock()
	fds := b.fds[:len(conns)]
	err := poll(conns, fds, 0)
	b.mu.Lock()
	b.waiting = false
	b.mu.Unlock()
	switch {
	case errors.Is(err, unix.EINTR):
		return false, false
	case err != nil: // whoever reads the agent sees what is wrong
		b.giveBack()
		return true, false
	case fds[1].Revents != 0:
		_ = b.poke.Read(drainPoke)
	}
	return fds[0].Revents != 0, len(fds) > 2 && fds[2].Revents != 0
}

// drainPoke takes the poke back.
func drainPoke(fd uintptr) (done bool) {
	var count [8]byte
	_, _ = unix.Read(int(fd), count[:])
	return true
}

// poll waits until one of the files has something to be read, or its end. None of them
// is closed meanwhile: whoever tries waits, too.
func poll(conns []syscall.RawConn, fds []unix.PollFd, n int) (err error) {
	if n == len(conns) {
		_, err = unix.Poll(fds, -1)
		return err
	}
	failed := conns[n].Control(func(fd uintptr) {
		fds[n] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		err = poll(conns, fds, n+1)
	})
	return cmp.Or(failed, err)
}

// maxTaken is the longest answer in bytes that is taken in place of the client's own
// goroutine: what the agent does not take of it is held in memory.
const maxTaken = 64 << 10

// take takes the answers that the client has given. False says that its own goroutine
// has to go on: there is something else, or the agent does not read.
func (b *both) take() bool {
	longest := maxTaken
	if limit := b.relay.maxLine; limit > 0 {
		longest = min(longest, limit)
	}
	b.lines.Fill()
	for !b.lines.Empty() {
		line := b.lines.Ahead()
		f, err := acp.Peek(line)
		if err != nil || f.Kind != acp.KindResponse || len(line) > longest || b.relay.agent.queued() > 0 {
			return false
		}
		if line, err = b.lines.ReadWhole(); err != nil {
			return false
		}
		b.relay.answer(f, line, b.relay.agent.pass)
	}
	return b.relay.agent.queued() == 0
}
