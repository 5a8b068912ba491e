package model

import (
	"context"
	"sync/atomic"

	"github.com/docket-go/docket/ports"
)

// Tx is a transaction on a copy of the state, which a commit puts in its place.
// The store waits meanwhile (TX-6).
type Tx struct {
	*Backend
	store *Backend
	fault atomic.Bool // roll-back only (TX-3)
	ended atomic.Bool
}

// Begin waits for the store's turn and keeps it until the transaction ends.
func (b *Backend) Begin(ctx context.Context) (ports.Tx, error) {
	if b.inTx {
		return nil, ports.Unsupported("Begin", "a transaction inside a transaction")
	}
	if err := ports.Ended(ctx, "Begin"); err != nil {
		return nil, err
	}
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ports.Unavailable("Begin", ctx.Err())
	}
	if b.closed {
		<-b.turn
		return nil, ports.Closed("Begin")
	}
	view := &Backend{turn: make(chan struct{}, 1), state: b.state.Clone(), inTx: true, shared: b.shared}
	return &Tx{Backend: view, store: b}, nil
}

// Commit puts the copy in the place of the store's state.
func (t *Tx) Commit(ctx context.Context) error { return t.end(ctx, "Commit", true) }

// Rollback drops the copy.
func (t *Tx) Rollback(ctx context.Context) error {
	return t.end(context.WithoutCancel(ctx), "Rollback", false)
}

func (t *Tx) end(ctx context.Context, op string, commit bool) error {
	if t.ended.Swap(true) {
		return ports.Closed(op)
	}
	defer func() { <-t.store.turn }()
	if err := t.Backend.Close(); err != nil {
		return err
	}
	if !commit {
		return nil
	}
	if err := ports.Ended(ctx, op); err != nil {
		return err
	}
	if t.fault.Load() {
		return ports.Conflict(op, "a fault made the transaction roll-back only")
	}
	t.store.state = t.Backend.state
	return nil
}

// SaveGraph is the one operation of a transaction that can meet a fault of its
// own: other bytes under a stored key.
func (t *Tx) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	got, err := t.Backend.SaveGraph(ctx, req)
	if ports.CodeOf(err) == ports.CodeConflict {
		t.fault.Store(true)
	}
	return got, err
}
