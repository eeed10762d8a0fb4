package state

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// answerWithin bounds each single operation.
	answerWithin = 10 * time.Second
	// connectWithin bounds one attempt to reach one server.
	connectWithin = 5 * time.Second
	// sayAfter is how long a start waits for a cluster before it says so.
	sayAfter = time.Second
)

// connect opens a connection to an external cluster. After it is lost it is
// opened again, for as long as it takes; meanwhile operations fail at once, so
// that nothing is written later than its caller thinks. Start bounds the first try
// alone, and store all others.
func connect(start, store context.Context, o Options) (*nats.Conn, error) {
	where := addresses(o.URL)
	d := &dialer{start: start, store: store}
	opts := []nats.Option{
		nats.Name("assent"), nats.Timeout(connectWithin), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.SetCustomDialer(d), nats.SkipHostLookup(), // the dialer does it, and can be ended
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Logger.Warn("the connection to the NATS server is lost; it is opened again", "server", where, "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			o.Logger.Info("the connection to the NATS server is back", "server", where)
		}),
		nats.ErrorHandler(asyncErrors(o.Logger)),
	}
	if o.Creds != "" {
		if _, err := os.Stat(o.Creds); err != nil {
			return nil, fmt.Errorf("state: the credentials file of --nats-creds: %w", err)
		}
		opts = append(opts, nats.UserCredentials(o.Creds))
	}
	late := time.AfterFunc(sayAfter, func() {
		o.Logger.Warn("the NATS server does not answer yet; it is waited for", "server", where)
	})
	conn, err := nats.Connect(o.URL, opts...)
	late.Stop()
	d.started()
	switch {
	case err == nil:
		return conn, nil
	case start.Err() != nil:
		return nil, fmt.Errorf("state: no longer waiting for the NATS server at %s: %w", where, start.Err())
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrNkeysNotSupported):
		return nil, fmt.Errorf("state: the NATS server at %s does not let us in: check --nats-creds (%w)", where, err)
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrTimeout):
		return nil, fmt.Errorf("state: no NATS server answers at %s: is it running, and is --nats right? (%w)", where, err)
	}
	return nil, fmt.Errorf("state: no connection to the NATS server at %s: check --nats and --nats-creds (%w)", where, withoutURL(err))
}

// asyncErrors logs what the library notices by itself. It names no subject.
func asyncErrors(log *slog.Logger) nats.ErrHandler {
	return func(_ *nats.Conn, _ *nats.Subscription, err error) {
		log.Warn("the NATS connection has trouble", "error", err)
	}
}

// withoutURL takes the text that was parsed out of an error: it can hold a password.
func withoutURL(err error) error {
	if parse, ok := errors.AsType[*url.Error](err); ok {
		return parse.Err
	}
	return err
}

// addresses are the hosts and ports of a list of URLs, without user and password.
func addresses(list string) string {
	var hosts []string
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		if !strings.Contains(text, "://") {
			text = "nats://" + text
		}
		host := "(unreadable address)"
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			host = u.Host
		}
		hosts = append(hosts, host)
	}
	return strings.Join(hosts, ", ")
}
