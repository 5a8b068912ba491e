package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// runRow receives the columns of selectRun or selectSummary.
type runRow struct {
	run        record.Run
	owner      string
	startedAt  int64
	updatedAt  int64
	finishedAt sql.NullInt64
	delivery   delivery
	abandons   int64
	poisonedAt sql.NullInt64
	reason     sql.NullString
	checksum   []byte
}

const runColumns = `r.run_id, r.owner, r.graph_id, r.graph_hash, r.status, r.step,
	r.checkpoint_seq, r.checkpoint_type, r.event_seq, r.open_interrupts,
	r.started_at, r.updated_at, r.finished_at, r.wake_at, r.claim_token, r.claimed_at, r.claim_end,
	r.attempts, r.abandons, r.poisoned_at, r.poison_reason, r.encoding`

// selectRun joins the document loosely: a run whose document is lost is told by
// its record, which fails Verify, and not hidden.
const selectRun = `SELECT ` + runColumns + `, d.checksum, d.document
	FROM docket_runs r LEFT JOIN docket_run_documents d ON d.run = r.id `

const selectSummary = `SELECT ` + runColumns + ` FROM docket_runs r `

// dest lists the targets of a scan, in the order of the columns.
func (w *runRow) dest(withDocument bool) []any {
	d := &w.delivery
	dest := []any{&w.run.ID, &w.owner, &w.run.Graph.ID, &w.run.Graph.Hash, &w.run.Status, &w.run.Step,
		&w.run.CheckpointSeq, &w.run.CheckpointType, &w.run.EventSeq, &w.run.OpenInterrupts,
		&w.startedAt, &w.updatedAt, &w.finishedAt, &d.wakeAt, &d.token, &d.claimedAt, &d.claimEnd,
		&d.attempts, &w.abandons, &w.poisonedAt, &w.reason, &w.run.Encoding}
	if withDocument {
		dest = append(dest, &w.checksum, &w.run.Document)
	}
	return dest
}

func (w *runRow) record() record.Run {
	r := w.run
	r.StartedAt, r.UpdatedAt, r.FinishedAt = timeOf(w.startedAt), timeOf(w.updatedAt), optionalTime(w.finishedAt)
	r.Checksum = checksum(w.checksum)
	return r
}

func (w *runRow) poison() ports.Poison {
	return ports.Poison{At: optionalTime(w.poisonedAt), Reason: ports.PoisonReason(w.reason.String)}
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
	fetched := ports.FetchedRun{Owner: ownerOf(row.owner), Run: row.record(), Now: timeOf(now)}
	if req.Scope.Kind == ports.ScopeSystem {
		fetched.Token = row.delivery.token.String
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
	d := row.delivery
	return ports.RunInfo{
		Owner: ownerOf(row.owner), Run: row.record(),
		WakeAt: optionalTime(d.wakeAt), ClaimedAt: optionalTime(d.claimedAt), ClaimEnd: optionalTime(d.claimEnd),
		Attempts: d.attempts, Abandons: row.abandons, Poison: row.poison(), Now: timeOf(now),
	}, nil
}

func (r roles) fetch(ctx context.Context, op string, req ports.InspectRun) (row runRow, now int64, err error) {
	err = r.run.read(ctx, op, func(ctx context.Context, q *statements) error {
		row, now = runRow{}, r.now(req.Now)
		err := q.row(ctx, selectRun+`WHERE r.run_id = ?1 AND (?2 IS NULL OR r.owner = ?2)`,
			[]any{req.RunID, scopeKey(req.Scope)}, row.dest(true)...)
		return missing(op, err)
	})
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
	query, args := listQuery(req)
	page := ports.RunPage{Next: req.After}
	err := r.run.read(ctx, op, func(ctx context.Context, q *statements) error {
		page.Items, page.Now = nil, timeOf(r.now(req.Now))
		return q.each(ctx, query, args, func(rows *sql.Rows) error {
			var row runRow
			if err := rows.Scan(row.dest(req.Records)...); err != nil {
				return err
			}
			page.Items = append(page.Items, ports.RunSummary{Owner: ownerOf(row.owner), Run: row.record(), Poison: row.poison()})
			return nil
		})
	})
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

// listQuery builds the query from the filters that are set, so that the planner
// sees which index serves it. Its texts are few: one for each combination.
func listQuery(req ports.ListRuns) (string, []any) {
	var where []string
	var args []any
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if owner := scopeKey(req.Scope); owner != nil {
		add("r.owner = ?", owner)
	}
	if statuses := distinct(req.Statuses); len(statuses) > 0 {
		add("r.status IN (?"+strings.Repeat(", ?", len(statuses)-1)+")", statuses...)
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
		add("(r.started_at, r.run_id) < (?, ?)", req.After.StartedAt.UnixMicro(), req.After.RunID)
	}
	query := selectSummary
	if req.Records {
		query = selectRun
	}
	if len(where) > 0 {
		query += "WHERE " + strings.Join(where, " AND ")
	}
	return query + " ORDER BY r.started_at DESC, r.run_id DESC LIMIT ?", append(args, req.Limit+1)
}

// distinct keeps the number of query texts bounded by the number of statuses.
func distinct(statuses []string) []any {
	var out []any
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
