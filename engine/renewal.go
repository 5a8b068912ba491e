package engine

import (
	"errors"
	"sync"
	"time"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// renewal keeps a claim alive from lease to release, whatever the node does. A
// claim is lost when the store says so; a store that can't be reached is asked
// again, and the commit decides.
type renewal struct {
	v     *vehicle
	every time.Duration

	mu     sync.Mutex
	timer  *time.Timer
	since  time.Time // of the last move of the claim's end
	ending bool      // a stale answer is expected: the claim is being given back
	closed bool
}

// startRenewal arms the first renewal. With an injected clock there is none:
// time stands still while a run is driven.
func startRenewal(v *vehicle) *renewal {
	r := &renewal{v: v, every: v.e.cfg.Renewal, since: v.began}
	if v.e.cfg.Clock != nil {
		return r
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = time.AfterFunc(r.every, r.fire)
	return r
}

// extended notes that a commit moved the claim's end: no renewal is needed soon.
func (r *renewal) extended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since = time.Now()
}

// expectEnd says that the claim is about to be given back.
func (r *renewal) expectEnd() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ending = true
}

func (r *renewal) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

// fire runs in the timer's goroutine. The session waits for it like for the
// vehicle, which is still there as long as the renewal isn't closed.
func (r *renewal) fire() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	if left := r.every - time.Since(r.since); left > 0 {
		r.timer.Reset(left)
		r.mu.Unlock()
		return
	}
	r.v.session.vehicles.Add(1)
	r.mu.Unlock()
	defer r.v.session.vehicles.Done()
	if err := guard("renewing a claim", r.renew); err != nil {
		r.v.log("a renewal failed", err)
		r.again(r.every/4, false)
	}
}

func (r *renewal) renew() {
	v := r.v
	asked := time.Now()
	_, err := v.e.store.refreshClaim(detached(v.ctx), ports.RefreshClaim{
		Scope: ports.System(), RunID: v.lease.Run.ID, Token: v.lease.Token, TTL: v.e.cfg.ClaimTTL,
	})
	switch {
	case err == nil:
		r.moved(asked)
		r.again(r.every, true)
	case errors.Is(err, ports.ErrStale):
		if !r.isEnding() {
			r.lost()
		}
	default:
		r.again(v.e.jitter.below(r.every/4), false)
	}
}

func (r *renewal) moved(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at.After(r.since) {
		r.since = at
	}
}

// again arms the timer; a failed renewal is due at once, whenever the timer
// comes.
func (r *renewal) again(after time.Duration, renewed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if !renewed {
		r.since = time.Now().Add(after - r.every)
	}
	r.timer.Reset(after)
}

func (r *renewal) isEnding() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ending || r.closed
}

// lost ends the node's context with the cause: the run was cancelled, or another
// worker has it.
func (r *renewal) lost() {
	v := r.v
	v.e.tel.fenceLost("renewal")
	seen, err := v.e.store.fetchRun(detached(v.ctx), ports.System(), v.lease.Run.ID)
	if err == nil && run.Status(seen.Run.Status) == run.Cancelled {
		v.cancel(ErrRunCancelled)
		return
	}
	v.cancel(ErrClaimLost)
}
