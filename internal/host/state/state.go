package state

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Options say where the state is.
type Options struct {
	// Dir is the folder of the embedded server. It is made when it is missing.
	Dir string
	// URL of an external cluster, in place of the embedded server: one address or
	// several with commas between them. It can hold a password and is shown
	// without it.
	URL string
	// Creds is the credentials file for the external cluster, if it wants one.
	Creds string
	// Logger, nil for none.
	Logger *slog.Logger
}

// State is an open store. It is safe for concurrent use.
type State struct {
	log      *slog.Logger
	conn     *nats.Conn
	js       jetstream.JetStream
	embedded *embedded // nil: an external cluster
	health   health

	// ctx ends when Close begins; watching is done when nobody reads any more.
	ctx      context.Context
	cancel   context.CancelFunc
	watching sync.WaitGroup
	closing  sync.Once
	closed   chan struct{}
	closeErr error
}

// Open opens the store and waits until it can be used, at most for as long as ctx
// and the bounds of this package allow. Its errors say what to do.
func Open(ctx context.Context, o Options) (*State, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &State{log: o.Logger, closed: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.open(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *State) open(ctx context.Context, o Options) (err error) {
	switch {
	case o.URL != "":
		s.conn, err = connect(ctx, s.ctx, o)
	case o.Creds != "":
		return errors.New("state: --nats-creds needs --nats: the embedded server takes no credentials")
	case o.Dir == "":
		return errors.New("state: no data folder: name one with --data")
	default:
		var dir string
		if dir, err = filepath.Abs(o.Dir); err != nil {
			return fmt.Errorf("state: the data folder: %w", err)
		}
		if s.embedded, err = embed(ctx, dir, o.Logger); err == nil {
			s.conn, err = s.embedded.connect()
		}
	}
	if err != nil {
		return err
	}
	if s.js, err = jetstream.New(s.conn); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	return s.usable(ctx)
}

// usable asks the server whether it keeps anything at all.
func (s *State) usable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	_, err := s.js.AccountInfo(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("state: the NATS server keeps nothing: start it with JetStream (nats-server -js), or enable JetStream for this account (%w)", err)
	}
	return fmt.Errorf("state: JetStream does not answer: may this user use $JS.API.>? (%w)", err)
}

// Close ends the watchers, the connection and the embedded server, and waits for
// them. Calling it again waits as well.
func (s *State) Close() error {
	s.closing.Do(func() {
		defer close(s.closed)
		s.cancel()
		s.watching.Wait()
		s.checkedLast() // it may open the embedded server's store
		if s.conn != nil {
			s.conn.Close()
		}
		if s.embedded != nil {
			s.closeErr = s.embedded.close()
		}
	})
	<-s.closed
	return s.closeErr
}
