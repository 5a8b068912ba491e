package mutants

import (
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

var holderMutants = []Mutant{
	{Name: "release-ignores-the-token", Clause: "CLM-6", Off: "Anybody may release a claimed run.",
		rules: rules{releaseClaim: func(s *model.State, req ports.ReleaseClaim) (ports.Released, error) {
			if r := row(s, req.RunID); r.Claimed() && req.Check() == nil {
				req.Token = r.Token
			}
			return s.ReleaseClaim(req)
		}}},
	{Name: "refresh-ignores-the-token", Clause: "CLM-6", Off: "Anybody may refresh a claimed run.",
		rules: rules{refreshClaim: func(s *model.State, req ports.RefreshClaim) (ports.Refreshed, error) {
			if r := row(s, req.RunID); r.Claimed() && req.Check() == nil {
				req.Token = r.Token
			}
			return s.RefreshClaim(req)
		}}},
	{Name: "abandon-ignores-the-token", Clause: "CLM-6", Off: "Anybody may abandon a claimed run.",
		rules: rules{abandonClaim: func(s *model.State, req ports.AbandonClaim) (ports.Abandoned, error) {
			if r := row(s, req.RunID); r.Claimed() && req.Check() == nil {
				req.Token = r.Token
			}
			return s.AbandonClaim(req)
		}}},
	{Name: "abandon-ignores-the-sequence", Clause: "CLM-6", Off: "An abandon applies whatever sequence it expects.",
		rules: rules{abandonClaim: func(s *model.State, req ports.AbandonClaim) (ports.Abandoned, error) {
			if req.Check() == nil {
				req.ExpectedSeq = max(row(s, req.RunID).Run.CheckpointSeq, 1)
			}
			return s.AbandonClaim(req)
		}}},
	{Name: "stale-release-clears-the-new-claim", Clause: "CLM-6", Off: "A release under an old token is ErrStale, and takes the new holder's claim away.",
		rules: rules{releaseClaim: func(s *model.State, req ports.ReleaseClaim) (ports.Released, error) {
			got, err := s.ReleaseClaim(req)
			if r := row(s, req.RunID); ports.CodeOf(err) == ports.CodeStale && r.Claimed() {
				r.Unclaim()
				r.Wake = req.Now
				s.Put(r)
			}
			return got, err
		}}},
	{Name: "refresh-moves-the-end-back", Clause: "CLM-7", Off: "A refresh with a shorter TTL brings the end nearer.",
		rules: refreshing(func(_ model.Row, r *model.Row, req ports.RefreshClaim) { r.ClaimEnd = req.Now.Add(req.TTL) })},
	{Name: "refresh-by-the-process-clock", Clause: "CLM-7", Off: "A refresh counts its TTL from the process's clock.",
		rules: rules{refreshClaim: func(s *model.State, req ports.RefreshClaim) (ports.Refreshed, error) {
			now := req.Now
			if time.Until(req.Now).Abs() > time.Minute { // not the store's own clock
				req.Now = time.Now()
			}
			got, err := s.RefreshClaim(req)
			if err == nil {
				got.Now = now.UTC().Truncate(time.Microsecond)
			}
			return got, err
		}}},
	{Name: "refresh-resurrects", Clause: "CLM-7", Off: "A refresh gives a claim back that was released or abandoned.",
		rules: rules{refreshClaim: func(s *model.State, req ports.RefreshClaim) (ports.Refreshed, error) {
			got, err := s.RefreshClaim(req)
			r := row(s, req.RunID)
			if ports.CodeOf(err) == ports.CodeStale && !r.Wake.IsZero() && r.Run.CheckpointSeq == 1 {
				r.Token, r.ClaimedAt, r.ClaimEnd, r.Wake = req.Token, req.Now, req.Now.Add(req.TTL), time.Time{}
				s.Put(r)
				return ports.Refreshed{ClaimEnd: r.ClaimEnd, Now: req.Now}, nil
			}
			return got, err
		}}},
	{Name: "release-waits", Clause: "CLM-8", Off: "A released run is due only a second later.",
		rules: releasing(func(_ model.Row, r *model.Row, _ ports.ReleaseClaim) { r.Wake = r.Wake.Add(time.Second) })},
	{Name: "attempt-never-returned", Clause: "CLM-8", Off: "A release doesn't give the attempt back.",
		rules: releasing(func(before model.Row, r *model.Row, _ ports.ReleaseClaim) { r.Attempts = before.Attempts })},
	{Name: "attempt-always-returned", Clause: "CLM-8", Off: "A release gives the attempt back although it wasn't asked to.",
		rules: releasing(func(before model.Row, r *model.Row, _ ports.ReleaseClaim) { r.Attempts = before.Attempts - 1 })},
	{Name: "abandon-counts-as-an-attempt", Clause: "CLM-9", Off: "An abandon doesn't give the attempt back.",
		rules: abandoning(func(before model.Row, r *model.Row, _ ports.AbandonClaim) { r.Attempts = before.Attempts })},
	{Name: "abandons-aren't-counted", Clause: "CLM-9", Off: "An abandon isn't counted.",
		rules: abandoning(func(before model.Row, r *model.Row, _ ports.AbandonClaim) {
			if !r.Poisoned() {
				r.Abandons = before.Abandons
			}
		})},
	{Name: "retry-time-ignored", Clause: "CLM-9", Off: "An abandoned run is due at once.",
		rules: abandoning(func(_ model.Row, r *model.Row, req ports.AbandonClaim) {
			if !r.Poisoned() {
				r.Wake = req.Normal().Now
			}
		})},
	{Name: "one-abandon-too-many", Clause: "CLM-9", Off: "The abandon that reaches the maximum doesn't poison, the next does.",
		rules: abandonedWith(func(_ model.Row, req *ports.AbandonClaim) { req.MaxAbandons++ })},
	{Name: "non-poisoning-poisons", Clause: "CLM-9", Off: "An abandon that must not poison does.",
		rules: abandonedWith(func(_ model.Row, req *ports.AbandonClaim) {
			req.NonPoisoning = req.NonPoisoning && req.MaxAbandons < 1
		})},
	{Name: "back-off-overflows", Clause: "CLM-9", Off: "The back-off doubles by shifting, and overflows.",
		rules: abandonedWith(func(r model.Row, req *ports.AbandonClaim) {
			if wait := req.BackoffBase << r.Abandons; req.RetryAt.IsZero() {
				req.RetryAt = req.Normal().Now.Add(min(wait, req.BackoffCap))
			}
		})},
	{Name: "back-off-counts-this-abandon", Clause: "CLM-9", Off: "The back-off is doubled once too often.",
		rules: abandonedWith(func(r model.Row, req *ports.AbandonClaim) {
			if req.RetryAt.IsZero() {
				req.RetryAt = req.Normal().Now.Add(ports.Backoff(req.BackoffBase, req.BackoffCap, r.Abandons+1))
			}
		})},
	{Name: "late-refresh-doesn't-save", Clause: "CLM-10", Off: "A refresh after the end succeeds, and the next claim takes the run all the same.",
		rules: refreshing(func(before model.Row, r *model.Row, req ports.RefreshClaim) {
			if before.ClaimEnd.Before(req.Now) {
				r.ClaimEnd = before.ClaimEnd
			}
		})},
	{Name: "expired-token-is-stale", Clause: "CLM-11", Off: "A commit after the claim's end is ErrStale although nobody stole the run.",
		rules: committing(func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
			if r := row(s, req.RunID); holds(s, req) && r.ClaimEnd.Before(req.Now) && req.Check() == nil {
				return ports.Committed{}, ports.Stale("CommitClaimed")
			}
			return s.CommitClaimed(req)
		})},
	{Name: "expired-token-can't-refresh", Clause: "CLM-11", Off: "A refresh after the claim's end is ErrStale although nobody stole the run.",
		rules: rules{refreshClaim: func(s *model.State, req ports.RefreshClaim) (ports.Refreshed, error) {
			if r := row(s, req.RunID); r.Claimed() && r.Token == req.Token && r.ClaimEnd.Before(req.Now) && req.Scope.Matches(r.Owner) {
				return ports.Refreshed{}, ports.Stale("RefreshClaim")
			}
			return s.RefreshClaim(req)
		}}},
}

func releasing(f func(before model.Row, r *model.Row, req ports.ReleaseClaim)) rules {
	return rules{releaseClaim: func(s *model.State, req ports.ReleaseClaim) (ports.Released, error) {
		before := row(s, req.RunID)
		got, err := s.ReleaseClaim(req)
		if err == nil {
			edit(s, req.RunID, func(r *model.Row) { f(before, r, req) })
		}
		return got, err
	}}
}

// abandoning edits a row that was abandoned, and the answer with it.
func abandoning(f func(before model.Row, r *model.Row, req ports.AbandonClaim)) rules {
	return rules{abandonClaim: func(s *model.State, req ports.AbandonClaim) (ports.Abandoned, error) {
		before := row(s, req.RunID)
		got, err := s.AbandonClaim(req)
		if err == nil {
			edit(s, req.RunID, func(r *model.Row) {
				f(before, r, req)
				got.Abandons, got.WakeAt = r.Abandons, r.Wake
			})
		}
		return got, err
	}}
}

func abandonedWith(f func(r model.Row, req *ports.AbandonClaim)) rules {
	return rules{abandonClaim: func(s *model.State, req ports.AbandonClaim) (ports.Abandoned, error) {
		if err := req.Check(); err != nil {
			return ports.Abandoned{}, err
		}
		f(row(s, req.RunID), &req)
		return s.AbandonClaim(req)
	}}
}
