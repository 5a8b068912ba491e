package model

import (
	"reflect"
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
	got := ports.FetchedRun{Owner: r.Owner, Run: r.Run.Clone(), Now: micro(req.Now)}
	if req.Scope.Kind == ports.ScopeSystem {
		got.Token = r.Token
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
		Owner: r.Owner, Run: r.Run.Clone(), WakeAt: r.Wake, ClaimedAt: r.ClaimedAt, ClaimEnd: r.ClaimEnd,
		Attempts: r.Attempts, Abandons: r.Abandons, Poison: r.Poison, Now: micro(req.Now),
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
		item := ports.RunSummary{Owner: r.Owner, Run: r.Run.Clone(), Poison: r.Poison}
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

func (r Row) matches(req ports.ListRuns) bool {
	after := req.After == ports.RunCursor{} || byTimeAndID(r.Run.StartedAt, req.After.StartedAt, r.Run.ID, req.After.RunID) > 0
	return after && req.Scope.Matches(r.Owner) &&
		(len(req.Statuses) == 0 || slices.Contains(req.Statuses, r.Run.Status)) &&
		(req.GraphID == "" || req.GraphID == r.Run.Graph.ID) &&
		(req.GraphHash == "" || req.GraphHash == r.Run.Graph.Hash) &&
		(!req.OpenInterrupts || r.Run.OpenInterrupts > 0) &&
		(!req.Poisoned || r.Poisoned())
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
	page := ports.EventPage{NextAfterSeq: req.AfterSeq, LatestSeq: r.Run.EventSeq}
	if n := len(r.Events); n > 0 {
		page.Oldest, page.Latest = r.Events[0].Seq, r.Events[n-1].Seq
	}
	for _, e := range r.Events {
		switch {
		case e.Seq <= req.AfterSeq:
		case len(page.Events) == req.Limit:
			page.HasMore = true
			return page, nil
		default:
			page.Events, page.NextAfterSeq = append(page.Events, e.Event.Clone()), e.Seq
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
	for _, e := range r.Events {
		if e.Seq == req.Seq {
			return ports.FetchedEvent{Event: e.Event.Clone()}, nil
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
	if err != nil || len(r.Events) == 0 {
		return ports.FoundEvent{}, err
	}
	return ports.FoundEvent{Event: r.Events[len(r.Events)-1].Event.Clone(), Found: true}, nil
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
	if reflect.DeepEqual(want, got) {
		return nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return differs(diff)
	}
	return nil
}

type differs string

func (d differs) Error() string { return "the answer differs (-model +backend):\n" + string(d) }
