package memory

import (
	"context"
	"slices"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// InsertRun implements ports.Runs.
func (o operations) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	const op = "InsertRun"
	if err := req.Check(); err != nil {
		return ports.Inserted{}, err
	}
	req = req.Normal()
	return write(ctx, o, op, func(v *view) (ports.Inserted, bool, error) {
		run, now := req.Transition.Run, o.door.now(req.Now)
		if v.version(versionKey{req.Owner, run.Graph}) == nil {
			return ports.Inserted{}, false, ports.NotFound(op)
		}
		if v.row(run.ID) != nil {
			return ports.Inserted{}, false, ports.Exists(op)
		}
		r := &row{owner: req.Owner, run: kept(run), events: appended(nil, req.Transition.Events, now)}
		r.unclaim(wake(req.Transition.Schedule, now))
		if req.Claim.Token != "" { // born claimed: this is attempt 1 (RUN-14)
			r.claim(req.Claim.Token, now, req.Claim.TTL)
			r.attempts = 1
		}
		v.put(r)
		return ports.Inserted{Now: now, ClaimEnd: r.claimEnd}, r.due(now), nil
	})
}

// FetchRun implements ports.Runs.
func (o operations) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	const op = "FetchRun"
	if err := req.Check(); err != nil {
		return ports.FetchedRun{}, err
	}
	return read(ctx, o, op, func(v *view) (ports.FetchedRun, error) {
		r, err := v.visible(op, req.Scope, req.RunID)
		if err != nil {
			return ports.FetchedRun{}, err
		}
		fetched := ports.FetchedRun{Owner: r.owner, Run: r.run.Clone(), Now: o.door.now(req.Now)}
		if req.Scope.Kind == ports.ScopeSystem {
			fetched.Token = r.token
		}
		return fetched, nil
	})
}

// InspectRun implements ports.Runs.
func (o operations) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	const op = "InspectRun"
	if err := req.Check(); err != nil {
		return ports.RunInfo{}, err
	}
	return read(ctx, o, op, func(v *view) (ports.RunInfo, error) {
		r, err := v.visible(op, req.Scope, req.RunID)
		if err != nil {
			return ports.RunInfo{}, err
		}
		return r.info(o.door.now(req.Now)), nil
	})
}

// ListRuns implements ports.Runs.
func (o operations) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	if err := req.Check(); err != nil {
		return ports.RunPage{}, err
	}
	req = req.Normal()
	return read(ctx, o, "ListRuns", func(v *view) (ports.RunPage, error) {
		page := ports.RunPage{Next: req.After, Now: o.door.now(req.Now)}
		for r := range v.newestFirst(req.Scope, req.After) {
			if !passes(r, req) {
				continue
			}
			if len(page.Items) == req.Limit {
				page.HasMore = true
				break
			}
			page.Items = append(page.Items, summary(r, req.Records))
			page.Next = ports.RunCursor{StartedAt: r.run.StartedAt, RunID: r.run.ID}
		}
		return page, nil
	})
}

func passes(r *row, req ports.ListRuns) bool {
	return (len(req.Statuses) == 0 || slices.Contains(req.Statuses, r.run.Status)) &&
		(req.GraphID == "" || req.GraphID == r.run.Graph.ID) &&
		(req.GraphHash == "" || req.GraphHash == r.run.Graph.Hash) &&
		(!req.OpenInterrupts || r.run.OpenInterrupts > 0) &&
		(!req.Poisoned || r.poisoned())
}

func summary(r *row, records bool) ports.RunSummary {
	s := ports.RunSummary{Owner: r.owner, Run: r.run, Poison: r.poison}
	if records {
		s.Run = r.run.Clone()
	} else {
		s.Run.Document, s.Run.Checksum = nil, record.Checksum{}
	}
	return s
}

// RecoverRun implements ports.Runs.
func (o operations) RecoverRun(ctx context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	const op = "RecoverRun"
	if err := req.Check(); err != nil {
		return ports.Recovered{}, err
	}
	return write(ctx, o, op, func(v *view) (ports.Recovered, bool, error) {
		old, err := v.visible(op, req.Scope, req.RunID)
		if err != nil {
			return ports.Recovered{}, false, err
		}
		if old.status().Terminal() {
			return ports.Recovered{}, false, ports.Inactive(op)
		}
		now := o.door.now(req.Now)
		if !old.poisoned() {
			return ports.Recovered{Now: now}, false, nil
		}
		next := *old
		next.poison, next.attempts, next.abandons = ports.Poison{}, 0, 0
		next.unclaim(now)
		v.put(&next)
		return ports.Recovered{Changed: true, Now: now}, true, nil
	})
}
