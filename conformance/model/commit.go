package model

import (
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// InsertRun stores a new run with its events and its wake or claim (RUN-1,
// RUN-14). Ids are unique in the whole store, whoever owns them.
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
	r := Row{Owner: req.Owner, Run: t.Run, Events: written(nil, t.Events, req.Now)}
	if req.Claim == (ports.ClaimGrant{}) {
		r.Wake = wakeOf(t.Schedule, req.Now)
	} else {
		r.Token, r.ClaimedAt, r.ClaimEnd, r.Attempts = req.Claim.Token, req.Now, endOf(req.Now, req.Claim.TTL), 1
	}
	s.Put(r)
	return ports.Inserted{Now: req.Now, ClaimEnd: r.ClaimEnd}, nil
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
	if r.Run.CheckpointSeq != req.ExpectedSeq {
		return ports.Committed{}, ports.Stale(op)
	}
	if err := r.advance(op, req.Transition, req.Now); err != nil {
		return ports.Committed{}, err
	}
	if req.Transition.Schedule.Kind == record.ScheduleRetain {
		r.ClaimEnd = later(r.ClaimEnd, endOf(req.Now, req.TTL)) // forward only (RUN-5)
	} else {
		r.Unclaim()
		r.Wake = wakeOf(req.Transition.Schedule, req.Now)
	}
	s.Put(r)
	return ports.Committed{Now: req.Now, ClaimEnd: r.ClaimEnd}, nil
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
	case r.Terminal():
		return ports.Committed{}, ports.Inactive(op)
	case r.Run.CheckpointSeq != req.ExpectedSeq:
		return ports.Committed{}, ports.Stale(op)
	}
	poison := r.Poison
	if err := r.advance(op, req.Transition, req.Now); err != nil {
		return ports.Committed{}, err
	}
	r.Unclaim()
	r.Wake = wakeOf(req.Transition.Schedule, req.Now)
	if poison != (ports.Poison{}) && r.Run.Status == "running" {
		r.Wake, r.Poison = time.Time{}, poison
	}
	s.Put(r)
	return ports.Committed{Now: req.Now}, nil
}

// advance replaces the record, appends the events and zeroes the counts (RUN-4),
// if the transition continues the run.
func (r *Row) advance(op string, t record.Transition, now time.Time) error {
	if t.Run.Graph != r.Run.Graph || !t.Run.StartedAt.Equal(r.Run.StartedAt) {
		return ports.Invalid(op, "Transition.Run", "a run keeps its graph and its starting time")
	}
	if ports.BaseEventSeq(t) != r.Run.EventSeq {
		return ports.Invalid(op, "Transition.Events", "they leave a gap to the stored events, or overlap them")
	}
	t = t.Clone()
	r.Run, r.Events = t.Run, written(r.Events, t.Events, now)
	r.Attempts, r.Abandons, r.Poison, r.Wake = 0, 0, ports.Poison{}, time.Time{}
	return nil
}

// written appends events with the store's time of writing them (PRN-6), in a
// list of its own: other copies of the row keep theirs.
func written(stored []Event, events []record.Event, now time.Time) []Event {
	all := append(make([]Event, 0, len(stored)+len(events)), stored...)
	for _, e := range events {
		all = append(all, Event{e, now})
	}
	return all
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
	case r.Terminal():
		return ports.Recovered{}, ports.Inactive(op)
	case !r.Poisoned():
		return ports.Recovered{Now: now}, nil
	}
	r.Poison, r.Attempts, r.Abandons, r.Wake = ports.Poison{}, 0, 0, now
	s.Put(r)
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
