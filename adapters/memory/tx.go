package memory

import (
	"context"
	"sync"
	"time"

	"github.com/docket-go/docket/ports"
)

// Begin implements ports.Transactor. It takes the turn to write, and the
// transaction keeps it until it ends.
func (b *Backend) Begin(ctx context.Context) (ports.Tx, error) {
	if err := b.takeTurn(ctx, "Begin"); err != nil {
		return nil, err
	}
	t := &transaction{backend: b, draft: newDraft()}
	t.operations = operations{door: t}
	return t, nil
}

// transaction collects work in a draft over the committed state.
type transaction struct {
	operations
	backend *Backend

	mu    sync.Mutex
	draft *draft
	fault error // the first: the transaction is roll-back only (TX-3)
	due   bool  // ring after the commit
	ended bool
}

// Capabilities declares nothing: a transaction has no optional interface.
func (t *transaction) Capabilities() ports.Capabilities { return ports.Capabilities{} }

func (t *transaction) enter(ctx context.Context, op string, _ bool) (*view, error) {
	t.mu.Lock()
	err := t.usable(op)
	if err == nil {
		if err = ports.Ended(ctx, op); err != nil {
			t.fail(err)
		}
	}
	if err != nil {
		t.mu.Unlock()
		return nil, err
	}
	return &view{base: t.backend.state, draft: t.draft}, nil
}

func (t *transaction) leave(_, due bool, err error) {
	t.due = t.due || due
	if ports.IsFault(err) {
		t.fail(err)
	}
	t.mu.Unlock()
}

func (t *transaction) now(given time.Time) time.Time { return t.backend.clock.now(given) }

func (t *transaction) usable(op string) error {
	if t.ended || t.backend.ended() {
		return ports.Closed(op)
	}
	return nil
}

func (t *transaction) fail(err error) {
	if t.fault == nil {
		t.fault = err
	}
}

// Commit implements ports.Tx.
func (t *transaction) Commit(ctx context.Context) error {
	const op = "Commit"
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.usable(op); err != nil {
		return err
	}
	defer t.end()
	if err := ports.Ended(ctx, op); err != nil {
		return err
	}
	if t.fault != nil {
		return &ports.Error{Code: ports.CodeOf(t.fault), Op: op, Message: "rolled back after a fault", Err: t.fault}
	}
	if err := t.apply(op); err != nil {
		return err
	}
	if t.due {
		t.backend.bell.ring()
	}
	return nil
}

func (t *transaction) apply(op string) error {
	t.backend.mu.Lock()
	defer t.backend.mu.Unlock()
	if t.backend.ended() {
		return ports.Closed(op)
	}
	t.backend.state.apply(t.draft)
	return nil
}

// Rollback implements ports.Tx.
func (t *transaction) Rollback(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return ports.Closed("Rollback")
	}
	t.end()
	return nil
}

// Close rolls back a transaction that hasn't ended.
func (t *transaction) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.end()
	}
	return nil
}

func (t *transaction) end() {
	t.ended, t.draft = true, nil
	t.backend.passTurn()
}

// ClaimRuns is refused inside a transaction (TX-1), as are the other claims.
func (t *transaction) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	return ports.Claimed{}, t.noClaims("ClaimRuns", req.Check())
}

// RefreshClaim is refused inside a transaction.
func (t *transaction) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	return ports.Refreshed{}, t.noClaims("RefreshClaim", req.Check())
}

// ReleaseClaim is refused inside a transaction.
func (t *transaction) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	return ports.Released{}, t.noClaims("ReleaseClaim", req.Check())
}

// AbandonClaim is refused inside a transaction.
func (t *transaction) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	return ports.Abandoned{}, t.noClaims("AbandonClaim", req.Check())
}

func (t *transaction) noClaims(op string, shape error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.usable(op); err != nil {
		return err
	}
	if shape != nil {
		return shape
	}
	return ports.Unsupported(op, "a transaction has no claims")
}
