package mutants

import (
	"slices"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var eventMutants = []Mutant{
	{Name: "sequences-are-the-stores", Clause: "EVT-1", Off: "The store numbers a commit's events itself, from one.",
		rules: mendedCommit(func(before model.Row, r *model.Row, _ ports.CommitClaimed) {
			r.Events = slices.Clone(r.Events)
			for i := len(before.Events); i < len(r.Events); i++ {
				r.Events[i].Seq = int64(i - len(before.Events) + 1)
			}
		})},
	{Name: "steps-of-events-are-lost", Clause: "EVT-1", Off: "An event comes back without its step.",
		rules: rules{fetchEvent: func(s *model.State, req ports.FetchEvent) (ports.FetchedEvent, error) {
			got, err := s.FetchEvent(req)
			got.Event.Step = 0
			return got, err
		}}},
	{Name: "a-release-writes-an-event", Clause: "EVT-2", Off: "A release is noted in the run's events.",
		rules: releasing(func(_ model.Row, r *model.Row, req ports.ReleaseClaim) {
			note := record.Event{RunID: req.RunID, Seq: r.Run.EventSeq + 1, Type: "released", Time: r.Wake, Encoding: record.EncodingJSON}
			r.Events = append(r.Events[:len(r.Events):len(r.Events)], model.Event{Event: note, WrittenAt: r.Wake})
		})},
	{Name: "default-page-is-100", Clause: "EVT-3", Off: "A page without a limit has 100 events.",
		rules: rules{listEvents: func(s *model.State, req ports.ListEvents) (ports.EventPage, error) {
			if req.Limit == 0 {
				req.Limit = 100
			}
			return s.ListEvents(req)
		}}},
	{Name: "events-descend", Clause: "EVT-3", Off: "A page of events begins with the latest.",
		rules: pagedEvents(func(p *ports.EventPage, _ ports.ListEvents) { slices.Reverse(p.Events) })},
	{Name: "event-cursor-is-inclusive", Clause: "EVT-3", Off: "A page of events begins with the event of its cursor.",
		rules: rules{listEvents: func(s *model.State, req ports.ListEvents) (ports.EventPage, error) {
			after := req.AfterSeq
			if after > 1 && req.Normal().Limit > 1 {
				req.AfterSeq--
			}
			page, err := s.ListEvents(req)
			if len(page.Events) == 0 {
				page.NextAfterSeq = after
			}
			return page, err
		}}},
	{Name: "ids-match-by-pattern", Clause: "EVT-3", Off: "The events of a run with % in its id are those of every run that fits.",
		rules: rules{listEvents: func(s *model.State, req ports.ListEvents) (ports.EventPage, error) {
			if req.RunID == "r%" {
				req.RunID = "r1"
			}
			return s.ListEvents(req)
		}}},
	{Name: "bounds-of-the-page", Clause: "EVT-4", Off: "Oldest and latest are those of the page, not of the run.",
		rules: pagedEvents(func(p *ports.EventPage, _ ports.ListEvents) {
			p.Oldest, p.Latest = 0, 0
			if n := len(p.Events); n > 0 {
				p.Oldest, p.Latest = p.Events[0].Seq, p.Events[n-1].Seq
			}
		})},
	{Name: "latest-sequence-of-what-is-left", Clause: "EVT-4", Off: "A run whose events are pruned forgets its latest sequence.",
		rules: pagedEvents(func(p *ports.EventPage, _ ports.ListEvents) { p.LatestSeq = p.Latest })},
	{Name: "missing-event-is-the-next", Clause: "EVT-5", Off: "A fetch of a pruned event gives the next one that there is.",
		rules: rules{fetchEvent: func(s *model.State, req ports.FetchEvent) (ports.FetchedEvent, error) {
			got, err := s.FetchEvent(req)
			if r := row(s, req.RunID); ports.CodeOf(err) == ports.CodeNotFound && req.Scope.Matches(r.Owner) {
				for _, e := range r.Events {
					if e.Seq > req.Seq {
						return ports.FetchedEvent{Event: e.Event.Clone()}, nil
					}
				}
			}
			return got, err
		}}},
	{Name: "missing-event-is-blank", Clause: "EVT-5", Off: "A fetch of an event that isn't there gives a blank one.",
		rules: rules{fetchEvent: func(s *model.State, req ports.FetchEvent) (ports.FetchedEvent, error) {
			got, err := s.FetchEvent(req)
			if r, ok := s.Row(req.RunID); ok && ports.CodeOf(err) == ports.CodeNotFound && req.Scope.Matches(r.Owner) {
				return ports.FetchedEvent{}, nil
			}
			return got, err
		}}},
	{Name: "latest-of-none-is-not-found", Clause: "EVT-5", Off: "The latest event of a run without events is ErrNotFound.",
		rules: rules{latestEvent: func(s *model.State, req ports.LatestEvent) (ports.FoundEvent, error) {
			got, err := s.LatestEvent(req)
			if err == nil && !got.Found {
				err = ports.NotFound("LatestEvent")
			}
			return got, err
		}}},
	{Name: "damaged-event-is-skipped", Clause: "EVT-7", Off: "A page leaves a damaged event out.",
		rules: pagedEvents(func(p *ports.EventPage, _ ports.ListEvents) {
			p.Events = slices.DeleteFunc(p.Events, func(e record.Event) bool { return e.Verify() != nil })
		})},
	{Name: "damaged-event-is-summed-again", Clause: "EVT-7", Off: "The checksum of an event is calculated when it is read.",
		rules: rules{fetchEvent: func(s *model.State, req ports.FetchEvent) (ports.FetchedEvent, error) {
			got, err := s.FetchEvent(req)
			if err == nil {
				got.Event.Checksum = record.Sum(got.Event.Payload)
			}
			return got, err
		}}},
	{Name: "damaged-run-is-summed-again", Clause: "EVT-7", Off: "The checksum of a run is calculated when it is read.",
		rules: rules{fetchRun: func(s *model.State, req ports.FetchRun) (ports.FetchedRun, error) {
			got, err := s.FetchRun(req)
			if err == nil {
				got.Run.Checksum = record.Sum(got.Run.Document)
			}
			return got, err
		}}},
	{Name: "damage-spoils-the-list", Clause: "EVT-7", Off: "One damaged run makes every list fail.",
		rules: rules{listRuns: func(s *model.State, req ports.ListRuns) (ports.RunPage, error) {
			for _, id := range s.RunIDs() {
				if err := row(s, id).Run.Verify(); err != nil {
					return ports.RunPage{}, ports.Corrupt("ListRuns", err)
				}
			}
			return s.ListRuns(req)
		}}},
}

func pagedEvents(f func(*ports.EventPage, ports.ListEvents)) rules {
	return rules{listEvents: func(s *model.State, req ports.ListEvents) (ports.EventPage, error) {
		page, err := s.ListEvents(req)
		if err == nil {
			f(&page, req)
		}
		return page, err
	}}
}
