package backend

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// due is a run that may be claimed: its class, and since when.
type due struct {
	row
	class ports.ClaimClass
	since time.Time
}

// ClaimRuns leases what is due, or poisons it when its attempts are used up, at
// most Limit of them (CLM-2).
func (s *Store) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	return operate(ctx, s, "ClaimRuns", req, func() (ports.Claimed, error) {
		req := req.Normal()
		answer := ports.Claimed{Now: s.now(req.Now)}
		for _, d := range s.chosen(req, answer.Now) {
			s.deliver(d, req, &answer)
		}
		return answer, nil
	})
}

// chosen picks the runs of one claim: the preferred class first, but with a limit
// of two or more the other one, if it has any, gets at least one (CLM-4).
func (s *Store) chosen(req ports.ClaimRuns, now time.Time) []due {
	var preferred, others []due
	for _, r := range s.runs {
		switch d, ok := r.due(now); {
		case !ok:
		case d.class == req.Prefer:
			preferred = append(preferred, d)
		default:
			others = append(others, d)
		}
	}
	slices.SortFunc(preferred, olderDue)
	slices.SortFunc(others, olderDue)
	if req.Limit >= 2 && len(others) > 0 {
		preferred = preferred[:min(len(preferred), req.Limit-1)]
	}
	all := append(preferred, others...)
	return all[:min(len(all), req.Limit)]
}

// due says whether a run may be claimed (CLM-1). Terminal, waiting and poisoned
// ones never are (CLM-12).
func (r row) due(now time.Time) (due, bool) {
	switch {
	case r.status() != run.Running || r.poisoned():
		return due{}, false
	case r.token == "":
		return due{r, ports.ClassReady, r.wakeAt}, !r.wakeAt.After(now)
	default:
		return due{r, ports.ClassExpired, r.claimEnd}, r.claimEnd.Before(now)
	}
}

func olderDue(a, b due) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.run.ID, b.run.ID)) }

// deliver gives one outcome. The attempt is counted here, in the claim, not when
// its holder comes back: a holder that dies doesn't (CLM-3).
func (s *Store) deliver(d due, req ports.ClaimRuns, answer *ports.Claimed) {
	r, now := d.row, answer.Now
	if r.attempts >= req.MaxAttempts {
		r.poisonAs(ports.PoisonAttempts, now)
		s.put(r)
		answer.Poisoned = append(answer.Poisoned, ports.PoisonedRun{Owner: r.owner, RunID: r.run.ID, Poison: r.poison})
		return
	}
	r.attempts++
	r.claim(rand.Text(), now, req.TTL)
	s.put(r)
	answer.Leases = append(answer.Leases, ports.Lease{
		Owner: r.owner, Run: r.run.Clone(), Token: r.token, Attempt: r.attempts, Class: d.class, Now: now, ClaimEnd: r.claimEnd,
	})
}

// RefreshClaim moves a claim's end, only ever forward (CLM-7).
func (s *Store) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	const op = "RefreshClaim"
	return operate(ctx, s, op, req, func() (ports.Refreshed, error) {
		r, err := s.held(op, req.Scope, req.RunID, req.Token)
		if err != nil {
			return ports.Refreshed{}, err
		}
		now := s.now(req.Now)
		r.claimEnd = later(r.claimEnd, end(now, req.TTL))
		s.put(r)
		return ports.Refreshed{ClaimEnd: r.claimEnd, Now: now}, nil
	})
}

// ReleaseClaim gives a claim back; the run is due at once (CLM-8).
func (s *Store) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	const op = "ReleaseClaim"
	return operate(ctx, s, op, req, func() (ports.Released, error) {
		r, err := s.held(op, req.Scope, req.RunID, req.Token)
		if err != nil {
			return ports.Released{}, err
		}
		now := s.now(req.Now)
		r.unclaim(now)
		if req.ReturnAttempt {
			r.returnAttempt()
		}
		s.put(r)
		return ports.Released{Now: now}, nil
	})
}

// AbandonClaim gives a run back that its holder can't run, for later, or poisons
// it at the maximum (CLM-9).
func (s *Store) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	const op = "AbandonClaim"
	return operate(ctx, s, op, req, func() (ports.Abandoned, error) {
		req := req.Normal()
		r, err := s.held(op, req.Scope, req.RunID, req.Token)
		if err != nil {
			return ports.Abandoned{}, err
		}
		if r.run.CheckpointSeq != req.ExpectedSeq {
			return ports.Abandoned{}, ports.Stale(op)
		}
		now := s.now(req.Now)
		retryAt := req.RetryAt
		if retryAt.IsZero() {
			retryAt = end(now, ports.Backoff(req.BackoffBase, req.BackoffCap, r.abandons))
		}
		r.unclaim(retryAt)
		r.returnAttempt()
		r.abandons++
		if !req.NonPoisoning && r.abandons >= req.MaxAbandons {
			r.poisonAs(ports.PoisonAbandons, now)
		}
		s.put(r)
		return ports.Abandoned{Abandons: r.abandons, WakeAt: r.wakeAt, Poison: r.poison, Now: now}, nil
	})
}
