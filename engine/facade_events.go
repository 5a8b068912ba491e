package engine

import (
	"context"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// ListEvents asks for a page of a run's events, ascending.
type ListEvents struct {
	Tenant   string
	RunID    string
	AfterSeq int64 // exclusive; 0 is the beginning
	Limit    int   // 1..1000; default Config.EventPage
}

// EventPage is a page of events with the run's bounds, all from one snapshot.
// Gaps from pruning are legal.
type EventPage struct {
	Events       []run.Event
	NextAfterSeq int64 // the given AfterSeq when Events is empty
	HasMore      bool
	Oldest       int64 // oldest retained sequence, 0 when none is
	Latest       int64 // latest retained sequence, 0 when none is
	LatestSeq    int64 // the run's latest committed sequence
}

// ListEvents returns a page of a run's retained events. A damaged event is
// CodeCorrupt with its sequence in Details: read on after it.
func (e *Engine) ListEvents(ctx context.Context, req ListEvents) (EventPage, error) {
	o, err := e.runOwner(req.Tenant, req.RunID)
	if err != nil {
		return EventPage{}, err
	}
	if req.AfterSeq < 0 {
		return EventPage{}, invalid("AfterSeq", "is %d, want 0 or more", req.AfterSeq)
	}
	limit, err := pageSize(req.Limit, e.cfg.EventPage)
	if err != nil {
		return EventPage{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.StoreTimeout)
	defer cancel()
	page, err := e.store.backend.ListEvents(ctx, ports.ListEvents{
		Scope: ports.ScopeOf(o), RunID: req.RunID, AfterSeq: req.AfterSeq, Limit: limit,
	})
	if err != nil {
		return EventPage{}, storeError(req.RunID, err)
	}
	events := make([]run.Event, len(page.Events))
	for i, rec := range page.Events {
		if events[i], err = run.DecodeEvent(rec); err != nil {
			return EventPage{}, eventError(req.RunID, rec.Seq, err)
		}
	}
	return EventPage{
		Events: events, NextAfterSeq: page.NextAfterSeq, HasMore: page.HasMore,
		Oldest: page.Oldest, Latest: page.Latest, LatestSeq: page.LatestSeq,
	}, nil
}

// FetchEvent asks for one event.
type FetchEvent struct {
	Tenant string
	RunID  string
	Seq    int64
}

// FetchEvent returns one event. A sequence that is missing or was pruned is
// CodeNotFound.
func (e *Engine) FetchEvent(ctx context.Context, req FetchEvent) (run.Event, error) {
	o, err := e.runOwner(req.Tenant, req.RunID)
	if err != nil {
		return run.Event{}, err
	}
	if req.Seq < 1 {
		return run.Event{}, invalid("Seq", "is %d, want 1 or more", req.Seq)
	}
	fetched, err := e.store.fetchEvent(ctx, ports.FetchEvent{Scope: ports.ScopeOf(o), RunID: req.RunID, Seq: req.Seq})
	if err != nil {
		return run.Event{}, storeError(req.RunID, err)
	}
	ev, err := run.DecodeEvent(fetched.Event)
	if err != nil {
		return run.Event{}, eventError(req.RunID, req.Seq, err)
	}
	return ev, nil
}

// LatestEvent asks for a run's latest retained event.
type LatestEvent struct {
	Tenant string
	RunID  string
}

// LatestEvent returns a run's latest retained event; found is false when the run
// has none left.
func (e *Engine) LatestEvent(ctx context.Context, req LatestEvent) (event run.Event, found bool, err error) {
	o, err := e.runOwner(req.Tenant, req.RunID)
	if err != nil {
		return run.Event{}, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.StoreTimeout)
	defer cancel()
	latest, err := e.store.backend.LatestEvent(ctx, ports.LatestEvent{Scope: ports.ScopeOf(o), RunID: req.RunID})
	if err != nil || !latest.Found {
		return run.Event{}, false, storeError(req.RunID, err)
	}
	if event, err = run.DecodeEvent(latest.Event); err != nil {
		return run.Event{}, false, eventError(req.RunID, latest.Event.Seq, err)
	}
	return event, true, nil
}

func eventError(runID string, seq int64, err error) *Error {
	e := documentError(runID, err)
	e.Details = map[string]any{"seq": seq}
	return e
}
