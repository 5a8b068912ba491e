package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/docket-go/docket/ports"
)

// querier is a connection, a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// database runs the statements of operations: on the pool, each for itself, or
// inside one transaction.
type database interface {
	// query runs one statement and calls scan for each of its rows. When it
	// returns nil the statement is committed, or part of its transaction.
	query(ctx context.Context, op string, at stage, sql string, args []any, scan func(pgx.Rows) error) error
	// told is called after a statement that left a wake due now.
	told()
	// fault notes a fault that the server doesn't know of, and returns it: a
	// transaction around it is then roll-back only (TX-3).
	fault(ctx context.Context, err error) error
}

// maxRepeats bounds how often a statement is sent again after the server undid
// it for a deadlock or a serialization failure.
const maxRepeats = 5

// query implements database: one round trip, one transaction.
func (b *Backend) query(ctx context.Context, op string, at stage, sql string, args []any, scan func(pgx.Rows) error) error {
	return b.repeat(ctx, op, at, "", sql, args, scan)
}

// shortWait bounds the time in which a statement of impatiently waits for a lock.
const shortWait = `SET LOCAL lock_timeout = '50ms'`

// impatiently is query for a statement that would make many wait for a lock: it
// is undone instead.
func (b *Backend) impatiently(ctx context.Context, op, sql string, args []any, scan func(pgx.Rows) error) error {
	return b.repeat(ctx, op, writing, shortWait, sql, args, scan)
}

func (b *Backend) repeat(ctx context.Context, op string, at stage, setting, sql string, args []any, scan func(pgx.Rows) error) error {
	scanned := false
	noting := func(rows pgx.Rows) error {
		scanned = true
		return scan(rows)
	}
	for n := 0; ; n++ {
		err := b.once(ctx, op, at, setting, sql, args, noting)
		if err == nil || n == maxRepeats || scanned || !repeatable(err) {
			return err
		}
		if !pause(ctx, time.Duration(rand.Int64N(int64(time.Millisecond)<<n))) {
			return notApplied(ctx, op)
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (b *Backend) once(ctx context.Context, op string, at stage, setting, sql string, args []any, scan func(pgx.Rows) error) error {
	conn, err := b.acquire(ctx, op)
	if err != nil {
		return err
	}
	defer conn.Release()
	sent, done := patiently(ctx, b.cfg.CancelGrace)
	defer done()
	if b.explicit || setting != "" {
		err = inTransaction(sent, conn, setting, sql, args, scan)
	} else {
		err = each(sent, conn, sql, args, scan)
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = errors.Join(err, because(ctx, ctx.Err()))
	}
	return mapError(op, err, at)
}

// told tells this process's subscribers when nothing else does.
func (b *Backend) told() {
	if b.cfg.PollOnly {
		b.wakes.tell()
	}
}

// fault implements database: outside a transaction nothing hangs on it.
func (b *Backend) fault(_ context.Context, err error) error { return err }

// acquire takes a connection of the pool. Who waits for one inside a
// transaction of its own, on a small pool, is told instead of waiting for ever.
func (b *Backend) acquire(ctx context.Context, op string) (*pgxpool.Conn, error) {
	if b.isClosed() {
		return nil, ports.Closed(op)
	}
	if ctx.Err() != nil {
		return nil, notApplied(ctx, op)
	}
	waiting := ctx
	if end, ok := ctx.Deadline(); !ok || time.Until(end) > b.cfg.AcquireTimeout {
		var cancel func()
		waiting, cancel = context.WithTimeout(ctx, b.cfg.AcquireTimeout)
		defer cancel()
	}
	conn, err := b.pool.Acquire(waiting)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, notApplied(ctx, op)
	case waiting.Err() != nil:
		return nil, ports.Unavailable(op, fmt.Errorf("postgres: no connection of the pool (%d) became free within %v; is a transaction open around this call?: %w",
			b.pool.Config().MaxConns, b.cfg.AcquireTimeout, err))
	}
	return nil, mapError(op, err, unsent)
}

// patiently gives the context under which a statement is sent. Ending a context
// makes the driver close the connection, and nobody learns what became of the
// statement. So the caller's end counts only after a grace: nearly every
// statement has ended by then, its answer is exact, and the connection lives.
func patiently(ctx context.Context, grace time.Duration) (context.Context, func()) {
	if ctx.Done() == nil {
		return ctx, func() {}
	}
	sent, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, func() { cancel(ctx.Err()) })
		context.AfterFunc(sent, func() { timer.Stop() })
	})
	return sent, func() {
		stop()
		cancel(nil)
	}
}

// each runs a statement and scans its rows. It returns after the server has
// committed: rows of an UPDATE arrive before that.
func each(ctx context.Context, q querier, sql string, args []any, scan func(pgx.Rows) error) error {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	return scanAll(rows, scan)
}

func scanAll(rows pgx.Rows, scan func(pgx.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("postgres: a row can't be read: %w", err)
		}
	}
	return rows.Err()
}

// readCommitted is what every statement is written for: a writer waits for the
// one before it and then looks at the row again, where a stricter isolation
// would refuse.
const readCommitted = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

// inTransaction sends BEGIN, a setting unless it is empty, the statement and COMMIT
// together: one round trip, whatever the server's defaults are.
func inTransaction(ctx context.Context, conn *pgxpool.Conn, setting, sql string, args []any, scan func(pgx.Rows) error) error {
	batch := &pgx.Batch{}
	batch.Queue(readCommitted)
	if setting != "" {
		batch.Queue(setting)
	}
	before := batch.Len()
	batch.Queue(sql, args...)
	batch.Queue("COMMIT")
	err := readBatch(conn.SendBatch(ctx, batch), before, scan)
	if err != nil && !conn.Conn().IsClosed() && conn.Conn().PgConn().TxStatus() != 'I' {
		_, undo := conn.Exec(ctx, "ROLLBACK")
		err = errors.Join(err, undo)
	}
	return err
}

// readBatch reads the answers of so many commands, a query, and a command.
func readBatch(results pgx.BatchResults, before int, scan func(pgx.Rows) error) (err error) {
	defer func() { err = errors.Join(err, results.Close()) }()
	for range before {
		if _, err := results.Exec(); err != nil {
			return err
		}
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	if err := scanAll(rows, scan); err != nil {
		return err
	}
	_, err = results.Exec()
	return err
}
