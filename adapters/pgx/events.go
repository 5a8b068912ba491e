package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// A read of events is one statement: rows, bounds and the run's own sequence
// come from one snapshot (EVT-4). The run's row is there even when no event is.
const selectEvents = `
	SELECT r.event_seq,
		coalesce((SELECT min(seq) FROM docket.docket_events WHERE run = r.id), 0),
		coalesce((SELECT max(seq) FROM docket.docket_events WHERE run = r.id), 0),
		e.seq, e.type, e.step, e.at, e.encoding, e.checksum, e.payload
	FROM docket.docket_runs r LEFT JOIN LATERAL (SELECT * FROM docket.docket_events WHERE run = r.id AND `

const ofVisibleRun = `) e ON true WHERE r.run_id = $1 AND ($2::text IS NULL OR r.scope_key = $2)`

const (
	selectPage   = selectEvents + `seq > $3 ORDER BY seq LIMIT $4` + ofVisibleRun + ` ORDER BY e.seq`
	selectEvent  = selectEvents + `seq = $3` + ofVisibleRun
	selectLatest = selectEvents + `true ORDER BY seq DESC LIMIT 1` + ofVisibleRun
)

// ListEvents returns a page of a run's events, ascending.
func (r roles) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	const op = "ListEvents"
	if err := req.Check(); err != nil {
		return ports.EventPage{}, err
	}
	req = req.Normal()
	page, err := r.events(ctx, op, req.Scope, req.RunID, r.sql.eventPage, req.AfterSeq, req.Limit+1)
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
	page, err := r.events(ctx, op, req.Scope, req.RunID, r.sql.oneEvent, req.Seq)
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
	page, err := r.events(ctx, op, req.Scope, req.RunID, r.sql.latestEvent)
	if err != nil || len(page.Events) == 0 {
		return ports.FoundEvent{}, err
	}
	return ports.FoundEvent{Event: page.Events[0], Found: true}, nil
}

// events runs one of the queries above; no row at all means no such run.
func (r roles) events(ctx context.Context, op string, scope ports.Scope, runID, sql string, more ...any) (ports.EventPage, error) {
	var page ports.EventPage
	visible := false
	args := append([]any{runID, limitedTo(scope)}, more...)
	err := r.db.query(ctx, op, reading, sql, args, func(rows pgx.Rows) error {
		visible = true
		return scanEvent(rows, runID, &page)
	})
	if err != nil {
		return ports.EventPage{}, err
	}
	if !visible {
		return ports.EventPage{}, ports.NotFound(op)
	}
	return page, nil
}

// scanEvent adds a row to the page; the columns of the event are NULL together
// when the run has none that was asked for.
func scanEvent(rows pgx.Rows, runID string, page *ports.EventPage) error {
	var seq, step pgtype.Int8
	var kind, encoding pgtype.Text
	var at pgtype.Timestamptz
	var sum []byte
	e := record.Event{RunID: runID}
	err := rows.Scan(&page.LatestSeq, &page.Oldest, &page.Latest,
		&seq, &kind, &step, &at, &encoding, &sum, &e.Payload)
	if err != nil || !seq.Valid {
		return err
	}
	e.Seq, e.Type, e.Step = seq.Int64, kind.String, step.Int64
	e.Time, e.Encoding, e.Checksum = timeOf(at), record.Encoding(encoding.String), checksum(sum)
	page.Events = append(page.Events, e)
	return nil
}
