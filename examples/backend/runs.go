package backend

import (
	"cmp"
	"context"
	"slices"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// FetchRun returns a run's record, and its token to the system only (RUN-13).
func (s *Store) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	const op = "FetchRun"
	return operate(ctx, s, op, req, func() (ports.FetchedRun, error) {
		r, err := s.visible(op, req.Scope, req.RunID)
		if err != nil {
			return ports.FetchedRun{}, err
		}
		fetched := ports.FetchedRun{Owner: r.owner, Run: r.run.Clone(), Now: s.now(req.Now)}
		if req.Scope.Kind == ports.ScopeSystem {
			fetched.Token = r.token
		}
		return fetched, nil
	})
}

// InspectRun returns a run with its delivery state, never its token (RUN-10).
func (s *Store) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	const op = "InspectRun"
	return operate(ctx, s, op, req, func() (ports.RunInfo, error) {
		r, err := s.visible(op, req.Scope, req.RunID)
		if err != nil {
			return ports.RunInfo{}, err
		}
		return ports.RunInfo{
			Owner: r.owner, Run: r.run.Clone(), WakeAt: r.wakeAt, ClaimedAt: r.claimedAt, ClaimEnd: r.claimEnd,
			Attempts: r.attempts, Abandons: r.abandons, Poison: r.poison, Now: s.now(req.Now),
		}, nil
	})
}

// ListRuns returns a page of what passes every filter, newest first (RUN-9).
func (s *Store) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	return operate(ctx, s, "ListRuns", req, func() (ports.RunPage, error) {
		req := req.Normal()
		var found []row
		for _, r := range s.runs {
			if r.passes(req) {
				found = append(found, r)
			}
		}
		slices.SortFunc(found, func(a, b row) int { return newerRun(cursorOf(a.run), cursorOf(b.run)) })
		page := ports.RunPage{Next: req.After, HasMore: len(found) > req.Limit, Now: s.now(req.Now)}
		for _, r := range found[:min(len(found), req.Limit)] {
			page.Items = append(page.Items, r.summary(req.Records))
			page.Next = cursorOf(r.run)
		}
		return page, nil
	})
}

func (r row) passes(req ports.ListRuns) bool {
	return req.Scope.Matches(r.owner) &&
		(req.After == ports.RunCursor{} || newerRun(cursorOf(r.run), req.After) > 0) &&
		(len(req.Statuses) == 0 || slices.Contains(req.Statuses, r.run.Status)) &&
		(req.GraphID == "" || req.GraphID == r.run.Graph.ID) &&
		(req.GraphHash == "" || req.GraphHash == r.run.Graph.Hash) &&
		(!req.OpenInterrupts || r.run.OpenInterrupts > 0) &&
		(!req.Poisoned || r.poisoned())
}

// summary leaves the record's bytes out unless they were asked for.
func (r row) summary(records bool) ports.RunSummary {
	s := ports.RunSummary{Owner: r.owner, Run: r.run, Poison: r.poison}
	if !records {
		s.Run.Document, s.Run.Checksum = nil, record.Checksum{}
		return s
	}
	s.Run = r.run.Clone()
	return s
}

func cursorOf(r record.Run) ports.RunCursor {
	return ports.RunCursor{StartedAt: r.StartedAt, RunID: r.ID}
}

// newerRun orders runs newest first, ids by their bytes (VAL-2).
func newerRun(a, b ports.RunCursor) int {
	return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.RunID, a.RunID))
}

// RecoverRun makes a poisoned run due again; a healthy one stays as it is. It
// uses no sequence (RUN-12).
func (s *Store) RecoverRun(ctx context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	const op = "RecoverRun"
	return operate(ctx, s, op, req, func() (ports.Recovered, error) {
		r, err := s.visible(op, req.Scope, req.RunID)
		switch {
		case err != nil:
			return ports.Recovered{}, err
		case r.status().Terminal():
			return ports.Recovered{}, ports.Inactive(op)
		}
		now := s.now(req.Now)
		if !r.poisoned() {
			return ports.Recovered{Now: now}, nil
		}
		r.poison, r.attempts, r.abandons, r.wakeAt = ports.Poison{}, 0, 0, now
		s.put(r)
		return ports.Recovered{Changed: true, Now: now}, nil
	})
}
