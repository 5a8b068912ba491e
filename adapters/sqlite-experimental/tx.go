package sqlite

import (
	"context"
	"fmt"
	"sync"

	"github.com/docket-go/docket/ports"
)

// Tx is a transaction: its graph, run and event operations commit or vanish
// together. It has the writer's turn until it ends. Its context's end doesn't
// end it; Rollback, Commit or the backend's Close do.
type Tx struct {
	roles
	ports.NoClaims
	backend *Backend

	mu    sync.Mutex
	ended bool
	fault error // the first one: only a roll-back is left (TX-3)
	due   bool  // a due wake was stored
}

var _ ports.Tx = (*Tx)(nil)

// Begin starts a transaction. It waits for other writers up to
// Config.BusyTimeout, or until ctx ends (TX-6).
func (b *Backend) Begin(ctx context.Context) (ports.Tx, error) {
	if b.isClosed() {
		return nil, ports.Closed("Begin")
	}
	if err := b.writer.take(ctx, "Begin"); err != nil {
		return nil, b.mapped(ctx, "Begin", err)
	}
	if err := b.writer.begin(ctx, "Begin"); err != nil {
		b.writer.give()
		return nil, b.mapped(ctx, "Begin", err)
	}
	tx := &Tx{backend: b}
	tx.roles = roles{run: tx, clock: b.cfg.Clock}
	b.mu.Lock()
	b.open = tx
	closed := b.isClosed()
	b.mu.Unlock()
	if closed { // Close didn't see this transaction and waits for its turn
		tx.abort()
		return nil, ports.Closed("Begin")
	}
	return tx, nil
}

// Commit stores the transaction, or nothing of it when a fault happened in it,
// also one that the caller swallowed (TX-3).
func (t *Tx) Commit(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return ports.Closed("Commit")
	}
	if t.fault == nil && ctx.Err() != nil {
		t.fault = notApplied(ctx, "Commit")
	}
	ctx = context.WithoutCancel(ctx)
	var told int64
	if t.fault == nil && t.due {
		told, t.fault = nextWake(ctx, "Commit", t.backend.writer.sql)
	}
	if t.fault != nil {
		fault := t.fault
		t.end(func(w *writer) { w.rollback(ctx) })
		return fmt.Errorf("sqlite: the transaction was rolled back: %w", fault)
	}
	var err error
	t.end(func(w *writer) { err = w.commit(ctx, "Commit") })
	if err == nil && told > 0 {
		t.backend.wakes.tell(told)
	}
	return err
}

// Rollback drops the transaction, also when ctx has ended.
func (t *Tx) Rollback(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return ports.Closed("Rollback")
	}
	t.end(func(w *writer) { w.rollback(context.WithoutCancel(ctx)) })
	return nil
}

// Close rolls the transaction back unless it has ended.
func (t *Tx) Close() error {
	t.abort()
	return nil
}

func (t *Tx) abort() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.end(func(w *writer) { w.rollback(context.Background()) })
	}
}

// end finishes the transaction and gives the turn back; t.mu is held.
func (t *Tx) end(finish func(*writer)) {
	t.ended = true
	finish(t.backend.writer)
	t.backend.mu.Lock()
	t.backend.open = nil
	t.backend.mu.Unlock()
	t.backend.writer.give()
}

// Capabilities tells that a transaction has no optional interfaces.
func (t *Tx) Capabilities() ports.Capabilities { return ports.Capabilities{} }

// read implements runner on the transaction's connection: it sees what the
// transaction wrote.
func (t *Tx) read(ctx context.Context, op string, work func(context.Context, *statements) error) error {
	return t.write(ctx, op, func(ctx context.Context, u *unit) error { return work(ctx, u.statements) })
}

// write implements runner inside the transaction.
func (t *Tx) write(ctx context.Context, op string, work func(context.Context, *unit) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return ports.Closed(op)
	}
	if t.fault != nil {
		return ports.Unavailable(op, fmt.Errorf("sqlite: only a roll-back is left after: %w", t.fault))
	}
	if ctx.Err() != nil {
		t.fault = notApplied(ctx, op)
		return t.fault
	}
	u := &unit{statements: t.backend.writer.sql}
	err := guarded(context.WithoutCancel(ctx), op, u, work)
	t.due = t.due || u.due
	if err != nil && !ports.IsAnswer(err) {
		t.fault = err
	}
	return err
}
