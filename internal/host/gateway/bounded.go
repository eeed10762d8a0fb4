package gateway

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"sync"
)

// boundedListener is a listener that bounds the connections, since agents and the store need some
// of the files that a process may have open, too. A new connection takes the place of the
// oldest one that runs no request with a good token; where all do, it is closed.
type boundedListener struct {
	net.Listener
	most int
	full func() // told of each connection that is closed for that

	mu       sync.Mutex
	visitors list.List // of *visitor, oldest first
}

// visitor is a connection.
type visitor struct {
	net.Conn
	of    *boundedListener
	place *list.Element
	known int // requests with a good token that run
}

// Accept waits for a connection that has a place.
func (c *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		v, leaves := c.enter(conn)
		if leaves != nil {
			c.full()
			_ = leaves.Close()
		}
		if v != nil {
			return v, nil
		}
	}
}

// enter gives a connection a place. Leaves is one to close: another one, or this.
func (c *boundedListener) enter(conn net.Conn) (v *visitor, leaves net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.visitors.Len() >= c.most {
		oldest := c.visitors.Front()
		for oldest != nil && oldest.Value.(*visitor).known > 0 {
			oldest = oldest.Next()
		}
		if oldest == nil {
			return nil, conn
		}
		leaves = oldest.Value.(*visitor).Conn
		c.visitors.Remove(oldest)
	}
	v = &visitor{Conn: conn, of: c}
	v.place = c.visitors.PushBack(v)
	return v, leaves
}

// Close makes room.
func (v *visitor) Close() error {
	v.of.mu.Lock()
	v.of.visitors.Remove(v.place) // nothing, if it is not there
	v.of.mu.Unlock()
	return v.Conn.Close()
}

// CloseWrite lets net/http end a connection so that its client gets the last answer.
func (v *visitor) CloseWrite() error {
	if half, ok := v.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// stays keeps the connection of a request that came with a good token, until leave is
// called.
func stays(ctx context.Context) (leave func()) {
	conn := ctx.Value(socketKey{})
	if over, ok := conn.(*tls.Conn); ok {
		conn = over.NetConn()
	}
	v, ok := conn.(*visitor)
	if !ok {
		return func() {}
	}
	v.add(1)
	return func() { v.add(-1) }
}

func (v *visitor) add(more int) {
	v.of.mu.Lock()
	defer v.of.mu.Unlock()
	v.known += more
}

const (
	// mostConnections bounds them where a process may have many files open.
	mostConnections = 8192
	// leastConnections is where it may have hardly any.
	leastConnections = 8
)

// connections is how many there may be: half of the files that the process may have open.
func connections() int {
	files, limited := openFiles()
	if !limited || files/2 > mostConnections {
		return mostConnections
	}
	return max(leastConnections, int(files/2))
}
