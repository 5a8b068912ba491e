package backend

import (
	"context"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// InsertRun stores a new run with its events and its wake, or the claim it is
// born with (RUN-1, RUN-14).
func (s *Store) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	const op = "InsertRun"
	return operate(ctx, s, op, req, func() (ports.Inserted, error) {
		req := req.Normal()
		t := req.Transition.Clone()
		if _, ok := s.versions[versionKey{req.Owner, t.Run.Graph}]; !ok {
			return ports.Inserted{}, ports.NotFound(op)
		}
		if _, taken := s.runs[t.Run.ID]; taken {
			return ports.Inserted{}, ports.Exists(op)
		}
		now := s.now(req.Now)
		r := row{owner: req.Owner, run: t.Run, events: t.Events, wakeAt: wakeOf(t.Schedule, now)}
		if req.Claim != (ports.ClaimGrant{}) {
			r.claim(req.Claim.Token, now, req.Claim.TTL)
			r.attempts = 1
		}
		s.put(r)
		return ports.Inserted{Now: now, ClaimEnd: r.claimEnd}, nil
	})
}

// CommitClaimed replaces a run by its next transition if its fence, token and
// sequence, is the expected one (RUN-2).
func (s *Store) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	const op = "CommitClaimed"
	return operate(ctx, s, op, req, func() (ports.Committed, error) {
		req := req.Normal()
		r, err := s.held(op, req.Scope, req.RunID, req.Token)
		if err != nil {
			return ports.Committed{}, err
		}
		if r.run.CheckpointSeq != req.ExpectedSeq {
			return ports.Committed{}, ports.Stale(op)
		}
		if err := r.advance(op, req.Transition); err != nil {
			return ports.Committed{}, err
		}
		now := s.now(req.Now)
		if req.Transition.Schedule.Kind == record.ScheduleRetain {
			r.claimEnd = later(r.claimEnd, end(now, req.TTL)) // only forward (RUN-5)
		} else {
			r.unclaim(wakeOf(req.Transition.Schedule, now))
		}
		s.put(r)
		return ports.Committed{Now: now, ClaimEnd: r.claimEnd}, nil
	})
}

// CommitUnclaimed replaces a run by the transition of a signal: its fence is the
// sequence alone, and whoever holds the run loses it (RUN-6).
func (s *Store) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	const op = "CommitUnclaimed"
	return operate(ctx, s, op, req, func() (ports.Committed, error) {
		req := req.Normal()
		r, err := s.visible(op, req.Scope, req.RunID)
		switch {
		case err != nil:
			return ports.Committed{}, err
		case r.status().Terminal():
			return ports.Committed{}, ports.Inactive(op)
		case r.run.CheckpointSeq != req.ExpectedSeq:
			return ports.Committed{}, ports.Stale(op)
		}
		poison := r.poison
		if err := r.advance(op, req.Transition); err != nil {
			return ports.Committed{}, err
		}
		now := s.now(req.Now)
		r.unclaim(wakeOf(req.Transition.Schedule, now))
		if poison != (ports.Poison{}) && r.status() == run.Running {
			r.poison, r.wakeAt = poison, time.Time{} // a signal doesn't cure
		}
		s.put(r)
		return ports.Committed{Now: now}, nil
	})
}

// advance takes a transition over whose fence holds: the record is replaced, the
// events appended, the counts and the poison zeroed (RUN-4). Transition.Run.ID
// and the sequence were checked with the shape.
func (r *row) advance(op string, t record.Transition) error {
	switch {
	case t.Run.Graph != r.run.Graph:
		return ports.Invalid(op, "Transition.Run.Graph", "a run keeps its graph")
	case !t.Run.StartedAt.Equal(r.run.StartedAt):
		return ports.Invalid(op, "Transition.Run.StartedAt", "a run keeps its starting time")
	case ports.BaseEventSeq(t) != r.run.EventSeq:
		return ports.Invalid(op, "Transition.Events", "they don't continue the stored events")
	}
	t = t.Clone()
	r.run, r.events = t.Run, append(r.events, t.Events...)
	r.attempts, r.abandons, r.poison = 0, 0, ports.Poison{}
	return nil
}

// wakeOf is the wake that a schedule leaves, zero for none.
func wakeOf(schedule record.Schedule, now time.Time) time.Time {
	switch schedule.Kind {
	case record.ScheduleImmediate:
		return now
	case record.ScheduleAt:
		return schedule.At
	}
	return time.Time{}
}
