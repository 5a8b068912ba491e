package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/docket-go/docket/ports"
)

// ListEvents implements ports.Events.
func (o operations) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	const op = "ListEvents"
	if err := req.Check(); err != nil {
		return ports.EventPage{}, err
	}
	req = req.Normal()
	return read(ctx, o, op, func(v *view) (ports.EventPage, error) {
		r, err := v.visible(op, req.Scope, req.RunID)
		if err != nil {
			return ports.EventPage{}, err
		}
		page := ports.EventPage{NextAfterSeq: req.AfterSeq, LatestSeq: r.run.EventSeq}
		if n := len(r.events); n > 0 {
			page.Oldest, page.Latest = r.events[0].Seq, r.events[n-1].Seq
		}
		first, found := sought(r.events, req.AfterSeq)
		if found {
			first++
		}
		rest := r.events[first:]
		page.HasMore = len(rest) > req.Limit
		for _, e := range rest[:min(len(rest), req.Limit)] {
			page.Events = append(page.Events, e.Event.Clone())
			page.NextAfterSeq = e.Seq
		}
		return page, nil
	})
}

// FetchEvent implements ports.Events.
func (o operations) FetchEvent(ctx context.Context, req ports.FetchEvent) (ports.FetchedEvent, error) {
	const op = "FetchEvent"
	if err := req.Check(); err != nil {
		return ports.FetchedEvent{}, err
	}
	return read(ctx, o, op, func(v *view) (ports.FetchedEvent, error) {
		r, err := v.visible(op, req.Scope, req.RunID)
		if err != nil {
			return ports.FetchedEvent{}, err
		}
		i, found := sought(r.events, req.Seq)
		if !found {
			return ports.FetchedEvent{}, ports.NotFound(op)
		}
		return ports.FetchedEvent{Event: r.events[i].Event.Clone()}, nil
	})
}

// LatestEvent implements ports.Events.
func (o operations) LatestEvent(ctx context.Context, req ports.LatestEvent) (ports.FoundEvent, error) {
	const op = "LatestEvent"
	if err := req.Check(); err != nil {
		return ports.FoundEvent{}, err
	}
	return read(ctx, o, op, func(v *view) (ports.FoundEvent, error) {
		r, err := v.visible(op, req.Scope, req.RunID)
		if err != nil || len(r.events) == 0 {
			return ports.FoundEvent{}, err
		}
		return ports.FoundEvent{Event: r.events[len(r.events)-1].Event.Clone(), Found: true}, nil
	})
}

// sought returns where a sequence is among retained events, or would be.
func sought(events []event, seq int64) (int, bool) {
	return slices.BinarySearchFunc(events, seq, func(e event, seq int64) int { return cmp.Compare(e.Seq, seq) })
}
