package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// insertGroup is insertRun for several runs: the same lock on each version, the
// same silence about a taken id. A version that somebody else has is passed by.
// Parameters 1 to 8 are the events.
const insertGroup = `
	WITH asked AS MATERIALIZED (
		SELECT * FROM unnest((SELECT $9::text[]), (SELECT $10::text[]), (SELECT $11::text[]), (SELECT $12::text[]),
				(SELECT $13::text[]), (SELECT $14::text[]), (SELECT $15::bigint[]), (SELECT $16::text[]), (SELECT $17::bigint[]),
				(SELECT $18::bigint[]), (SELECT $19::timestamptz[]), (SELECT $20::timestamptz[]), (SELECT $21::timestamptz[]),
				(SELECT $22::text[]), (SELECT $23::bytea[]), (SELECT $24::bytea[]),
				(SELECT $25::boolean[]), (SELECT $26::timestamptz[]), (SELECT $27::timestamptz[]),
				(SELECT $28::text[]), (SELECT $29::interval[]))
			WITH ORDINALITY AS a (scope_key, tenant, graph_id, graph_hash,
				run_id, status, step, checkpoint_type, event_seq,
				open_interrupts, started_at, updated_at, finished_at,
				encoding, checksum, document,
				immediate, now, at,
				token, ttl, n)
	), versioned AS MATERIALIZED (
		SELECT a.*, coalesce(a.now, statement_timestamp()) AS stored FROM asked a CROSS JOIN LATERAL (
			SELECT 1 FROM docket.docket_graph_versions
			WHERE scope_key = a.scope_key AND graph_id = a.graph_id AND hash = a.graph_hash FOR KEY SHARE SKIP LOCKED) v
	), inserted AS (
		INSERT INTO docket.docket_runs AS r (tenant, graph_id, graph_hash, run_id, status, step, checkpoint_seq,
			checkpoint_type, event_seq, open_interrupts, started_at, updated_at, finished_at, encoding, checksum, document,
			wake_at, claim_token, claimed_at, claim_end, attempts)
		SELECT tenant, graph_id, graph_hash, run_id, status, step, 1,
			checkpoint_type, event_seq, open_interrupts, started_at, updated_at, finished_at, encoding, checksum, document,
			CASE WHEN immediate THEN stored ELSE at END,
			token,
			CASE WHEN token IS NOT NULL THEN stored END,
			CASE WHEN token IS NOT NULL THEN stored + ttl END,
			CASE WHEN token IS NOT NULL THEN 1 ELSE 0 END
		FROM versioned
		ON CONFLICT (run_id) DO NOTHING
		RETURNING r.id, r.run_id, r.claim_end, r.wake_at
	), changed AS MATERIALIZED (
		SELECT i.id, i.claim_end, i.wake_at, v.n, v.stored AS now FROM inserted i JOIN versioned v ON v.run_id = i.run_id
	), events AS (` + insertEventsOf + `)
	SELECT n, now, claim_end, $told(wake_at <= now)told FROM changed`

// InsertRun stores a new run with its first events and its wake or claim
// (RUN-1), together with those of others when many wait.
func (b *Backend) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	if err := req.Check(); err != nil {
		return ports.Inserted{}, err
	}
	if b.isClosed() {
		return ports.Inserted{}, ports.Closed(b.inserts.op)
	}
	req = req.Normal()
	return b.inserts.do(ctx, &req)
}

func (b *Backend) groupInserts() *group[*ports.InsertRun, ports.Inserted] {
	return &group[*ports.InsertRun, ports.Inserted]{
		op: "InsertRun", grace: b.cfg.CancelGrace,
		key:  func(q *ports.InsertRun) string { return q.Transition.Run.ID },
		size: func(q *ports.InsertRun) int { return sizeOf(&q.Transition) },
		single: func(ctx context.Context, q *ports.InsertRun) (ports.Inserted, error) {
			return b.roles.insertRun(ctx, q)
		},
		together: b.insertTogether,
	}
}

// insertGroupArgs are the parameters of insertGroup, in their order.
func insertGroupArgs(reqs []*ports.InsertRun) []any {
	var events eventColumns
	return events.argsOf(column(reqs, func(q *ports.InsertRun) *record.Transition { return &q.Transition }),
		column(reqs, func(q *ports.InsertRun) string { return scopeKey(q.Owner) }),
		column(reqs, func(q *ports.InsertRun) pgtype.Text { return textColumn(q.Owner.Tenant) }),
		column(reqs, func(q *ports.InsertRun) string { return q.Transition.Run.Graph.ID }),
		column(reqs, func(q *ports.InsertRun) string { return q.Transition.Run.Graph.Hash }),
		column(reqs, func(q *ports.InsertRun) string { return q.Transition.Run.ID }),
		column(reqs, func(q *ports.InsertRun) string { return q.Transition.Run.Status }),
		column(reqs, func(q *ports.InsertRun) int64 { return q.Transition.Run.Step }),
		column(reqs, func(q *ports.InsertRun) string { return q.Transition.Run.CheckpointType }),
		column(reqs, func(q *ports.InsertRun) int64 { return q.Transition.Run.EventSeq }),
		column(reqs, func(q *ports.InsertRun) int64 { return q.Transition.Run.OpenInterrupts }),
		column(reqs, func(q *ports.InsertRun) time.Time { return q.Transition.Run.StartedAt }),
		column(reqs, func(q *ports.InsertRun) time.Time { return q.Transition.Run.UpdatedAt }),
		column(reqs, func(q *ports.InsertRun) pgtype.Timestamptz { return timeColumn(q.Transition.Run.FinishedAt) }),
		column(reqs, func(q *ports.InsertRun) string { return string(q.Transition.Run.Encoding) }),
		column(reqs, func(q *ports.InsertRun) []byte { return q.Transition.Run.Checksum[:] }),
		column(reqs, func(q *ports.InsertRun) []byte { return blob(q.Transition.Run.Document) }),
		column(reqs, func(q *ports.InsertRun) bool { return q.Transition.Schedule.Kind == record.ScheduleImmediate }),
		column(reqs, func(q *ports.InsertRun) pgtype.Timestamptz { return timeColumn(q.Now) }),
		column(reqs, func(q *ports.InsertRun) pgtype.Timestamptz { return timeColumn(q.Transition.Schedule.At) }),
		column(reqs, func(q *ports.InsertRun) pgtype.Text { return textColumn(q.Claim.Token) }),
		column(reqs, func(q *ports.InsertRun) time.Duration { return q.Claim.TTL }))
}

func (b *Backend) insertTogether(ctx context.Context, reqs []*ports.InsertRun) ([]*ports.Inserted, error) {
	answers := make([]*ports.Inserted, len(reqs))
	err := b.answered(func(scan func(pgx.Rows) error) error {
		return b.impatiently(ctx, b.inserts.op, b.sql.insertGroup, insertGroupArgs(reqs), scan)
	}, func(i int64, now, end time.Time) { answers[i] = &ports.Inserted{Now: now, ClaimEnd: end} })
	return answers, err
}
