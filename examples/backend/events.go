package backend

import (
	"context"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// ListEvents returns a page of a run's events, ascending, with the bounds of all
// that are there (EVT-3, EVT-4).
func (s *Store) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	const op = "ListEvents"
	return operate(ctx, s, op, req, func() (ports.EventPage, error) {
		req := req.Normal()
		r, err := s.visible(op, req.Scope, req.RunID)
		if err != nil {
			return ports.EventPage{}, err
		}
		page := ports.EventPage{NextAfterSeq: req.AfterSeq, LatestSeq: r.run.EventSeq}
		if n := len(r.events); n > 0 {
			page.Oldest, page.Latest = r.events[0].Seq, r.events[n-1].Seq
		}
		rest := r.eventsAfter(req.AfterSeq)
		page.HasMore = len(rest) > req.Limit
		for _, e := range rest[:min(len(rest), req.Limit)] {
			page.Events = append(page.Events, e.Clone())
			page.NextAfterSeq = e.Seq
		}
		return page, nil
	})
}

// FetchEvent returns one event (EVT-5).
func (s *Store) FetchEvent(ctx context.Context, req ports.FetchEvent) (ports.FetchedEvent, error) {
	const op = "FetchEvent"
	return operate(ctx, s, op, req, func() (ports.FetchedEvent, error) {
		r, err := s.visible(op, req.Scope, req.RunID)
		if err != nil {
			return ports.FetchedEvent{}, err
		}
		rest := r.eventsAfter(req.Seq - 1)
		if len(rest) == 0 {
			return ports.FetchedEvent{}, ports.NotFound(op)
		}
		return ports.FetchedEvent{Event: rest[0].Clone()}, nil
	})
}

// LatestEvent returns a run's last event, if it has one (EVT-5).
func (s *Store) LatestEvent(ctx context.Context, req ports.LatestEvent) (ports.FoundEvent, error) {
	const op = "LatestEvent"
	return operate(ctx, s, op, req, func() (ports.FoundEvent, error) {
		r, err := s.visible(op, req.Scope, req.RunID)
		if err != nil || len(r.events) == 0 {
			return ports.FoundEvent{}, err
		}
		return ports.FoundEvent{Event: r.events[len(r.events)-1].Clone(), Found: true}, nil
	})
}

// eventsAfter returns the events with a higher sequence. A run's events are
// numbered from 1 without a gap (RUN-2), and nothing is pruned here, so an
// event's place is its sequence less one.
func (r row) eventsAfter(seq int64) []record.Event {
	return r.events[min(seq, int64(len(r.events))):]
}
