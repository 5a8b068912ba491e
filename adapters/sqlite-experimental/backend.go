package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/docket-go/docket/ports"
)

// Backend is a store in one SQLite file. It is safe for concurrent use.
type Backend struct {
	roles
	cfg     Config
	writer  *writer
	readers *sql.DB
	sql     *statements // of the readers
	wakes   *wakes

	mu     sync.Mutex
	open   *Tx // the transaction that has the writer's turn, if any
	closed chan struct{}

	pruning sync.Mutex // held by the one Prune at work
}

var (
	_ ports.Backend    = (*Backend)(nil)
	_ ports.Transactor = (*Backend)(nil)
	_ ports.WakeSource = (*Backend)(nil)
)

// Open opens the file, creating it and its tables when they are missing. It
// answers a *SchemaError when the file's schema is newer than this build.
func Open(ctx context.Context, cfg Config) (*Backend, error) {
	if err := cfg.check(); err != nil {
		return nil, &ports.Error{Code: ports.CodeInvalid, Op: "Open", Err: err}
	}
	cfg, err := cfg.withDefaults().absolute()
	if err != nil {
		return nil, err
	}
	writers, err := openWriters(cfg)
	if err != nil {
		return nil, err
	}
	if err := prepareFile(ctx, cfg, writers); err != nil {
		return nil, errors.Join(mapError("Open", fmt.Errorf("sqlite: %s: %w", cfg.Path, err), working), writers.Close())
	}
	readers, err := openReaders(cfg)
	if err != nil {
		return nil, errors.Join(err, writers.Close())
	}
	b := &Backend{
		cfg:     cfg,
		writer:  newWriter(cfg, writers),
		readers: readers,
		sql:     newStatements(readers),
		closed:  make(chan struct{}),
	}
	b.wakes = newWakes()
	b.roles = roles{run: b, clock: cfg.Clock}
	return b, nil
}

// prepareFile sets what is kept in the file. Processes that open a new file
// together get in each other's way here, without SQLite waiting for them.
func prepareFile(ctx context.Context, cfg Config, writers *sql.DB) error {
	return untilFree(ctx, "Open", cfg.BusyTimeout, func() error {
		conn, err := writers.Conn(ctx) // runs the settings, which read the file
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := useWAL(ctx, conn); err != nil {
			return err
		}
		return migrate(ctx, conn, cfg.Path)
	})
}

// untilFree repeats do while another connection holds the lock it needs.
func untilFree(ctx context.Context, op string, wait time.Duration, do func() error) error {
	deadline := time.Now().Add(wait)
	for {
		err := do()
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		pause := time.NewTimer(5 * time.Millisecond)
		select {
		case <-ctx.Done():
			pause.Stop()
			return notApplied(ctx, op)
		case <-pause.C:
		}
	}
}

// Capabilities tells which optional interfaces the backend has.
func (b *Backend) Capabilities() ports.Capabilities {
	return ports.Capabilities{Transactor: true, WakeSource: true, Pruner: true}
}

// Close rolls an open transaction back, lets running operations end, and closes
// the file. Later calls answer ports.ErrClosed.
func (b *Backend) Close() error {
	b.mu.Lock()
	if b.isClosed() {
		b.mu.Unlock()
		return nil
	}
	close(b.closed)
	open := b.open
	b.mu.Unlock()

	b.wakes.close()
	if open != nil {
		open.abort()
	}
	b.writer.turn <- struct{}{} // kept: nobody writes any more
	return errors.Join(b.writer.close(), b.readers.Close())
}

func (b *Backend) isClosed() bool {
	select {
	case <-b.closed:
		return true
	default:
		return false
	}
}

// read implements runner on the readers' connections.
func (b *Backend) read(ctx context.Context, op string, work func(context.Context, *statements) error) error {
	if b.isClosed() {
		return ports.Closed(op)
	}
	if ctx.Err() != nil {
		return notApplied(ctx, op)
	}
	err := untilFree(ctx, op, b.cfg.BusyTimeout, func() error { return work(ctx, b.sql) })
	return b.mapped(ctx, op, err)
}

func (b *Backend) mapped(ctx context.Context, op string, err error) error {
	switch {
	case err == nil || ports.CodeOf(err) != "":
		return err
	case b.isClosed():
		return ports.Closed(op)
	case ctx.Err() != nil:
		return notApplied(ctx, op)
	}
	return mapError(op, err, working)
}

// write implements runner on the writer's connection. An operation into which
// another process's lock got after its transaction had begun is run again as a
// whole.
func (b *Backend) write(ctx context.Context, op string, work func(context.Context, *unit) error) error {
	if b.isClosed() {
		return ports.Closed(op)
	}
	err := untilFree(ctx, op, b.cfg.BusyTimeout, func() error {
		return b.writer.write(ctx, op, b.wakes, work)
	})
	if err != nil && b.isClosed() && !ports.IsAnswer(err) && !errors.Is(err, ports.ErrUncertain) {
		return ports.Closed(op)
	}
	return err
}
