package model

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/docket-go/docket/ports"
)

// Backend is a State behind the port. Make one with NewBackend.
type Backend struct {
	turn   chan struct{} // one operation, or one transaction, at a time
	state  *State
	inTx   bool // a transaction's own view: it holds the turn of its store
	closed bool

	shared *shared
}

// shared is what a store and its transactions have in common.
type shared struct {
	mu     sync.Mutex
	tokens int64
	last   time.Time
}

// NewBackend returns an empty store.
func NewBackend() *Backend {
	return &Backend{turn: make(chan struct{}, 1), state: New(), shared: &shared{}}
}

// Capabilities tells that the model has transactions.
func (b *Backend) Capabilities() ports.Capabilities { return ports.Capabilities{Transactor: !b.inTx} }

// Close ends the store; closing again is harmless.
func (b *Backend) Close() error {
	b.turn <- struct{}{}
	defer func() { <-b.turn }()
	b.closed = true
	return nil
}

// now fills in the store's own clock, which doesn't go back.
func (b *Backend) now(given time.Time) time.Time {
	if !given.IsZero() {
		return given
	}
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	b.shared.last = later(b.shared.last, micro(time.Now()))
	return b.shared.last
}

// token is unique; that it can be guessed is of no consequence here.
func (b *Backend) token() string {
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	b.shared.tokens++
	return fmt.Sprintf("model-token-%016d", b.shared.tokens)
}

// apply runs one operation when it is its turn.
func apply[Q, A any](ctx context.Context, b *Backend, op string, req Q, f func(Q) (A, error)) (A, error) {
	var none A
	if err := ports.Ended(ctx, op); err != nil {
		return none, err
	}
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return none, ports.Unavailable(op, ctx.Err())
	}
	defer func() { <-b.turn }()
	if b.closed {
		return none, ports.Closed(op)
	}
	return f(req)
}
