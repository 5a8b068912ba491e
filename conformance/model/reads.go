package model

import (
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// FetchRun returns the record; the token only to System (RUN-13).
func (s *State) FetchRun(req ports.FetchRun) (ports.FetchedRun, error) {
	if err := req.Check(); err != nil {
		return ports.FetchedRun{}, err
	}
	r, err := s.visible("FetchRun", req.Scope, req.RunID)
	if err != nil {
		return ports.FetchedRun{}, err
	}
	got := ports.FetchedRun{Owner: r.owner, Run: r.run.Clone(), Now: micro(req.Now)}
	if req.Scope.Kind == ports.ScopeSystem {
		got.Token = r.token
	}
	return got, nil
}

// InspectRun adds the delivery state (RUN-10).
func (s *State) InspectRun(req ports.InspectRun) (ports.RunInfo, error) {
	if err := req.Check(); err != nil {
		return ports.RunInfo{}, err
	}
	r, err := s.visible("InspectRun", req.Scope, req.RunID)
	if err != nil {
		return ports.RunInfo{}, err
	}
	return ports.RunInfo{
		Owner: r.owner, Run: r.run.Clone(), WakeAt: r.wake, ClaimedAt: r.claimedAt, ClaimEnd: r.claimEnd,
		Attempts: r.attempts, Abandons: r.abandons, Poison: r.poison, Now: micro(req.Now),
	}, nil
}

// ListRuns lists what matches every filter, newest first (RUN-9).
func (s *State) ListRuns(req ports.ListRuns) (ports.RunPage, error) {
	if err := req.Check(); err != nil {
		return ports.RunPage{}, err
	}
	req = req.Normal()
	var all []ports.RunSummary
	for _, r := range s.runs {
		if !r.matches(req) {
			continue
		}
		item := ports.RunSummary{Owner: r.owner, Run: r.run.Clone(), Poison: r.poison}
		if !req.Records {
			item.Run.Document, item.Run.Checksum = nil, record.Checksum{}
		}
		all = append(all, item)
	}
	slices.SortFunc(all, func(a, b ports.RunSummary) int {
		return byTimeAndID(a.Run.StartedAt, b.Run.StartedAt, a.Run.ID, b.Run.ID)
	})
	page := ports.RunPage{Next: req.After, HasMore: len(all) > req.Limit, Now: req.Now}
	page.Items = all[:min(len(all), req.Limit)]
	if n := len(page.Items); n > 0 {
		page.Next = ports.RunCursor{StartedAt: page.Items[n-1].Run.StartedAt, RunID: page.Items[n-1].Run.ID}
	}
	return page, nil
}

func (r row) matches(req ports.ListRuns) bool {
	after := req.After == ports.RunCursor{} || byTimeAndID(r.run.StartedAt, req.After.StartedAt, r.run.ID, req.After.RunID) > 0
	return after && req.Scope.Matches(r.owner) &&
		(len(req.Statuses) == 0 || slices.Contains(req.Statuses, r.run.Status)) &&
		(req.GraphID == "" || req.GraphID == r.run.Graph.ID) &&
		(req.GraphHash == "" || req.GraphHash == r.run.Graph.Hash) &&
		(!req.OpenInterrupts || r.run.OpenInterrupts > 0) &&
		(!req.Poisoned || r.poisoned())
}

// ListEvents reads a page with its bounds (EVT-3, EVT-4).
func (s *State) ListEvents(req ports.ListEvents) (ports.EventPage, error) {
	if err := req.Check(); err != nil {
		return ports.EventPage{}, err
	}
	req = req.Normal()
	r, err := s.visible("ListEvents", req.Scope, req.RunID)
	if err != nil {
		return ports.EventPage{}, err
	}
	page := ports.EventPage{NextAfterSeq: req.AfterSeq, LatestSeq: r.run.EventSeq}
	if n := len(r.events); n > 0 {
		page.Oldest, page.Latest = r.events[0].Seq, r.events[n-1].Seq
	}
	for _, e := range r.events {
		switch {
		case e.Seq <= req.AfterSeq:
		case len(page.Events) == req.Limit:
			page.HasMore = true
			return page, nil
		default:
			page.Events, page.NextAfterSeq = append(page.Events, e.Clone()), e.Seq
		}
	}
	return page, nil
}

// FetchEvent finds one event (EVT-5).
func (s *State) FetchEvent(req ports.FetchEvent) (ports.FetchedEvent, error) {
	if err := req.Check(); err != nil {
		return ports.FetchedEvent{}, err
	}
	r, err := s.visible("FetchEvent", req.Scope, req.RunID)
	if err != nil {
		return ports.FetchedEvent{}, err
	}
	for _, e := range r.events {
		if e.Seq == req.Seq {
			return ports.FetchedEvent{Event: e.Clone()}, nil
		}
	}
	return ports.FetchedEvent{}, ports.NotFound("FetchEvent")
}

// LatestEvent finds the last event, or none (EVT-5).
func (s *State) LatestEvent(req ports.LatestEvent) (ports.FoundEvent, error) {
	if err := req.Check(); err != nil {
		return ports.FoundEvent{}, err
	}
	r, err := s.visible("LatestEvent", req.Scope, req.RunID)
	if err != nil || len(r.events) == 0 {
		return ports.FoundEvent{}, err
	}
	return ports.FoundEvent{Event: r.events[len(r.events)-1].Clone(), Found: true}, nil
}

// sameOutcomes compares answers to a claim whose order doesn't matter.
func sameOutcomes(want, got ports.Claimed) error {
	leases := func(a, b ports.Lease) int { return strings.Compare(a.Run.ID, b.Run.ID) }
	poisons := func(a, b ports.PoisonedRun) int { return strings.Compare(a.RunID, b.RunID) }
	got.Leases, got.Poisoned = slices.Clone(got.Leases), slices.Clone(got.Poisoned)
	for _, c := range []*ports.Claimed{&want, &got} {
		slices.SortFunc(c.Leases, leases)
		slices.SortFunc(c.Poisoned, poisons)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return differs(diff)
	}
	return nil
}

type differs string

func (d differs) Error() string { return "the answer differs (-model +backend):\n" + string(d) }
