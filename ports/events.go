package ports

import "github.com/docket-go/docket/core/record"

// ListEvents asks for a page of a run's events, ascending (EVT-3).
type ListEvents struct {
	Scope    Scope
	RunID    string
	AfterSeq int64 // exclusive; 0 is the beginning
	Limit    int   // 1..1000, 0 means 250
}

// EventPage is a page of events with the run's bounds, all from one snapshot
// (EVT-4). Gaps from pruning are legal.
type EventPage struct {
	Events       []record.Event
	NextAfterSeq int64 // the given AfterSeq when Events is empty
	HasMore      bool
	Oldest       int64 // oldest retained sequence, 0 when none is
	Latest       int64 // latest retained sequence, 0 when none is
	LatestSeq    int64 // the run's latest committed event sequence
}

// FetchEvent asks for one event.
type FetchEvent struct {
	Scope Scope
	RunID string
	Seq   int64
}

// FetchedEvent answers FetchEvent.
type FetchedEvent struct {
	Event record.Event
}

// LatestEvent asks for a run's latest retained event.
type LatestEvent struct {
	Scope Scope
	RunID string
}

// FoundEvent answers LatestEvent; Found is false when the run is visible and
// has no retained event (EVT-5).
type FoundEvent struct {
	Event record.Event
	Found bool
}
