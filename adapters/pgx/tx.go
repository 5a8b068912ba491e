package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/docket-go/docket/ports"
)

// Tx is a transaction: its graph, run and event operations commit or vanish
// together. One from Begin is ended by Commit, Rollback or Close. One from
// WithTx is the host's, and the host ends it.
type Tx struct {
	roles
	ports.NoClaims
	backend *Backend
	tx      pgx.Tx
	hosts   bool // the host began it and ends it

	mu     sync.Mutex
	ended  bool
	failed error // the first fault: only a roll-back is left (TX-3)
	due    bool  // a due wake was stored
}

var _ ports.Tx = (*Tx)(nil)

// Begin starts a transaction, on a connection of the pool that it keeps until
// it ends. Any number of them run side by side.
func (b *Backend) Begin(ctx context.Context) (ports.Tx, error) {
	const op = "Begin"
	conn, err := b.acquire(ctx, op)
	if err != nil {
		return nil, err
	}
	sent, done := patiently(ctx, b.cfg.CancelGrace)
	defer done()
	began, err := conn.BeginTx(sent, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		conn.Release()
		return nil, mapError(op, err, reading)
	}
	t := b.bind(&pooledTx{Tx: began, release: conn.Release})
	b.mu.Lock()
	closed := b.isClosed()
	if !closed {
		b.open[t] = struct{}{}
	}
	b.mu.Unlock()
	if closed {
		t.abort()
		return nil, ports.Closed(op)
	}
	return t, nil
}

// WithTx returns the backend inside a transaction of the host's, on the same
// database: what the host writes and what docket writes commit together. The
// host commits or rolls back; here Commit is ErrUnsupported. After a fault the
// server's transaction is aborted, so that the host's Commit rolls back, also
// when the fault was swallowed. A stricter isolation than read committed makes
// concurrent changes ErrUnavailable: the host then repeats its transaction.
func (b *Backend) WithTx(tx pgx.Tx) *Tx {
	t := b.bind(tx)
	t.hosts = true
	return t
}

func (b *Backend) bind(tx pgx.Tx) *Tx {
	t := &Tx{backend: b, tx: tx}
	t.roles = roles{db: t, sql: b.sql}
	return t
}

// pooledTx gives its connection back when it ends.
type pooledTx struct {
	pgx.Tx
	release func()
}

// Commit stores the transaction, or nothing of it when a fault happened in it,
// also one that the caller swallowed (TX-3).
func (t *Tx) Commit(ctx context.Context) error {
	const op = "Commit"
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended:
		return ports.Closed(op)
	case t.hosts:
		return ports.Unsupported(op, "the host began this transaction and commits it")
	}
	if t.failed == nil && ctx.Err() != nil {
		t.failed = notApplied(ctx, op)
	}
	if t.failed != nil {
		t.undo()
		return fmt.Errorf("postgres: the transaction was rolled back: %w", t.failed)
	}
	sent, done := patiently(ctx, t.backend.cfg.CancelGrace)
	defer done()
	err := t.tx.Commit(sent)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(err, because(ctx, ctx.Err()))
	}
	t.end()
	if err == nil && t.due {
		t.backend.told()
	}
	return mapError(op, err, writing)
}

// Rollback drops the transaction, also when ctx has ended. In a transaction of
// the host's it leaves the host nothing but to roll back.
func (t *Tx) Rollback(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return ports.Closed("Rollback")
	}
	if t.hosts {
		t.spoil(context.WithoutCancel(ctx))
		t.ended = true
		return nil
	}
	t.undo()
	return nil
}

// Close rolls the transaction back unless it has ended. It leaves a transaction
// of the host's alone.
func (t *Tx) Close() error {
	t.abort()
	return nil
}

func (t *Tx) abort() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended:
	case t.hosts:
		t.ended = true
	default:
		t.undo()
	}
}

// undo rolls back; t.mu is held. A connection on which that fails is closed by
// the driver, and the server rolls back by itself.
func (t *Tx) undo() {
	ctx, cancel := context.WithTimeout(context.Background(), t.backend.cfg.AcquireTimeout)
	defer cancel()
	_ = t.tx.Rollback(ctx)
	t.end()
}

func (t *Tx) end() {
	t.ended = true
	if pooled, ok := t.tx.(*pooledTx); ok {
		pooled.release()
	}
	t.backend.mu.Lock()
	delete(t.backend.open, t)
	t.backend.mu.Unlock()
}

// Capabilities tells that a transaction has no optional interfaces.
func (t *Tx) Capabilities() ports.Capabilities { return ports.Capabilities{} }

// query implements database on the transaction's connection.
func (t *Tx) query(ctx context.Context, op string, _ stage, sql string, args []any, scan func(pgx.Rows) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended || t.backend.isClosed():
		return ports.Closed(op)
	case t.failed != nil:
		return ports.Unavailable(op, fmt.Errorf("postgres: only a roll-back is left after: %w", t.failed))
	case ctx.Err() != nil:
		return t.note(ctx, notApplied(ctx, op))
	}
	sent, done := patiently(ctx, t.backend.cfg.CancelGrace)
	defer done()
	err := each(sent, t.tx, sql, args, scan)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = errors.Join(err, because(ctx, ctx.Err()))
	}
	// Nothing is stored before the commit: what is lost here was not applied.
	return t.note(ctx, mapError(op, err, reading))
}

// told implements database: the server tells at the commit.
func (t *Tx) told() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = true
}

// fault implements database.
func (t *Tx) fault(ctx context.Context, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.note(ctx, err)
}

// note keeps the first fault, and makes the server keep it too; t.mu is held.
func (t *Tx) note(ctx context.Context, err error) error {
	if t.failed == nil {
		t.failed = err
		t.spoil(context.WithoutCancel(ctx))
	}
	return err
}

// spoil leaves the server's transaction aborted, by a statement that can't
// succeed; in one that is aborted already it does nothing.
func (t *Tx) spoil(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, t.backend.cfg.AcquireTimeout)
	defer cancel()
	if conn := t.tx.Conn(); conn == nil || conn.IsClosed() {
		return
	}
	_, _ = t.tx.Exec(ctx, `SELECT CAST('docket: after a fault this transaction can only be rolled back' AS integer)`)
}
