package model

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/docket-go/docket/ports"
)

// Backend is a State behind the port, with every optional interface. Make one
// with NewBackend.
type Backend struct {
	*handle
}

// NewBackend returns an empty store.
func NewBackend() *Backend {
	return NewBackendOf(func(s *State) Operations { return s })
}

// NewBackendOf returns an empty store with other operations on its state, which
// are made again for every transaction.
func NewBackendOf(of func(*State) Operations) *Backend {
	state := New()
	return &Backend{&handle{storage: &storage{
		turn: make(chan struct{}, 1), state: state, of: of, does: of(state), clock: &clock{},
	}}}
}

// Reopen returns one more handle on the same storage, also when b is closed.
func (b *Backend) Reopen() *Backend { return &Backend{&handle{storage: b.storage}} }

// Copy returns a store of its own with a copy of the state.
func (b *Backend) Copy() *Backend {
	c := NewBackendOf(b.of)
	c.clock = b.clock
	b.Edit(func(s *State) { *c.state = *s.Clone() })
	return c
}

// Edit changes the state behind the backend's back.
func (b *Backend) Edit(f func(*State)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(b.state)
}

// Capabilities tells that the model has everything but admission.
func (b *Backend) Capabilities() ports.Capabilities {
	return ports.Capabilities{Transactor: true, WakeSource: true, Pruner: true}
}

// Prune answers as State.Prune does. Pruners take turns.
func (b *Backend) Prune(ctx context.Context, req ports.Prune) (ports.Pruned, error) {
	req.Now = b.clock.now(req.Now)
	return write(ctx, b.handle, "Prune", req, func(req ports.Prune) (ports.Pruned, error) { return b.does.Prune(req) })
}

// storage is what several handles share.
type storage struct {
	turn chan struct{} // held by a write, and by a transaction to its end

	mu    sync.Mutex
	state *State
	does  Operations // on state
	of    func(*State) Operations
	bell  bell
	clock *clock
}

// clock is the store's, and the source of its tokens.
type clock struct {
	mu     sync.Mutex
	last   time.Time
	tokens int64
}

// now fills in the store's own clock, which doesn't go back.
func (c *clock) now(given time.Time) time.Time {
	if !given.IsZero() {
		return given
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = later(c.last, micro(time.Now()))
	return c.last
}

// token is unique; that it can be guessed is of no consequence here.
func (c *clock) token() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens++
	return fmt.Sprintf("model-token-%016d", c.tokens)
}

// handle is one opening of a storage, or a transaction's view of one, with the
// required roles.
type handle struct {
	*storage
	inTx   bool
	closed bool  // guarded by the storage's mu, as all below
	fault  error // in a transaction: it is roll-back only (TX-3)
	rings  bool  // in a transaction: a wake is due when it commits (WAK-1)
}

// Close ends the handle and its subscriptions; closing again is harmless.
func (h *handle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.bell.silence(h)
	return nil
}

// read runs one operation that changes nothing; an open transaction doesn't
// keep it waiting.
func read[Q, A any](ctx context.Context, h *handle, op string, req Q, f func(Q) (A, error)) (A, error) {
	var none A
	if err := ports.Ended(ctx, op); err != nil {
		return none, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return none, ports.Closed(op)
	}
	return f(req)
}

// write runs one operation when it is its turn.
func write[Q, A any](ctx context.Context, h *handle, op string, req Q, f func(Q) (A, error)) (A, error) {
	var none A
	if err := ports.Ended(ctx, op); err != nil {
		return none, err
	}
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return none, ports.Unavailable(op, ctx.Err())
	}
	defer func() { <-h.turn }()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return none, ports.Closed(op)
	}
	answer, err := f(req)
	if ports.IsFault(err) {
		h.fault = err
	}
	return answer, err
}

// unclaimable is what the claim operations of a transaction answer (TX-1).
func (h *handle) unclaimable(op string) error {
	if h.inTx {
		return ports.Unsupported(op, "no claims inside a transaction")
	}
	return nil
}
