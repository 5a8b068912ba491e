package mutants

import (
	"strings"
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

// claiming replaces the claim.
func claiming(f func(*model.State, ports.ClaimRuns, model.TokenSource) (ports.Claimed, error)) rules {
	return rules{claimRuns: f}
}

// seeing claims while rows look different to the claim.
func seeing(disguise func(*model.Row, ports.ClaimRuns)) rules {
	return claiming(func(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
		return disguised(s, func(r *model.Row) { disguise(r, req.Normal()) }, func() (ports.Claimed, error) { return s.ClaimRuns(req, token) })
	})
}

var claimMutants = []Mutant{
	{Name: "claimers-ttl-used", Clause: "CLM-1", Off: "A claim expires by the TTL of whoever claims next.",
		rules: seeing(func(r *model.Row, req ports.ClaimRuns) {
			if r.Claimed() {
				r.ClaimEnd = r.ClaimedAt.Add(req.TTL)
			}
		})},
	{Name: "due-after-the-wake", Clause: "CLM-1", Off: "A run isn't due at its wake, only after it.",
		rules: seeing(func(r *model.Row, _ ports.ClaimRuns) {
			if !r.Wake.IsZero() {
				r.Wake = r.Wake.Add(time.Microsecond)
			}
		})},
	{Name: "due-before-the-wake", Clause: "CLM-1", Off: "A run is due a microsecond before its wake.",
		rules: seeing(func(r *model.Row, _ ports.ClaimRuns) {
			if !r.Wake.IsZero() {
				r.Wake = r.Wake.Add(-time.Microsecond)
			}
		})},
	{Name: "expired-at-the-end", Clause: "CLM-1", Off: "A claim is expired at its very end.",
		rules: seeing(func(r *model.Row, _ ports.ClaimRuns) {
			if r.Claimed() {
				r.ClaimEnd = r.ClaimEnd.Add(-time.Microsecond)
			}
		})},
	{Name: "now-ignored", Clause: "CLM-1", Off: "A claim judges time by the process's clock.",
		rules: asked(func(req *ports.ClaimRuns) { req.Now = time.Now() })},
	{Name: "limit-and-one", Clause: "CLM-2", Off: "A claim gives one outcome more than its limit.",
		rules: asked(func(req *ports.ClaimRuns) { req.Limit = min(req.Limit+1, ports.MaxPage) })},
	{Name: "poisons-don't-count", Clause: "CLM-2", Off: "Poisons come on top of the limit.",
		rules: claiming(func(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
			got, err := s.ClaimRuns(req, token)
			if n := len(got.Poisoned); err == nil && n > 0 {
				more := req
				more.Limit = n
				extra, _ := s.ClaimRuns(more, token)
				got.Leases, got.Poisoned = append(got.Leases, extra.Leases...), append(got.Poisoned, extra.Poisoned...)
			}
			return got, err
		})},
	{Name: "a-token-for-life", Clause: "CLM-2", Off: "A run has the same token at every claim.",
		rules: mendedLeases(func(r *model.Row, l *ports.Lease) {
			r.Token = "the-token-for-life-of-" + r.Run.ID
			l.Token = r.Token
		})},
	{Name: "short-tokens", Clause: "CLM-2", Off: "Tokens are short enough to be guessed.",
		rules: mendedLeases(func(r *model.Row, l *ports.Lease) {
			r.Token = strings.TrimLeft(strings.TrimPrefix(r.Token, "model-token-"), "0") + "t"
			l.Token = r.Token
		})},
	{Name: "claimed-runs-are-leased-again", Clause: "CLM-2", Off: "A claim takes runs whose claim still holds.",
		rules: seeing(func(r *model.Row, req ports.ClaimRuns) {
			if r.Claimed() && r.ClaimEnd.After(req.Now) {
				r.ClaimEnd = req.Now.Add(-time.Microsecond)
			}
		})},
	{Name: "one-attempt-too-many", Clause: "CLM-3", Off: "With maximum N there are N+1 launches.",
		rules: asked(func(req *ports.ClaimRuns) { req.MaxAttempts++ })},
	{Name: "attempts-counted-at-release", Clause: "CLM-3", Off: "An attempt is counted when its claim is released, not in the claim.",
		rules: rules{
			claimRuns: mendedLeases(func(r *model.Row, _ *ports.Lease) { r.Attempts-- }).claimRuns,
			releaseClaim: func(s *model.State, req ports.ReleaseClaim) (ports.Released, error) {
				got, err := s.ReleaseClaim(req)
				if err == nil && !req.ReturnAttempt {
					edit(s, req.RunID, func(r *model.Row) { r.Attempts++ })
				}
				return got, err
			},
		}},
	{Name: "refresh-resets-the-attempts", Clause: "CLM-3", Off: "A refresh sets the attempts back to one.",
		rules: refreshing(func(_ model.Row, r *model.Row, _ ports.RefreshClaim) { r.Attempts = min(r.Attempts, 1) })},
	{Name: "poison-has-another-reason", Clause: "CLM-3", Off: "A run out of attempts is poisoned as one of too many abandons.",
		rules: claiming(func(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
			got, err := s.ClaimRuns(req, token)
			for i := range got.Poisoned {
				got.Poisoned[i].Poison.Reason = ports.PoisonAbandons
				edit(s, got.Poisoned[i].RunID, func(r *model.Row) { r.Poison.Reason = ports.PoisonAbandons })
			}
			return got, err
		})},
	{Name: "poisoned-again", Clause: "CLM-3", Off: "A claim tells the poisoned runs again.",
		rules: claiming(func(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
			got, err := s.ClaimRuns(req, token)
			for _, id := range s.RunIDs() {
				if r := row(s, id); err == nil && r.Poisoned() && r.Poison.At.Before(got.Now) && len(got.Leases)+len(got.Poisoned) < req.Limit {
					got.Poisoned = append(got.Poisoned, ports.PoisonedRun{Owner: r.Owner, RunID: id, Poison: r.Poison})
				}
			}
			return got, err
		})},
	{Name: "fifo-bypassed", Clause: "CLM-4", Off: "Ready runs are claimed by id, whatever their wake.",
		rules: claiming(func(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
			return disguised(s, func(r *model.Row) {
				if !r.Wake.IsZero() && !r.Wake.After(req.Now) {
					r.Wake = time.Time{}.Add(time.Microsecond)
				}
			}, func() (ports.Claimed, error) { return s.ClaimRuns(req, token) })
		})},
	{Name: "preferred-class-takes-all", Clause: "CLM-4", Off: "With a limit of two or more the other class may get nothing.",
		rules: claiming(func(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
			limit := req.Limit
			if limit < 2 || req.Check() != nil {
				return s.ClaimRuns(req, token)
			}
			req.Limit = 1
			all, err := s.ClaimRuns(req, token)
			for err == nil && len(all.Leases)+len(all.Poisoned) < limit {
				var one ports.Claimed
				one, err = s.ClaimRuns(req, token)
				if len(one.Leases)+len(one.Poisoned) == 0 {
					break
				}
				all.Leases, all.Poisoned = append(all.Leases, one.Leases...), append(all.Poisoned, one.Poisoned...)
			}
			return all, err
		})},
	{Name: "preference-ignored", Clause: "CLM-4", Off: "Ready runs come first whatever is preferred.",
		rules: asked(func(req *ports.ClaimRuns) { req.Prefer = ports.ClassReady })},
	{Name: "a-full-claim-of-the-preferred-only", Clause: "CLM-4", Off: "With limit one nothing is given when the preferred class is empty.",
		rules: claiming(func(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
			if req.Limit != 1 || req.Check() != nil {
				return s.ClaimRuns(req, token)
			}
			before := s.Clone()
			got, err := s.ClaimRuns(req, token)
			for _, l := range got.Leases {
				if l.Class != req.Normal().Prefer {
					*s = *before
					return ports.Claimed{Now: got.Now}, nil
				}
			}
			return got, err
		})},
	{Name: "waiting-is-claimable", Clause: "CLM-12", Off: "A waiting run may be claimed.", rules: claimable("waiting")},
	{Name: "terminal-is-claimable", Clause: "CLM-12", Off: "A run that is done may be claimed.", rules: claimable("done")},
	{Name: "poisoned-is-claimable", Clause: "CLM-12", Off: "A poisoned run may be claimed.",
		rules: seeing(func(r *model.Row, req ports.ClaimRuns) {
			if r.Poisoned() && r.Poison.At.Before(req.Now) {
				r.Poison, r.Wake, r.Attempts = ports.Poison{}, req.Now, 0
			}
		})},
	{Name: "lease-without-an-owner", Clause: "CLM-13", Off: "A lease doesn't say whose run it is.",
		rules: mendedLeases(func(_ *model.Row, l *ports.Lease) { l.Owner.Tenant = "" })},
	{Name: "lease-without-an-end", Clause: "CLM-13", Off: "A lease doesn't say when the claim ends.",
		rules: mendedLeases(func(_ *model.Row, l *ports.Lease) { l.ClaimEnd = time.Time{} })},
	{Name: "lease-tells-the-last-attempt", Clause: "CLM-13", Off: "A lease tells the attempts before it.",
		rules: mendedLeases(func(_ *model.Row, l *ports.Lease) { l.Attempt-- })},
}

// claimable lets runs of a status be claimed like running ones.
func claimable(status string) rules {
	return claiming(func(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
		got, err := disguised(s, func(r *model.Row) {
			if r.Run.Status == status && !r.Claimed() {
				r.Run.Status, r.Wake = "running", r.Run.UpdatedAt
			}
		}, func() (ports.Claimed, error) { return s.ClaimRuns(req, token) })
		for i, l := range got.Leases {
			if l.Run.CheckpointType == map[string]string{"waiting": "interrupt_requested", "done": "run_completed"}[status] {
				got.Leases[i].Run.Status = status
				edit(s, l.Run.ID, func(r *model.Row) { r.Run.Status = status })
			}
		}
		return got, err
	})
}

// refreshing edits a row whose claim was refreshed.
func refreshing(f func(before model.Row, r *model.Row, req ports.RefreshClaim)) rules {
	return rules{refreshClaim: func(s *model.State, req ports.RefreshClaim) (ports.Refreshed, error) {
		before := row(s, req.RunID)
		got, err := s.RefreshClaim(req)
		if err == nil {
			edit(s, req.RunID, func(r *model.Row) {
				f(before, r, req)
				got.ClaimEnd = r.ClaimEnd
			})
		}
		return got, err
	}}
}
