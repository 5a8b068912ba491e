package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// CommitClaimed implements ports.Runs.
func (o operations) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	const op = "CommitClaimed"
	if err := req.Check(); err != nil {
		return ports.Committed{}, err
	}
	req = req.Normal()
	return write(ctx, o, op, func(v *view) (ports.Committed, bool, error) {
		old, err := v.visible(op, req.Scope, req.RunID)
		if err != nil {
			return ports.Committed{}, false, err
		}
		if old.token != req.Token || old.run.CheckpointSeq != req.ExpectedSeq {
			return ports.Committed{}, false, ports.Stale(op)
		}
		now := o.door.now(req.Now)
		next, err := successor(op, old, req.Transition, now)
		if err != nil {
			return ports.Committed{}, false, err
		}
		if req.Transition.Schedule.Kind == record.ScheduleRetain {
			next.token, next.claimedAt = old.token, old.claimedAt
			next.claimEnd = latest(old.claimEnd, end(now, req.TTL))
		} else {
			next.wakeAt = wake(req.Transition.Schedule, now)
		}
		v.put(next)
		return ports.Committed{Now: now, ClaimEnd: next.claimEnd}, next.due(now), nil
	})
}

// CommitUnclaimed implements ports.Runs.
func (o operations) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	const op = "CommitUnclaimed"
	if err := req.Check(); err != nil {
		return ports.Committed{}, err
	}
	req = req.Normal()
	return write(ctx, o, op, func(v *view) (ports.Committed, bool, error) {
		old, err := v.visible(op, req.Scope, req.RunID)
		switch {
		case err != nil:
			return ports.Committed{}, false, err
		case old.status().Terminal():
			return ports.Committed{}, false, ports.Inactive(op)
		case old.run.CheckpointSeq != req.ExpectedSeq:
			return ports.Committed{}, false, ports.Stale(op)
		}
		now := o.door.now(req.Now)
		next, err := successor(op, old, req.Transition, now)
		if err != nil {
			return ports.Committed{}, false, err
		}
		if old.poisoned() && next.status() == run.Running {
			next.poison = old.poison // and no wake (RUN-6)
		} else {
			next.wakeAt = wake(req.Transition.Schedule, now)
		}
		v.put(next)
		return ports.Committed{Now: now}, next.due(now), nil
	})
}

// successor returns the row after a transition whose fence holds, healthy and
// with neither wake nor claim: attempts, abandons and poison are zero again
// (RUN-4).
func successor(op string, old *row, t record.Transition, now time.Time) (*row, error) {
	switch {
	case t.Run.Graph != old.run.Graph:
		return nil, ports.Invalid(op, "Transition.Run.Graph", "a run keeps its graph")
	case !t.Run.StartedAt.Equal(old.run.StartedAt):
		return nil, ports.Invalid(op, "Transition.Run.StartedAt", "a run keeps its starting time")
	case ports.BaseEventSeq(t) != old.run.EventSeq:
		return nil, ports.Invalid(op, "Transition.Events",
			fmt.Sprintf("the run's event sequence is %d, the transition continues %d", old.run.EventSeq, ports.BaseEventSeq(t)))
	}
	if n := len(old.events); n > 0 && old.events[n-1].Seq > old.run.EventSeq && len(t.Events) > 0 {
		return nil, ports.Conflict(op, fmt.Sprintf("event %d of run %s is stored already", old.events[n-1].Seq, t.Run.ID))
	}
	return &row{owner: old.owner, run: kept(t.Run), events: appended(old.events, t.Events, now)}, nil
}

// wake returns when a schedule makes a run due, zero for never.
func wake(s record.Schedule, now time.Time) time.Time {
	switch s.Kind {
	case record.ScheduleImmediate:
		return now
	case record.ScheduleAt:
		return s.At
	default:
		return time.Time{}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
