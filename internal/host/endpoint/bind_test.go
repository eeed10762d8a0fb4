package endpoint

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kandev/assent/internal/need"
)

func listen(t *testing.T, network, address string) int {
	t.Helper()
	l, err := net.Listen(network, address)
	need.Of(t, "the loopback address of "+address, err)
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func TestATakenPortIsLeftForAnother(t *testing.T) {
	squatters := map[string][2]string{
		"[::1]":               {"tcp6", "[::1]:0"},
		"127.0.0.1":           {"tcp4", "127.0.0.1:0"},
		"every IPv4 address":  {"tcp4", "0.0.0.0:0"},
		"every address there": {"tcp", ":0"},
	}
	for name, at := range squatters {
		t.Run(name, func(t *testing.T) {
			taken := listen(t, at[0], at[1])
			b := open(t, Options{Port: taken})
			assert.NotEqual(t, taken, b.Port())
			assert.Contains(t, b.logs.String(), "wanted="+strconv.Itoa(taken))
			for _, host := range hosts() {
				assert.Equal(t, 200, b.raw(t, b.session(t), "POST", b.url(host, "/mcp"), listTools, nil).status)
			}
		})
	}
}

func TestAFreePortIsTaken(t *testing.T) {
	// Between finding a free port and asking for it, another process can take it.
	for range 20 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		port := l.Addr().(*net.TCPAddr).Port
		require.NoError(t, l.Close())
		if b := open(t, Options{Port: port}); b.Port() == port {
			assert.Empty(t, b.logs.String())
			return
		}
	}
	t.Fatal("a free port was never taken")
}

func TestBothLoopbacksAreBoundAndNothingElse(t *testing.T) {
	b, err := binder{listen: newBinder().listen, ports: &portRegistry{used: map[int]bool{}}}.bind(t.Context(), 0)
	require.NoError(t, err)
	defer b.close()
	var got []string
	for _, l := range b.listeners {
		got = append(got, l.Addr().String())
	}
	want := []string{"127.0.0.1:" + strconv.Itoa(b.port)}
	if len(hosts()) == 3 {
		want = append(want, "[::1]:"+strconv.Itoa(b.port))
	}
	assert.Equal(t, want, got)
}

func TestAPortIsNotUsedTwiceInARun(t *testing.T) {
	first := open(t, Options{})
	require.NoError(t, first.Close())
	second := open(t, Options{Port: first.Port()})
	assert.NotEqual(t, first.Port(), second.Port(), "it is free, but agents may still know it")
}

// fakeListener has an address and no socket.
type fakeListener struct {
	net.Listener
	port   int
	closed *int
}

func (f fakeListener) Addr() net.Addr { return &net.TCPAddr{Port: f.port} }
func (f fakeListener) Close() error   { *f.closed++; return nil }

// fakeBinder binds on a machine that is described by v6: what binding ::1 says.
func fakeBinder(closed *int, used []int, v4, v6 error) binder {
	ports := &portRegistry{used: map[int]bool{}}
	for _, p := range used {
		ports.used[p] = true
	}
	next := 1000
	return binder{ports: ports, listen: func(_ context.Context, network, address string) (net.Listener, error) {
		err := v4
		if network == "tcp6" {
			err = v6
		}
		if err != nil {
			return nil, &net.OpError{Op: "listen", Err: err}
		}
		_, p, _ := net.SplitHostPort(address)
		port, _ := strconv.Atoi(p)
		if port == 0 {
			next++
			port = next
		}
		return fakeListener{port: port, closed: closed}, nil
	}}
}

func TestAMachineWithoutIPv6HasOneLoopback(t *testing.T) {
	for _, err := range []error{syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT} {
		closed := 0
		b, e := fakeBinder(&closed, nil, nil, err).bind(t.Context(), 0)
		require.NoError(t, e)
		assert.Equal(t, 1001, b.port)
		assert.Len(t, b.listeners, 1)
	}
}

func TestPortsThatWereRefusedAreHeldUntilOneIsFound(t *testing.T) {
	closed := 0
	b, err := fakeBinder(&closed, []int{1001, 1002, 1003}, nil, nil).bind(t.Context(), 0)
	require.NoError(t, err)
	assert.Equal(t, 1004, b.port)
	assert.Equal(t, 6, closed, "two sockets for each refused port")
}

func TestBindingFailsWithAReason(t *testing.T) {
	closed := 0
	_, err := fakeBinder(&closed, nil, errors.New("no sockets here"), nil).bind(t.Context(), 0)
	require.ErrorContains(t, err, "endpoint: cannot listen on the loopback: listen: no sockets here")

	_, err = fakeBinder(&closed, nil, nil, syscall.EADDRINUSE).bind(t.Context(), 0)
	require.EqualError(t, err, "endpoint: no port found that is free on 127.0.0.1 and ::1, in 64 tries")
	assert.Equal(t, maxBindTries, closed)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ctx, Options{})
	require.ErrorContains(t, err, "endpoint: ")
	assert.False(t, strings.Contains(err.Error(), "64 tries"))
}
