package state

import (
	"context"
	"net"
	"sync"
)

// dialer opens the connections to an external cluster: the first one as long as the
// start of the store lasts, later ones as long as the store does. The library takes no
// context, so what it reads from a connection that was opened ends with it, too.
type dialer struct {
	store context.Context

	mu    sync.Mutex
	start context.Context // nil once the first connection is there
	stops []func() bool   // let what was opened during the start live on
}

// Dial implements [nats.CustomDialer].
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx := d.start
	if ctx == nil {
		ctx = d.store
	}
	bounded, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(bounded, network, address)
	if err == nil && d.start != nil {
		d.stops = append(d.stops, context.AfterFunc(d.start, func() { _ = conn.Close() }))
	}
	return conn, err
}

// started is for when the first connection is there, or will not be.
func (d *dialer) started() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, stop := range d.stops {
		stop()
	}
	d.start, d.stops = nil, nil
}
