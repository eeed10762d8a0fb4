package state

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const (
	// readyWithin bounds the start, which reads everything that is stored.
	readyWithin = 60 * time.Second
	// embeddedWithin bounds the reading of one bucket.
	embeddedWithin = 20 * time.Second
	// maxStore bounds what all buckets together take on the disk, in bytes.
	maxStore = 4 << 30
	// maxMemory bounds what they take in memory: they are all on the disk.
	maxMemory = 1 << 20
	// storeFolder is where they are, in the data folder.
	storeFolder = "state"
)

// embedded is a NATS server in this process. Nothing but this process reaches it.
type embedded struct {
	server *server.Server
	dir    string // of the data
	log    *slog.Logger
	unlock func() error
	within time.Duration // of reading a bucket
}

// embed starts a server on a folder, which no other process may use meanwhile.
func embed(ctx context.Context, dir string, log *slog.Logger) (*embedded, error) {
	store := filepath.Join(dir, storeFolder)
	if err := os.MkdirAll(store, 0o700); err != nil {
		return nil, fmt.Errorf("state: the data folder: %w", err)
	}
	unlock, err := lock(filepath.Join(dir, "state.lock"))
	if err != nil {
		return nil, err
	}
	e := &embedded{dir: dir, log: log, unlock: unlock, within: embeddedWithin}
	if err = os.Chmod(store, 0o700); err != nil { // it may be older than this rule
		err = fmt.Errorf("state: the folder must be for its owner alone: %w", err)
	} else if err = findDamage(ctx, store); err == nil {
		err = e.start(ctx, store)
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *embedded) start(ctx context.Context, store string) (err error) {
	e.server, err = server.NewServer(&server.Options{
		ServerName: "assent", DontListen: true, NoSigs: true,
		JetStream: true, StoreDir: store, SyncAlways: true, JetStreamMaxStore: maxStore, JetStreamMaxMemory: maxMemory,
	})
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	logger := newServerLog(e.log)
	e.server.SetLoggerV2(logger, false, false, false)
	started := make(chan struct{})
	go func() {
		defer close(started)
		e.server.Start()
	}()
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	select {
	case <-started:
	case <-ctx.Done():
		err = fmt.Errorf("state: the store in %q was not ready in time: is the disk slow or full? (%w)", store, ctx.Err())
	}
	if err != nil {
		e.server.Shutdown() // makes Start return
		<-started
		return err
	}
	if fatal := logger.fatal(); fatal != "" || !e.server.JetStreamEnabled() {
		return fmt.Errorf("state: the store in %q cannot be used: %s", store, fatal)
	}
	return e.findMissing(store)
}

// reopen ends what keeps the store and begins it anew. Connections stay.
func (e *embedded) reopen() error {
	if err := e.server.ShutdownJetStream(); err != nil {
		return fmt.Errorf("state: the embedded server: %w", err)
	}
	err := e.server.EnableJetStream(&server.JetStreamConfig{
		StoreDir: filepath.Join(e.dir, storeFolder), SyncAlways: true, MaxStore: maxStore, MaxMemory: maxMemory, Strict: true,
	})
	if err != nil {
		return fmt.Errorf("state: the embedded server: %w", err)
	}
	return nil
}

// connect opens the connection inside of the process.
func (e *embedded) connect() (*nats.Conn, error) {
	conn, err := nats.Connect("", nats.InProcessServer(e.server), nats.NoReconnect(), nats.Name("assent"), nats.ErrorHandler(asyncErrors(e.log)))
	if err != nil {
		return nil, fmt.Errorf("state: the embedded server: %w", err)
	}
	return conn, nil
}

// close ends the server, waits for it, and then lets other processes in.
func (e *embedded) close() error {
	if e.server != nil {
		e.server.Shutdown()
		e.server.WaitForShutdown()
	}
	return e.unlock()
}
