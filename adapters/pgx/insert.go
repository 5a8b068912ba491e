package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// insertRun locks the version as the foreign key will, so that a pruner can't
// take it away between the look and the check. A run whose id is taken does
// nothing: the row that has it isn't looked at (RUN-1).
const insertRun = `
	WITH version AS MATERIALIZED (
		SELECT 1 FROM docket.docket_graph_versions
		WHERE scope_key = $7 AND graph_id = $8 AND hash = $9 FOR KEY SHARE
	), changed AS (
		INSERT INTO docket.docket_runs AS r (tenant, graph_id, graph_hash, run_id, status, step, checkpoint_seq,
			checkpoint_type, event_seq, open_interrupts, started_at, updated_at, finished_at, encoding, checksum, document,
			wake_at, claim_token, claimed_at, claim_end, attempts)
		SELECT $10, $8, $9, $11, $12, $13, 1,
			$14, $15, $16, $17, $18, $19, $20, $21, $22,
			CASE WHEN $23::boolean THEN coalesce($24::timestamptz, statement_timestamp()) ELSE $25::timestamptz END,
			$26::text,
			CASE WHEN $26 IS NOT NULL THEN coalesce($24, statement_timestamp()) END,
			CASE WHEN $26 IS NOT NULL THEN coalesce($24, statement_timestamp()) + $27::interval END,
			CASE WHEN $26 IS NOT NULL THEN 1 ELSE 0 END
		FROM version
		ON CONFLICT (run_id) DO NOTHING
		RETURNING r.id, 0 AS base, coalesce($24, statement_timestamp()) AS now, r.claim_end, r.wake_at
	), events AS (` + insertEvents + `)
	SELECT (SELECT count(*) FROM version), i.now, i.claim_end, $told(i.wake_at <= i.now)told
	FROM (SELECT 1) one LEFT JOIN changed i ON true`

// InsertRun stores a new run with its first events and its wake or claim (RUN-1).
func (r roles) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	if err := req.Check(); err != nil {
		return ports.Inserted{}, err
	}
	req = req.Normal()
	return r.insertRun(ctx, &req)
}

func (r roles) insertRun(ctx context.Context, req *ports.InsertRun) (ports.Inserted, error) {
	const op = "InsertRun"
	var versions int64
	var now, end pgtype.Timestamptz
	var told bool
	if _, err := r.row(ctx, op, writing, r.sql.insertRun, insertArgs(req), &versions, &now, &end, &told); err != nil {
		return ports.Inserted{}, err
	}
	switch {
	case versions == 0:
		return ports.Inserted{}, ports.NotFound(op)
	case !now.Valid:
		return ports.Inserted{}, ports.Exists(op)
	case told:
		r.db.told()
	}
	return ports.Inserted{Now: timeOf(now), ClaimEnd: timeOf(end)}, nil
}

// insertArgs are the parameters of insertRun, in their order.
func insertArgs(req *ports.InsertRun) []any {
	t := &req.Transition
	var events eventColumns
	return events.args(t.Events,
		scopeKey(req.Owner), t.Run.Graph.ID, t.Run.Graph.Hash, textColumn(req.Owner.Tenant), t.Run.ID, t.Run.Status, t.Run.Step,
		t.Run.CheckpointType, t.Run.EventSeq, t.Run.OpenInterrupts, t.Run.StartedAt, t.Run.UpdatedAt,
		optional(t.Run.FinishedAt), string(t.Run.Encoding), t.Run.Checksum[:], blob(t.Run.Document),
		t.Schedule.Kind == record.ScheduleImmediate, clock(req.Now), optional(t.Schedule.At), textColumn(req.Claim.Token), req.Claim.TTL)
}
