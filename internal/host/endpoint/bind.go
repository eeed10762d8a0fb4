package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
)

// portRegistry remembers the ports of a run. A port that an agent was told stays
// that endpoint's: were it used again, an agent that still runs could reach
// another instance's server, or mistake that one's for its own.
type portRegistry struct {
	mu   sync.Mutex
	used map[int]bool // true while it is open
}

// claim takes a port, once and for all.
func (r *portRegistry) claim(port int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, used := r.used[port]; used {
		return false
	}
	r.used[port] = true
	return true
}

// close says that a port is no longer open. It stays used.
func (r *portRegistry) close(port int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used[port] = false
}

// open says whether a port is that of an endpoint which is open.
func (r *portRegistry) open(port int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used[port]
}

// usedPorts is process-wide on purpose: ports are.
var usedPorts = &portRegistry{used: map[int]bool{}}

// binder finds a port that is free on both loopbacks.
type binder struct {
	listen func(ctx context.Context, network, address string) (net.Listener, error)
	ports  *portRegistry
}

func newBinder() binder {
	var lc net.ListenConfig
	return binder{listen: lc.Listen, ports: usedPorts}
}

// binding is one port on each loopback of the machine.
type binding struct {
	port      int
	listeners []net.Listener
}

func (b binding) close() {
	for _, l := range b.listeners {
		_ = l.Close()
	}
}

const maxBindTries = 64

// errTaken says that a port cannot be had but another one may.
var errTaken = errors.New("port is taken")

// bind takes the wanted port, or any (0). What is taken on either loopback, or
// was used in this run, makes it try others.
func (b binder) bind(ctx context.Context, wanted int) (binding, error) {
	// Ports that were refused stay bound until the end, so that the system
	// does not give the same one again.
	var refused []binding
	defer func() {
		for _, r := range refused {
			r.close()
		}
	}()
	for range maxBindTries {
		if err := ctx.Err(); err != nil {
			return binding{}, fmt.Errorf("endpoint: opening: %w", err)
		}
		got, err := b.try(ctx, wanted)
		if err == nil {
			return got, nil
		}
		refused = append(refused, got)
		if !errors.Is(err, errTaken) {
			return binding{}, fmt.Errorf("endpoint: cannot listen on the loopback: %w", err)
		}
		wanted = 0
	}
	return binding{}, fmt.Errorf("endpoint: no port found that is free on 127.0.0.1 and ::1, in %d tries", maxBindTries)
}

// try binds one port on 127.0.0.1 and on ::1. What it has bound is returned also
// when it fails.
func (b binder) try(ctx context.Context, port int) (binding, error) {
	var got binding
	v4, err := b.listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return got, takenOr(err, port)
	}
	got = binding{port: v4.Addr().(*net.TCPAddr).Port, listeners: []net.Listener{v4}}
	v6, err := b.listen(ctx, "tcp6", net.JoinHostPort("::1", strconv.Itoa(got.port)))
	switch {
	case err == nil:
		got.listeners = append(got.listeners, v6)
	case !isNoSuchAddress(err): // a machine without ::1 has 127.0.0.1 alone
		return got, takenOr(err, got.port)
	}
	if !b.ports.claim(got.port) {
		return got, errTaken
	}
	return got, nil
}

// takenOr turns the error of a given port into errTaken: whatever is wrong with
// it (taken, privileged, reserved by the system), another port may do.
func takenOr(err error, port int) error {
	if port != 0 {
		return errTaken
	}
	return err
}
