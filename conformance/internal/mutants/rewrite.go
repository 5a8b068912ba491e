package mutants

import (
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// edit changes a stored row, if there is one.
func edit(s *model.State, id string, f func(*model.Row)) {
	if r, ok := s.Row(id); ok {
		f(&r)
		s.Put(r)
	}
}

// row returns a stored row, or the zero one.
func row(s *model.State, id string) model.Row {
	r, _ := s.Row(id)
	return r
}

// editAll changes every row.
func editAll(s *model.State, f func(*model.Row)) {
	for _, id := range s.RunIDs() {
		edit(s, id, f)
	}
}

// disguised runs a claim while some rows look different, and gives the rows
// that it passed by their own looks back.
func disguised(s *model.State, disguise func(*model.Row), claim func() (ports.Claimed, error)) (ports.Claimed, error) {
	own := map[string]model.Row{}
	for _, id := range s.RunIDs() {
		r := row(s, id)
		own[id] = r
		disguise(&r)
		s.Put(r)
	}
	got, err := claim()
	chosen := map[string]bool{}
	for _, l := range got.Leases {
		chosen[l.Run.ID] = true
	}
	for _, p := range got.Poisoned {
		chosen[p.RunID] = true
	}
	for id, r := range own {
		if !chosen[id] {
			s.Put(r)
		}
	}
	return got, err
}

// force stores a transition whatever it breaks, as a commit that checks nothing.
func force(s *model.State, id string, t record.Transition, ttl time.Duration, now time.Time) ports.Committed {
	r := row(s, id)
	t = t.Clone()
	r.Run, r.Events = t.Run, append(r.Events[:len(r.Events):len(r.Events)], written(t.Events, now)...)
	r.Attempts, r.Abandons, r.Poison, r.Wake = 0, 0, ports.Poison{}, time.Time{}
	if t.Schedule.Kind == record.ScheduleRetain {
		r.ClaimEnd = now.Add(ttl)
	} else {
		r.Unclaim()
		switch t.Schedule.Kind {
		case record.ScheduleImmediate:
			r.Wake = now
		case record.ScheduleAt:
			r.Wake = t.Schedule.At
		}
	}
	s.Put(r)
	return ports.Committed{Now: now, ClaimEnd: r.ClaimEnd}
}

func written(events []record.Event, now time.Time) []model.Event {
	var all []model.Event
	for _, e := range events {
		all = append(all, model.Event{Event: e, WrittenAt: now})
	}
	return all
}

// mended answers a commit, edited when it succeeded: f gets the row as it was
// and as it is.
func mendedCommit(f func(before model.Row, after *model.Row, req ports.CommitClaimed)) rules {
	return rules{commitClaimed: func(s *model.State, req ports.CommitClaimed) (ports.Committed, error) {
		before := row(s, req.RunID)
		got, err := s.CommitClaimed(req)
		if err == nil {
			edit(s, req.RunID, func(r *model.Row) {
				f(before, r, req)
				got.ClaimEnd = r.ClaimEnd
			})
		}
		return got, err
	}}
}

func mendedSignal(f func(before model.Row, after *model.Row, req ports.CommitUnclaimed)) rules {
	return rules{commitUnclaimed: func(s *model.State, req ports.CommitUnclaimed) (ports.Committed, error) {
		before := row(s, req.RunID)
		got, err := s.CommitUnclaimed(req)
		if err == nil {
			edit(s, req.RunID, func(r *model.Row) { f(before, r, req) })
		}
		return got, err
	}}
}

func mendedInsert(f func(r *model.Row, req ports.InsertRun)) rules {
	return rules{insertRun: func(s *model.State, req ports.InsertRun) (ports.Inserted, error) {
		got, err := s.InsertRun(req)
		if err == nil {
			edit(s, req.Transition.Run.ID, func(r *model.Row) { f(r, req) })
		}
		return got, err
	}}
}

// mendedLeases edits each leased row, and its lease, when a claim succeeded.
func mendedLeases(f func(r *model.Row, l *ports.Lease)) rules {
	return rules{claimRuns: func(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
		got, err := s.ClaimRuns(req, token)
		for i := range got.Leases {
			edit(s, got.Leases[i].Run.ID, func(r *model.Row) { f(r, &got.Leases[i]) })
		}
		return got, err
	}}
}

// asked changes the demand of a claim.
func asked(f func(*ports.ClaimRuns)) rules {
	return rules{claimRuns: func(s *model.State, req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
		if err := req.Check(); err != nil {
			return ports.Claimed{}, err
		}
		now := req.Normal().Now
		f(&req)
		got, err := s.ClaimRuns(req, token)
		got.Now = now
		return got, err
	}}
}
