package model

import (
	"context"

	"github.com/docket-go/docket/ports"
)

// Tx is a transaction on a copy of the state, which a commit puts in its place.
// Other writers wait meanwhile (TX-6); readers see what was before (TX-2).
type Tx struct {
	*handle
	store    *Backend
	detached bool // it gave the turn back before its end
}

// Begin waits for the store's turn and keeps it until the transaction ends.
func (b *Backend) Begin(ctx context.Context) (ports.Tx, error) {
	const op = "Begin"
	if err := ports.Ended(ctx, op); err != nil {
		return nil, err
	}
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ports.Unavailable(op, ctx.Err())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		<-b.turn
		return nil, ports.Closed(op)
	}
	state := b.state.Clone()
	return &Tx{store: b, handle: &handle{inTx: true, storage: &storage{
		turn: make(chan struct{}, 1), state: state, of: b.of, does: b.of(state), clock: b.clock,
	}}}, nil
}

// Capabilities tells that a transaction has no optional interface.
func (t *Tx) Capabilities() ports.Capabilities { return ports.Capabilities{} }

// Commit puts the copy in the place of the store's state, unless a fault came
// (TX-3).
func (t *Tx) Commit(ctx context.Context) error {
	const op = "Commit"
	return t.end(op, func() error {
		switch err := ports.Ended(ctx, op); {
		case err != nil:
			return err
		case t.fault != nil:
			return &ports.Error{Code: ports.CodeOf(t.fault), Op: op, Message: "a fault made the transaction roll-back only", Err: t.fault}
		}
		t.Publish()
		return nil
	})
}

// Publish puts the copy in the place of the store's state and tells the wakes.
func (t *Tx) Publish() {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	t.store.state, t.store.does = t.state, t.does
	if t.rings {
		t.store.bell.ring()
	}
}

// Detach lets other writers go on while the transaction is open, which no right
// store does that keeps its state in one piece.
func (t *Tx) Detach() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.detached {
		t.detached = true
		<-t.store.turn
	}
}

// Look shows the copy that the transaction works on.
func (t *Tx) Look(f func(*State)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t.state)
}

// Rollback drops the copy.
func (t *Tx) Rollback(context.Context) error {
	return t.end("Rollback", func() error { return nil })
}

// Close rolls back a transaction that hasn't ended.
func (t *Tx) Close() error {
	if err := t.Rollback(context.Background()); ports.CodeOf(err) != ports.CodeClosed {
		return err
	}
	return nil
}

// end ends the transaction, once (TX-4), and gives the turn back.
func (t *Tx) end(op string, f func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ports.Closed(op)
	}
	t.closed = true
	if !t.detached {
		defer func() { <-t.store.turn }()
	}
	return f()
}
