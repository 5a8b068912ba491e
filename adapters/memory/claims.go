package memory

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/docket-go/docket/ports"
)

// ClaimRuns implements ports.Claims.
func (b *Backend) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	if err := req.Check(); err != nil {
		return ports.Claimed{}, err
	}
	req = req.Normal()
	return write(ctx, b.operations, "ClaimRuns", func(v *view) (ports.Claimed, bool, error) {
		now := b.clock.now(req.Now)
		round := claimRound{state: v.base, req: req, answer: ports.Claimed{Now: now}}
		round.run()
		return round.answer, false, nil
	})
}

// claimRound hands out the outcomes of one call. An outcome takes its row out
// of what the round can still see: a lease ends after now, a poisoned run is in
// no queue.
type claimRound struct {
	state  *state
	req    ports.ClaimRuns
	answer ports.Claimed
	served map[ports.ClaimClass]bool
}

func (c *claimRound) run() {
	c.served = make(map[ports.ClaimClass]bool, 2)
	for left := c.req.Limit; left > 0; left-- {
		class, at := c.next(left)
		if at == nil {
			return
		}
		c.served[class] = true
		c.take(class, at)
	}
}

// next picks the oldest eligible run, whatever its class, but at limit one the
// preferred class comes first, and from two on the last outcome is kept for a
// class that got none yet (CLM-4).
func (c *claimRound) next(left int) (ports.ClaimClass, *slot) {
	prefer, other := c.req.Prefer, ports.ClassExpired
	if prefer == ports.ClassExpired {
		other = ports.ClassReady
	}
	first, second := c.head(prefer), c.head(other)
	switch {
	case second == nil:
		return prefer, first
	case first == nil:
		return other, second
	case left == 1 && !c.served[prefer]:
		return prefer, first
	case left == 1 && !c.served[other]:
		return other, second
	case second.eligible < first.eligible:
		return other, second
	default:
		return prefer, first
	}
}

// head returns the class's first claimable slot (CLM-1), nil when none is.
func (c *claimRound) head(class ports.ClaimClass) *slot {
	now := c.answer.Now.UnixMicro()
	if class == ports.ClassReady {
		if at := c.state.ready.head(); at != nil && at.eligible <= now {
			return at
		}
		return nil
	}
	if at := c.state.claimed.head(); at != nil && at.eligible < now {
		return at
	}
	return nil
}

// take leases or poisons a run: with maximum N the attempt N+1 poisons (CLM-3).
func (c *claimRound) take(class ports.ClaimClass, at *slot) {
	next, now := *at.row, c.answer.Now
	if next.attempts >= c.req.MaxAttempts {
		next.poisonAs(ports.PoisonAttempts, now)
		c.state.put(&next)
		c.answer.Poisoned = append(c.answer.Poisoned,
			ports.PoisonedRun{Owner: next.owner, RunID: next.run.ID, Poison: next.poison})
		return
	}
	next.attempts++
	next.claim(rand.Text(), now, c.req.TTL)
	c.state.put(&next)
	c.answer.Leases = append(c.answer.Leases, ports.Lease{
		Owner: next.owner, Run: next.run.Clone(), Token: next.token,
		Attempt: next.attempts, Class: class, Now: now, ClaimEnd: next.claimEnd,
	})
}

// RefreshClaim implements ports.Claims.
func (b *Backend) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	const op = "RefreshClaim"
	if err := req.Check(); err != nil {
		return ports.Refreshed{}, err
	}
	return write(ctx, b.operations, op, func(v *view) (ports.Refreshed, bool, error) {
		next, err := v.held(op, req.Scope, req.RunID, req.Token)
		if err != nil {
			return ports.Refreshed{}, false, err
		}
		now := b.clock.now(req.Now)
		next.claimEnd = latest(next.claimEnd, end(now, req.TTL)) // only forward (CLM-7)
		v.put(next)
		return ports.Refreshed{ClaimEnd: next.claimEnd, Now: now}, false, nil
	})
}

// ReleaseClaim implements ports.Claims.
func (b *Backend) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	const op = "ReleaseClaim"
	if err := req.Check(); err != nil {
		return ports.Released{}, err
	}
	return write(ctx, b.operations, op, func(v *view) (ports.Released, bool, error) {
		next, err := v.held(op, req.Scope, req.RunID, req.Token)
		if err != nil {
			return ports.Released{}, false, err
		}
		now := b.clock.now(req.Now)
		if req.ReturnAttempt {
			next.attempts = max(next.attempts-1, 0)
		}
		next.unclaim(now)
		v.put(next)
		return ports.Released{Now: now}, false, nil // silent (WAK-3)
	})
}

// AbandonClaim implements ports.Claims.
func (b *Backend) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	const op = "AbandonClaim"
	if err := req.Check(); err != nil {
		return ports.Abandoned{}, err
	}
	req = req.Normal()
	return write(ctx, b.operations, op, func(v *view) (ports.Abandoned, bool, error) {
		next, err := v.held(op, req.Scope, req.RunID, req.Token)
		if err != nil {
			return ports.Abandoned{}, false, err
		}
		if next.run.CheckpointSeq != req.ExpectedSeq {
			return ports.Abandoned{}, false, ports.Stale(op)
		}
		now := b.clock.now(req.Now)
		next.unclaim(retry(req, next.abandons, now))
		next.attempts = max(next.attempts-1, 0)
		next.abandons++
		if !req.NonPoisoning && next.abandons >= req.MaxAbandons {
			next.poisonAs(ports.PoisonAbandons, now)
		}
		v.put(next)
		return ports.Abandoned{Abandons: next.abandons, WakeAt: next.wakeAt, Poison: next.poison, Now: now}, false, nil
	})
}

func retry(req ports.AbandonClaim, abandons int64, now time.Time) time.Time {
	if !req.RetryAt.IsZero() {
		return req.RetryAt
	}
	return end(now, ports.Backoff(req.BackoffBase, req.BackoffCap, abandons))
}

// held returns a copy, to change, of the row that is claimed under the token. An
// ended claim is still held until somebody steals it (CLM-11).
func (v *view) held(op string, scope ports.Scope, id, token string) (*row, error) {
	r, err := v.visible(op, scope, id)
	if err != nil {
		return nil, err
	}
	if r.token != token {
		return nil, ports.Stale(op)
	}
	next := *r
	return &next, nil
}
