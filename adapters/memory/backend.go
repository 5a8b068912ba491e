package memory

import (
	"context"
	"sync"
	"time"

	"github.com/docket-go/docket/ports"
)

// Config configures a backend. The zero Config is ready to use.
type Config struct {
	// Clock is the store's clock, for requests whose Now is zero. Nil is the
	// process's. It must be safe for concurrent use.
	Clock func() time.Time
}

// Backend is a store in memory. Make one with New.
type Backend struct {
	operations
	clock clock
	bell  bell

	turn   chan struct{} // holds a token while somebody writes, or may
	closed chan struct{}

	mu    sync.RWMutex // guards state; writers also have the turn
	state *state
}

var (
	_ ports.Backend    = (*Backend)(nil)
	_ ports.Transactor = (*Backend)(nil)
	_ ports.WakeSource = (*Backend)(nil)
	_ ports.Pruner     = (*Backend)(nil)
)

// New returns an empty backend.
func New(config Config) *Backend {
	b := &Backend{
		turn:   make(chan struct{}, 1),
		closed: make(chan struct{}),
		state:  newState(),
	}
	if b.clock.read = config.Clock; config.Clock == nil {
		b.clock.read = time.Now
	}
	b.operations = operations{door: entrance{b}}
	return b
}

// Capabilities declares transactions, wakes and retention.
func (b *Backend) Capabilities() ports.Capabilities {
	return ports.Capabilities{Transactor: true, WakeSource: true, Pruner: true}
}

// Close ends the backend, its open transaction and its wake channels. What it
// held is gone.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended() {
		close(b.closed)
		b.bell.close()
	}
	return nil
}

func (b *Backend) ended() bool {
	select {
	case <-b.closed:
		return true
	default:
		return false
	}
}

// alive answers for a closed backend and an ended context (LIF-3, LIF-5).
func (b *Backend) alive(ctx context.Context, op string) error {
	if b.ended() {
		return ports.Closed(op)
	}
	return ports.Ended(ctx, op)
}

// takeTurn waits until no other write and no transaction is under way (TX-6).
func (b *Backend) takeTurn(ctx context.Context, op string) error {
	if err := b.alive(ctx, op); err != nil {
		return err
	}
	select {
	case b.turn <- struct{}{}:
	default:
		select {
		case b.turn <- struct{}{}:
		case <-ctx.Done():
			return ports.Ended(ctx, op)
		case <-b.closed:
			return ports.Closed(op)
		}
	}
	return nil
}

func (b *Backend) passTurn() { <-b.turn }

// entrance is the door to the committed state.
type entrance struct {
	*Backend
}

func (e entrance) enter(ctx context.Context, op string, writes bool) (*view, error) {
	if writes {
		if err := e.takeTurn(ctx, op); err != nil {
			return nil, err
		}
		e.mu.Lock()
	} else {
		if err := ports.Ended(ctx, op); err != nil {
			return nil, err
		}
		e.mu.RLock()
	}
	if e.ended() {
		e.leave(writes, false, nil)
		return nil, ports.Closed(op)
	}
	return &view{base: e.state}, nil
}

func (e entrance) leave(writes, due bool, _ error) {
	if !writes {
		e.mu.RUnlock()
		return
	}
	e.mu.Unlock()
	e.passTurn()
	if due {
		e.bell.ring()
	}
}

func (e entrance) now(given time.Time) time.Time { return e.clock.now(given) }
