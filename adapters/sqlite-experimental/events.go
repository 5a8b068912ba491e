package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// A read of events is one statement: rows, bounds and the run's own sequence
// come from one snapshot (EVT-4). The run's row is there even when no event is.
// The bounds don't refer to the outer row, so SQLite looks them up once.
const selectEvents = `
	SELECT r.event_seq,
		(SELECT coalesce(min(seq), 0) FROM docket_events WHERE run = (SELECT id FROM docket_runs WHERE run_id = ?1)),
		(SELECT coalesce(max(seq), 0) FROM docket_events WHERE run = (SELECT id FROM docket_runs WHERE run_id = ?1)),
		e.seq, e.type, e.step, e.time, e.encoding, e.checksum, e.payload
	FROM docket_runs r LEFT JOIN docket_events e ON e.run = r.id AND `

const ofVisibleRun = ` WHERE r.run_id = ?1 AND (?2 IS NULL OR r.owner = ?2)`

const (
	selectPage   = selectEvents + `e.seq > ?3` + ofVisibleRun + ` ORDER BY e.seq LIMIT ?4`
	selectEvent  = selectEvents + `e.seq = ?3` + ofVisibleRun
	selectLatest = selectEvents + `e.seq = (SELECT max(seq) FROM docket_events WHERE run = r.id)` + ofVisibleRun
)

// ListEvents returns a page of a run's events, ascending.
func (r roles) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	const op = "ListEvents"
	if err := req.Check(); err != nil {
		return ports.EventPage{}, err
	}
	req = req.Normal()
	page, err := r.events(ctx, op, req.Scope, req.RunID, selectPage, req.AfterSeq, req.Limit+1)
	if err != nil {
		return ports.EventPage{}, err
	}
	if page.HasMore = len(page.Events) > req.Limit; page.HasMore {
		page.Events = page.Events[:req.Limit]
	}
	page.NextAfterSeq = req.AfterSeq
	if n := len(page.Events); n > 0 {
		page.NextAfterSeq = page.Events[n-1].Seq
	}
	return page, nil
}

// FetchEvent returns one event.
func (r roles) FetchEvent(ctx context.Context, req ports.FetchEvent) (ports.FetchedEvent, error) {
	const op = "FetchEvent"
	if err := req.Check(); err != nil {
		return ports.FetchedEvent{}, err
	}
	page, err := r.events(ctx, op, req.Scope, req.RunID, selectEvent, req.Seq)
	if err != nil {
		return ports.FetchedEvent{}, err
	}
	if len(page.Events) == 0 {
		return ports.FetchedEvent{}, ports.NotFound(op)
	}
	return ports.FetchedEvent{Event: page.Events[0]}, nil
}

// LatestEvent returns a run's latest retained event, if one is.
func (r roles) LatestEvent(ctx context.Context, req ports.LatestEvent) (ports.FoundEvent, error) {
	const op = "LatestEvent"
	if err := req.Check(); err != nil {
		return ports.FoundEvent{}, err
	}
	page, err := r.events(ctx, op, req.Scope, req.RunID, selectLatest)
	if err != nil || len(page.Events) == 0 {
		return ports.FoundEvent{}, err
	}
	return ports.FoundEvent{Event: page.Events[0], Found: true}, nil
}

// events runs one of the queries above; no row at all means no such run.
func (r roles) events(ctx context.Context, op string, scope ports.Scope, runID, query string, more ...any) (ports.EventPage, error) {
	var page ports.EventPage
	args := append([]any{runID, scopeKey(scope)}, more...)
	err := r.run.read(ctx, op, func(ctx context.Context, q *statements) error {
		page = ports.EventPage{}
		visible := false
		err := q.each(ctx, query, args, func(rows *sql.Rows) error {
			visible = true
			return scanEvent(rows, runID, &page)
		})
		if err == nil && !visible {
			return ports.NotFound(op)
		}
		return err
	})
	if err != nil {
		return ports.EventPage{}, err
	}
	return page, nil
}

// scanEvent adds a row to the page; the columns of the event are NULL together
// when the run has none that was asked for.
func scanEvent(rows *sql.Rows, runID string, page *ports.EventPage) error {
	var seq, step, at sql.NullInt64
	var kind, encoding sql.NullString
	var sum []byte
	e := record.Event{RunID: runID}
	err := rows.Scan(&page.LatestSeq, &page.Oldest, &page.Latest,
		&seq, &kind, &step, &at, &encoding, &sum, &e.Payload)
	if err != nil {
		return fmt.Errorf("event row of run %q: %w", runID, err)
	}
	if !seq.Valid {
		return nil
	}
	e.Seq, e.Type, e.Step = seq.Int64, kind.String, step.Int64
	e.Time, e.Encoding, e.Checksum = timeOf(at.Int64), record.Encoding(encoding.String), checksum(sum)
	page.Events = append(page.Events, e)
	return nil
}
