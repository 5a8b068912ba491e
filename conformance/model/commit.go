package model

import (
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// InsertRun stores a new run with its events and its wake or claim (RUN-1,
// RUN-14). Ids are unique in the whole store, so a taken id is told before the
// owner's graph is looked for.
func (s *State) InsertRun(req ports.InsertRun) (ports.Inserted, error) {
	const op = "InsertRun"
	if err := req.Check(); err != nil {
		return ports.Inserted{}, err
	}
	req = req.Normal()
	t := req.Transition.Clone()
	if _, ok := s.graphs[graphKey{req.Owner, t.Run.Graph}]; !ok {
		return ports.Inserted{}, ports.NotFound(op)
	}
	if _, taken := s.runs[t.Run.ID]; taken {
		return ports.Inserted{}, ports.Exists(op)
	}
	r := row{owner: req.Owner, run: t.Run, events: t.Events}
	if req.Claim == (ports.ClaimGrant{}) {
		r.wake = wakeOf(t.Schedule, req.Now)
	} else {
		r.token, r.claimedAt, r.claimEnd, r.attempts = req.Claim.Token, req.Now, endOf(req.Now, req.Claim.TTL), 1
	}
	s.put(r)
	return ports.Inserted{Now: req.Now, ClaimEnd: r.claimEnd}, nil
}

// CommitClaimed replaces a run under its token and sequence (RUN-2).
func (s *State) CommitClaimed(req ports.CommitClaimed) (ports.Committed, error) {
	const op = "CommitClaimed"
	if err := req.Check(); err != nil {
		return ports.Committed{}, err
	}
	req = req.Normal()
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
	if req.Transition.Schedule.Kind == record.ScheduleRetain {
		r.claimEnd = later(r.claimEnd, endOf(req.Now, req.TTL)) // forward only (RUN-5)
	} else {
		r.unclaim()
		r.wake = wakeOf(req.Transition.Schedule, req.Now)
	}
	s.put(r)
	return ports.Committed{Now: req.Now, ClaimEnd: r.claimEnd}, nil
}

// CommitUnclaimed replaces a run by compare-and-set on the sequence and revokes
// its claim (RUN-6). A poisoned run stays poisoned and gets no wake, unless it
// ends.
func (s *State) CommitUnclaimed(req ports.CommitUnclaimed) (ports.Committed, error) {
	const op = "CommitUnclaimed"
	if err := req.Check(); err != nil {
		return ports.Committed{}, err
	}
	req = req.Normal()
	r, err := s.visible(op, req.Scope, req.RunID)
	switch {
	case err != nil:
		return ports.Committed{}, err
	case r.terminal():
		return ports.Committed{}, ports.Inactive(op)
	case r.run.CheckpointSeq != req.ExpectedSeq:
		return ports.Committed{}, ports.Stale(op)
	}
	poison := r.poison
	if err := r.advance(op, req.Transition); err != nil {
		return ports.Committed{}, err
	}
	r.unclaim()
	r.wake = wakeOf(req.Transition.Schedule, req.Now)
	if poison != (ports.Poison{}) && r.run.Status == "running" {
		r.wake, r.poison = time.Time{}, poison
	}
	s.put(r)
	return ports.Committed{Now: req.Now}, nil
}

// advance replaces the record, appends the events and zeroes the counts (RUN-4),
// if the transition continues the run.
func (r *row) advance(op string, t record.Transition) error {
	if t.Run.Graph != r.run.Graph || !t.Run.StartedAt.Equal(r.run.StartedAt) {
		return ports.Invalid(op, "Transition.Run", "a run keeps its graph and its starting time")
	}
	if ports.BaseEventSeq(t) != r.run.EventSeq {
		return ports.Invalid(op, "Transition.Events", "they leave a gap to the stored events, or overlap them")
	}
	t = t.Clone()
	r.run, r.events = t.Run, append(r.events, t.Events...)
	r.attempts, r.abandons, r.poison, r.wake = 0, 0, ports.Poison{}, time.Time{}
	return nil
}

// RecoverRun gives a poisoned run back to delivery; a healthy one is left alone
// (RUN-12).
func (s *State) RecoverRun(req ports.RecoverRun) (ports.Recovered, error) {
	const op = "RecoverRun"
	if err := req.Check(); err != nil {
		return ports.Recovered{}, err
	}
	now := micro(req.Now)
	r, err := s.visible(op, req.Scope, req.RunID)
	switch {
	case err != nil:
		return ports.Recovered{}, err
	case r.terminal():
		return ports.Recovered{}, ports.Inactive(op)
	case !r.poisoned():
		return ports.Recovered{Now: now}, nil
	}
	r.poison, r.attempts, r.abandons, r.wake = ports.Poison{}, 0, 0, now
	s.put(r)
	return ports.Recovered{Changed: true, Now: now}, nil
}

// wakeOf is the wake that a schedule leaves; zero for none.
func wakeOf(schedule record.Schedule, now time.Time) time.Time {
	switch schedule.Kind {
	case record.ScheduleImmediate:
		return now
	case record.ScheduleAt:
		return schedule.At
	}
	return time.Time{}
}

// endOf is the end of a claim: store time + TTL, in whole microseconds (CLM-1).
func endOf(now time.Time, ttl time.Duration) time.Time {
	return now.Add(ttl.Truncate(time.Microsecond))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func micro(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
