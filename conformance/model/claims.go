package model

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/docket-go/docket/ports"
)

// due is a run that may be claimed, with its class and the time it is ordered by.
type due struct {
	id       string
	class    ports.ClaimClass
	eligible time.Time
}

// eligible lists what may be claimed at now, each class by (eligible time, id)
// in byte order (CLM-1, CLM-4, CLM-12).
func (s *State) eligible(now time.Time) map[ports.ClaimClass][]due {
	classes := map[ports.ClaimClass][]due{}
	for id, r := range s.runs {
		switch {
		case r.Run.Status != "running" || r.Poisoned():
		case r.Claimed() && r.ClaimEnd.Before(now):
			classes[ports.ClassExpired] = append(classes[ports.ClassExpired], due{id, ports.ClassExpired, r.ClaimEnd})
		case !r.Claimed() && !r.Wake.After(now):
			classes[ports.ClassReady] = append(classes[ports.ClassReady], due{id, ports.ClassReady, r.Wake})
		}
	}
	for _, of := range classes {
		slices.SortFunc(of, func(a, b due) int { return cmp.Or(a.eligible.Compare(b.eligible), cmp.Compare(a.id, b.id)) })
	}
	return classes
}

// ClaimRuns leases or poisons what is due, with tokens from the given source.
// The preferred class is served first; from a limit of two on the other class
// gets at least one (CLM-4).
func (s *State) ClaimRuns(req ports.ClaimRuns, token TokenSource) (ports.Claimed, error) {
	if err := req.Check(); err != nil {
		return ports.Claimed{}, err
	}
	req = req.Normal()
	classes := s.eligible(req.Now)
	first, second := classes[req.Prefer], classes[other(req.Prefer)]
	if req.Limit >= 2 && len(second) > 0 {
		first = first[:min(len(first), req.Limit-1)]
	}
	answer := ports.Claimed{Now: req.Now}
	for _, d := range slices.Concat(first, second) {
		if len(answer.Leases)+len(answer.Poisoned) == req.Limit {
			break
		}
		s.claim(req, d, token, &answer)
	}
	return answer, nil
}

func other(c ports.ClaimClass) ports.ClaimClass {
	if c == ports.ClassReady {
		return ports.ClassExpired
	}
	return ports.ClassReady
}

// claim gives one outcome: with maximum N the need after N attempts poisons
// (CLM-3).
func (s *State) claim(req ports.ClaimRuns, d due, token TokenSource, answer *ports.Claimed) {
	r := s.runs[d.id]
	if r.Attempts >= req.MaxAttempts {
		r.PoisonAs(ports.PoisonAttempts, req.Now)
		s.Put(r)
		answer.Poisoned = append(answer.Poisoned, ports.PoisonedRun{Owner: r.Owner, RunID: d.id, Poison: r.Poison})
		return
	}
	r.Attempts++
	r.Wake = time.Time{}
	r.Token, r.ClaimedAt, r.ClaimEnd = token(), req.Now, endOf(req.Now, req.TTL)
	s.Put(r)
	answer.Leases = append(answer.Leases, ports.Lease{
		Owner: r.Owner, Run: r.Run.Clone(), Token: r.Token, Attempt: r.Attempts, Class: d.class, Now: req.Now, ClaimEnd: r.ClaimEnd,
	})
}

// FollowClaim applies another backend's answer to a claim if it is one that the
// contract allows, and otherwise tells what is wrong with it.
func (s *State) FollowClaim(req ports.ClaimRuns, got ports.Claimed) error {
	req = req.Normal()
	classes := s.eligible(req.Now)
	available := len(classes[ports.ClassReady]) + len(classes[ports.ClassExpired])
	outcomes := len(got.Leases) + len(got.Poisoned)
	if outcomes != min(req.Limit, available) {
		return fmt.Errorf("%d outcomes with limit %d and %d runs due", outcomes, req.Limit, available)
	}
	chosen := map[string]bool{}
	for _, l := range got.Leases {
		chosen[l.Run.ID] = true
	}
	for _, p := range got.Poisoned {
		chosen[p.RunID] = true
	}
	if len(chosen) != outcomes {
		return fmt.Errorf("a run has two outcomes in one claim")
	}
	var picked []due
	for _, class := range []ports.ClaimClass{req.Prefer, other(req.Prefer)} {
		of := classes[class]
		n := 0
		for n < len(of) && chosen[of[n].id] {
			n++
		}
		if n == 0 && len(of) > 0 && (req.Limit >= 2 || class == req.Prefer) {
			return fmt.Errorf("no outcome for the class %s, whose first run is %q", class, of[0].id)
		}
		picked = append(picked, of[:n]...)
	}
	if len(picked) != outcomes {
		return fmt.Errorf("the outcomes aren't the oldest of their classes: want all of %v or an earlier one skipped", picked)
	}
	return s.follow(req, picked, got)
}

// FollowSome applies another backend's answer to a claim that overlapped with
// others. It may have passed over rows that others held at the moment (CLM-5),
// but what it gives must have been due, and right.
func (s *State) FollowSome(req ports.ClaimRuns, got ports.Claimed) error {
	req = req.Normal()
	chosen := map[string]bool{}
	for _, l := range got.Leases {
		chosen[l.Run.ID] = true
	}
	for _, p := range got.Poisoned {
		chosen[p.RunID] = true
	}
	outcomes := len(got.Leases) + len(got.Poisoned)
	var picked []due
	for _, of := range s.eligible(req.Now) {
		for _, d := range of {
			if chosen[d.id] {
				picked = append(picked, d)
			}
		}
	}
	if len(chosen) != outcomes || len(picked) != outcomes || outcomes > req.Limit {
		return fmt.Errorf("%d outcomes for %d runs, of which %d were due, with limit %d", outcomes, len(chosen), len(picked), req.Limit)
	}
	return s.follow(req, picked, got)
}

// follow claims what another backend picked, with its tokens, and compares.
func (s *State) follow(req ports.ClaimRuns, picked []due, got ports.Claimed) error {
	tokens := map[string]string{}
	for _, l := range got.Leases {
		tokens[l.Run.ID] = l.Token
	}
	want := ports.Claimed{Now: req.Now}
	for _, d := range picked {
		s.claim(req, d, func() string { return tokens[d.id] }, &want)
	}
	return sameOutcomes(want, got)
}

// RefreshClaim moves the claim's end forward, never back (CLM-7).
func (s *State) RefreshClaim(req ports.RefreshClaim) (ports.Refreshed, error) {
	const op = "RefreshClaim"
	if err := req.Check(); err != nil {
		return ports.Refreshed{}, err
	}
	r, err := s.held(op, req.Scope, req.RunID, req.Token)
	if err != nil {
		return ports.Refreshed{}, err
	}
	now := micro(req.Now)
	r.ClaimEnd = later(r.ClaimEnd, endOf(now, req.TTL))
	s.Put(r)
	return ports.Refreshed{ClaimEnd: r.ClaimEnd, Now: now}, nil
}

// ReleaseClaim gives the claim back; the run is due at once (CLM-8).
func (s *State) ReleaseClaim(req ports.ReleaseClaim) (ports.Released, error) {
	const op = "ReleaseClaim"
	if err := req.Check(); err != nil {
		return ports.Released{}, err
	}
	r, err := s.held(op, req.Scope, req.RunID, req.Token)
	if err != nil {
		return ports.Released{}, err
	}
	r.Unclaim()
	r.Wake = micro(req.Now)
	if req.ReturnAttempt {
		r.returnAttempt()
	}
	s.Put(r)
	return ports.Released{Now: r.Wake}, nil
}

func (r *Row) returnAttempt() { r.Attempts = max(r.Attempts-1, 0) }

// AbandonClaim gives the attempt back, counts an abandon, and waits or poisons
// (CLM-9).
func (s *State) AbandonClaim(req ports.AbandonClaim) (ports.Abandoned, error) {
	const op = "AbandonClaim"
	if err := req.Check(); err != nil {
		return ports.Abandoned{}, err
	}
	req = req.Normal()
	r, err := s.held(op, req.Scope, req.RunID, req.Token)
	if err != nil {
		return ports.Abandoned{}, err
	}
	if r.Run.CheckpointSeq != req.ExpectedSeq {
		return ports.Abandoned{}, ports.Stale(op)
	}
	r.Unclaim()
	r.returnAttempt()
	r.Wake = req.RetryAt
	if r.Wake.IsZero() {
		r.Wake = endOf(req.Now, ports.Backoff(req.BackoffBase, req.BackoffCap, r.Abandons))
	}
	r.Abandons++
	if !req.NonPoisoning && r.Abandons >= req.MaxAbandons {
		r.PoisonAs(ports.PoisonAbandons, req.Now)
	}
	s.Put(r)
	return ports.Abandoned{Abandons: r.Abandons, WakeAt: r.Wake, Poison: r.Poison, Now: req.Now}, nil
}
