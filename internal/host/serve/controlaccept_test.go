package serve

import (
	"context"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/testlog"
)

// troubled is a listener that cannot accept for a while.
type troubled struct {
	left  int // failures still to come
	conns chan net.Conn
	ended chan struct{}
}

func (l *troubled) Accept() (net.Conn, error) {
	if l.left > 0 {
		l.left--
		return nil, &net.OpError{Op: "accept", Net: "unix", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.ended:
		return nil, &net.OpError{Op: "accept", Net: "unix", Err: net.ErrClosed}
	}
}

func (l *troubled) Close() error   { close(l.ended); return nil }
func (l *troubled) Addr() net.Addr { return &net.UnixAddr{} }

// Tokens can be managed again after there were too many open files, which is logged
// once; and from the start where there were not.
func TestTokenCommandsAfterTooManyFiles(t *testing.T) {
	for name, failures := range map[string]int{"too many files": 5, "no trouble": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log testlog.Buffer
				begun := time.Now()
				l := &troubled{failures, make(chan net.Conn), make(chan struct{})}
				c := serveControl(l, log.Logger(), func(_ context.Context, r TokenRequest) TokenAnswer {
					return TokenAnswer{Error: "asked to " + r.Command}
				})
				near, far := net.Pipe()
				l.conns <- far
				require.NoError(t, writeLine(near, TokenRequest{Command: "delete", Name: "phone"}))
				var a TokenAnswer
				require.NoError(t, readLine(near, &a))
				assert.Equal(t, "asked to delete", a.Error)
				assert.Equal(t, time.Duration(failures)*acceptAgain, time.Since(begun))
				assert.Equal(t, min(failures, 1), strings.Count(log.String(), "token commands cannot be taken now"))
				c.close()
			})
		})
	}
}

// A server ends also while nothing can be accepted.
func TestTheEndDuringTooManyFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &troubled{1 << 30, nil, make(chan struct{})}
		c := serveControl(l, new(testlog.Buffer).Logger(), nil)
		time.Sleep(acceptAgain / 2)
		c.close()
	})
}
