package gateway

import (
	"cmp"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/kandev/assent/internal/host/dispatch"
)

// Tokens knows the people who may connect.
type Tokens interface {
	// Find compares in constant time; false for an unknown secret.
	Find(secret string) (dispatch.Person, bool)
}

// Options say what a gateway serves.
type Options struct {
	// Listener is where it listens: see [CheckListen]. The gateway closes it.
	Listener net.Listener
	// TLS is the certificate to serve with; nil for plain HTTP.
	TLS *tls.Config
	// Hosts are Host headers to accept beyond those of the loopback: a name, with
	// its port if clients send one that is not the listener's.
	Hosts []string
	// Origins are those of pages elsewhere that may connect, such as
	// "https://desk.example"; "null" for pages without one.
	Origins []string

	Dispatcher *dispatch.Dispatcher
	Tokens     Tokens
	// MaySee says whether a person who watches a task and its descendants (empty:
	// everything) is told of an event of a task. It is asked for each client and
	// event while others wait, and must not publish.
	MaySee func(p dispatch.Person, watched, task string) bool
	// Run names this run of the server: clients see from it that it was started anew.
	Run string

	// MCP is the external MCP server at /mcp and /mcp/sse, and finds who calls by
	// [PersonOf]; nil for none.
	MCP http.Handler
	// Metrics is what a token of scope view gets at /metrics; nil for nothing.
	Metrics http.Handler
	// Ready says why the server is not ready, in words without data; nil for always ready.
	Ready func() error

	// Logger is told of refusals, without anything of the request; nil for none.
	Logger *slog.Logger
	Limits Limits
}

// Limits bound what clients can take. A zero means the default.
type Limits struct {
	// MaxConnections at once. The default is half of the files that the process may have
	// open, and at most 8192.
	MaxConnections int

	MaxClients int // WebSocket clients at once, default 4096
	MaxMessage int // bytes of a client's message or of a request's body, default 1 MiB
	Concurrent int // requests of one WebSocket client at once, default 32

	// Outbox is what may wait for one client, default 16384 messages and 16 MiB. A
	// single message may be larger.
	OutboxMessages, OutboxBytes int

	Rate  float64 // requests per second of one token, default 200
	Burst float64 // requests of one token at once, default 1000

	AuthTimeout  time.Duration // until the first message of a WebSocket client, default 5 s
	PingInterval time.Duration // between two pings of a WebSocket client, default 30 s
	PingTimeout  time.Duration // until its pong, default 10 s
}

func (l Limits) orDefault() Limits {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&l.MaxConnections, connections())
	def(&l.MaxClients, 4096)
	def(&l.MaxMessage, 1<<20)
	def(&l.Concurrent, 32)
	def(&l.OutboxMessages, 16384)
	def(&l.OutboxBytes, 16<<20)
	if l.Rate <= 0 {
		l.Rate = 200
	}
	if l.Burst <= 0 {
		l.Burst = 1000
	}
	wait := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	wait(&l.AuthTimeout, 5*time.Second)
	wait(&l.PingInterval, 30*time.Second)
	wait(&l.PingTimeout, 10*time.Second)
	return l
}

func (o *Options) check() error {
	switch {
	case o.Listener == nil:
		return errors.New("gateway: there is no listener")
	case o.Dispatcher == nil:
		return errors.New("gateway: there is no dispatcher")
	case o.Tokens == nil:
		return errors.New("gateway: there are no tokens: nobody could connect")
	case o.MaySee == nil:
		return errors.New("gateway: nothing says who may see which events")
	}
	if err := cmp.Or(CheckHosts(o.Hosts), CheckOrigins(o.Origins)); err != nil {
		return err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Limits = o.Limits.orDefault()
	return nil
}
