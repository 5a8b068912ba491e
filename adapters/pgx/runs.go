package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// runRow receives runColumns, and with a document documentColumns.
type runRow struct {
	run        record.Run
	tenant     pgtype.Text
	startedAt  pgtype.Timestamptz
	updatedAt  pgtype.Timestamptz
	finishedAt pgtype.Timestamptz
	wakeAt     pgtype.Timestamptz
	token      pgtype.Text
	claimedAt  pgtype.Timestamptz
	claimEnd   pgtype.Timestamptz
	attempts   int64
	abandons   int64
	poisonedAt pgtype.Timestamptz
	reason     pgtype.Text
	checksum   []byte
}

const (
	runColumns = `r.run_id, r.tenant, r.graph_id, r.graph_hash, r.status, r.step,
		r.checkpoint_seq, r.checkpoint_type, r.event_seq, r.open_interrupts,
		r.started_at, r.updated_at, r.finished_at, r.wake_at, r.claim_token, r.claimed_at, r.claim_end,
		r.attempts, r.abandons, r.poisoned_at, r.poison_reason, r.encoding`
	documentColumns = `, r.checksum, r.document`

	selectRun     = `SELECT coalesce($1::timestamptz, statement_timestamp()), ` + runColumns + documentColumns + ` FROM docket.docket_runs r`
	selectSummary = `SELECT coalesce($1::timestamptz, statement_timestamp()), ` + runColumns + ` FROM docket.docket_runs r`

	oneVisibleRun = ` WHERE r.run_id = $2 AND ($3::text IS NULL OR r.scope_key = $3)`

	visibleRun = `SELECT 1 FROM docket.docket_runs WHERE run_id = $1 AND ($2::text IS NULL OR scope_key = $2)`
)

// dest lists the targets of a scan, in the order of the columns.
func (w *runRow) dest(withDocument bool) []any {
	dest := []any{&w.run.ID, &w.tenant, &w.run.Graph.ID, &w.run.Graph.Hash, &w.run.Status, &w.run.Step,
		&w.run.CheckpointSeq, &w.run.CheckpointType, &w.run.EventSeq, &w.run.OpenInterrupts,
		&w.startedAt, &w.updatedAt, &w.finishedAt, &w.wakeAt, &w.token, &w.claimedAt, &w.claimEnd,
		&w.attempts, &w.abandons, &w.poisonedAt, &w.reason, (*string)(&w.run.Encoding)}
	if withDocument {
		dest = append(dest, &w.checksum, &w.run.Document)
	}
	return dest
}

func (w *runRow) record() record.Run {
	r := w.run
	r.StartedAt, r.UpdatedAt, r.FinishedAt = timeOf(w.startedAt), timeOf(w.updatedAt), timeOf(w.finishedAt)
	r.Checksum = checksum(w.checksum)
	return r
}

func (w *runRow) poison() ports.Poison {
	return ports.Poison{At: timeOf(w.poisonedAt), Reason: ports.PoisonReason(w.reason.String)}
}

// FetchRun returns a run's record.
func (r roles) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	const op = "FetchRun"
	if err := req.Check(); err != nil {
		return ports.FetchedRun{}, err
	}
	row, now, err := r.fetch(ctx, op, ports.InspectRun(req))
	if err != nil {
		return ports.FetchedRun{}, err
	}
	fetched := ports.FetchedRun{Owner: ownerOf(row.tenant), Run: row.record(), Now: timeOf(now)}
	if req.Scope.Kind == ports.ScopeSystem {
		fetched.Token = row.token.String
	}
	return fetched, nil
}

// InspectRun returns a run with its delivery state, without its token (RUN-10).
func (r roles) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	const op = "InspectRun"
	if err := req.Check(); err != nil {
		return ports.RunInfo{}, err
	}
	row, now, err := r.fetch(ctx, op, req)
	if err != nil {
		return ports.RunInfo{}, err
	}
	return ports.RunInfo{
		Owner: ownerOf(row.tenant), Run: row.record(),
		WakeAt: timeOf(row.wakeAt), ClaimedAt: timeOf(row.claimedAt), ClaimEnd: timeOf(row.claimEnd),
		Attempts: row.attempts, Abandons: row.abandons, Poison: row.poison(), Now: timeOf(now),
	}, nil
}

func (r roles) fetch(ctx context.Context, op string, req ports.InspectRun) (row runRow, now pgtype.Timestamptz, err error) {
	found, err := r.row(ctx, op, reading, r.sql.fetchRun, []any{clock(req.Now), req.RunID, limitedTo(req.Scope)},
		append([]any{&now}, row.dest(true)...)...)
	if err == nil && !found {
		err = ports.NotFound(op)
	}
	return row, now, err
}

// ListRuns returns a page of runs, newest first; all filters are in the query
// (RUN-9).
func (r roles) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	const op = "ListRuns"
	if err := req.Check(); err != nil {
		return ports.RunPage{}, err
	}
	req = req.Normal()
	sql, args := r.sql.listRuns(req)
	page := ports.RunPage{Next: req.After}
	err := r.db.query(ctx, op, reading, sql, args, func(rows pgx.Rows) error {
		var now pgtype.Timestamptz
		var row runRow
		if err := rows.Scan(append([]any{&now}, row.dest(req.Records)...)...); err != nil {
			return err
		}
		page.Now = timeOf(now)
		page.Items = append(page.Items, ports.RunSummary{Owner: ownerOf(row.tenant), Run: row.record(), Poison: row.poison()})
		return nil
	})
	if err == nil && len(page.Items) == 0 {
		page.Now, err = r.storeTime(ctx, op, req.Now)
	}
	if err != nil {
		return ports.RunPage{}, err
	}
	if page.HasMore = len(page.Items) > req.Limit; page.HasMore {
		page.Items = page.Items[:req.Limit]
	}
	if n := len(page.Items); n > 0 {
		page.Next = ports.RunCursor{StartedAt: page.Items[n-1].Run.StartedAt, RunID: page.Items[n-1].Run.ID}
	}
	return page, nil
}

// listRuns builds the query from the filters that are set, so that the planner
// sees which index serves it. Its texts are few: one for each combination.
func (s *statements) listRuns(req ports.ListRuns) (string, []any) {
	args := []any{clock(req.Now), req.Limit + 1}
	var where []string
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, condition)
	}
	if owner := limitedTo(req.Scope); owner != nil {
		add("r.scope_key = ?", owner)
	}
	switch statuses := distinct(req.Statuses); len(statuses) {
	case 0:
	case 1: // alone, it leaves the index in order
		add("r.status = ?", statuses[0])
	default:
		add("r.status = ANY (?::text[])", statuses)
	}
	if req.GraphID != "" {
		add("r.graph_id = ?", req.GraphID)
	}
	if req.GraphHash != "" {
		add("r.graph_hash = ?", req.GraphHash)
	}
	if req.OpenInterrupts {
		add("r.open_interrupts > 0")
	}
	if req.Poisoned {
		add("r.poisoned_at IS NOT NULL")
	}
	if req.After != (ports.RunCursor{}) {
		add("(r.started_at, r.run_id) < (?, ?)", req.After.StartedAt, req.After.RunID)
	}
	sql := selectSummary
	if req.Records {
		sql = selectRun
	}
	if len(where) > 0 {
		sql += " WHERE " + strings.Join(where, " AND ")
	}
	return s.place.sql(sql + " ORDER BY r.started_at DESC, r.run_id DESC LIMIT $2"), args
}

// distinct lists each status once, in one order.
func distinct(statuses []string) []string {
	var out []string
	for _, known := range run.Statuses() {
		for _, s := range statuses {
			if s == string(known) {
				out = append(out, s)
				break
			}
		}
	}
	return out
}
