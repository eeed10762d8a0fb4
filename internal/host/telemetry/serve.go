package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

var (
	// ErrNotLoopback says that metrics were to be served to other machines.
	ErrNotLoopback = errors.New("telemetry: metrics are served on a loopback address only, since whoever reaches it can read them: use one like 127.0.0.1:9464")
	// ErrSwitchedOff says that there are no metrics to be served.
	ErrSwitchedOff = errors.New("telemetry: there are no metrics, since telemetry is switched off: unset OTEL_SDK_DISABLED")
)

// Bounds of a scrape.
const (
	scrapeHeader = 5 * time.Second // to send the request
	scrapeWhole  = time.Minute     // to take the answer
)

// Serve serves the metrics to Prometheus at /metrics, until [Telemetry.Shutdown].
// The address is host and port: localhost or an address of the loopback interface,
// and port 0 for any free one. It returns the address that it listens at. A request
// whose Host header is another name is refused: it comes from a web page whose name
// was bound to the loopback.
func (t *Telemetry) Serve(ctx context.Context, address string) (net.Addr, error) {
	if t == nil {
		return nil, ErrSwitchedOff
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w: use one like 127.0.0.1:9464", err)
	}
	if !isLoopback(host) {
		return nil, ErrNotLoopback
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("telemetry: metrics cannot be served: %w; use another port, or 0 for any free one", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", ownHost(t.handler))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: scrapeHeader, ReadTimeout: scrapeHeader, WriteTimeout: scrapeWhole}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // it ends by Close alone
	}()
	t.shutdowns = append(t.shutdowns, func(context.Context) error {
		err := server.Close()
		<-served
		return err
	})
	return listener.Addr(), nil
}

// isLoopback says whether a host is this machine, for itself alone.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// ownHost refuses requests for another host. The port may be another one: that of a
// tunnel.
func ownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil { // the default port
			host = r.Host
		}
		if !isLoopback(host) {
			http.Error(w, "the Host header is no loopback address", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
