package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// commitGroup is claimed commits of several runs, each under its own fence, in
// one statement. It locks the rows whose fence holds and holds still under the
// lock, and passes by those that somebody else has: a neighbour would wait for
// them. Parameters 1 to 8 are the events.
//
// A run that keeps its claim keeps every indexed value, so its update is
// heap-only here too.
const commitGroup = `
	WITH asked AS MATERIALIZED (
		SELECT * FROM unnest((SELECT $9::text[]), (SELECT $10::text[]), (SELECT $11::bigint[]), (SELECT $12::bigint[]),
				(SELECT $13::text[]), (SELECT $14::text[]), (SELECT $15::timestamptz[]), (SELECT $16::text[]),
				(SELECT $17::timestamptz[]), (SELECT $18::bigint[]), (SELECT $19::text[]), (SELECT $20::bigint[]), (SELECT $21::bigint[]),
				(SELECT $22::timestamptz[]), (SELECT $23::text[]), (SELECT $24::bytea[]), (SELECT $25::bytea[]),
				(SELECT $26::boolean[]), (SELECT $27::interval[]), (SELECT $28::text[]), (SELECT $29::timestamptz[]),
				(SELECT $30::boolean[]), (SELECT $31::timestamptz[]))
			WITH ORDINALITY AS a (run_id, token, seq, base, graph_id, graph_hash, started_at, scope_key,
				now, step, checkpoint_type, event_seq, open_interrupts, updated_at, encoding, checksum, document,
				retain, ttl, status, finished_at, immediate, at, n)
	), locked AS MATERIALIZED (
		SELECT r.id, a.* FROM asked a CROSS JOIN LATERAL (
			SELECT id FROM docket.docket_runs
			WHERE run_id = a.run_id AND claim_token = a.token AND checkpoint_seq = a.seq AND event_seq = a.base
				AND graph_id = a.graph_id AND graph_hash = a.graph_hash AND started_at = a.started_at
				AND (a.scope_key IS NULL OR scope_key = a.scope_key)
			FOR UPDATE SKIP LOCKED) r` + noLimit + `
	), changed AS (
		UPDATE docket.docket_runs r SET step = a.step, checkpoint_seq = a.seq + 1, checkpoint_type = a.checkpoint_type,
			event_seq = a.event_seq, open_interrupts = a.open_interrupts, updated_at = a.updated_at,
			encoding = a.encoding, checksum = a.checksum, document = a.document, attempts = 0, abandons = 0,
			status = a.status, finished_at = a.finished_at,
			claim_token = CASE WHEN a.retain THEN r.claim_token END,
			claimed_at = CASE WHEN a.retain THEN r.claimed_at END,
			claim_end = CASE WHEN a.retain THEN greatest(r.claim_end, coalesce(a.now, statement_timestamp()) + a.ttl) END,
			wake_at = CASE WHEN a.immediate THEN coalesce(a.now, statement_timestamp()) ELSE a.at END
		FROM locked a
		WHERE r.id = a.id
		RETURNING r.id, a.n, coalesce(a.now, statement_timestamp()) AS now, r.claim_end, r.wake_at
	), events AS (` + insertEventsOf + `)
	SELECT n, now, claim_end, $told(wake_at <= now)told FROM changed`

// CommitClaimed replaces a claimed run by its next transition (RUN-2), together
// with those of others when many wait.
func (b *Backend) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	if err := req.Check(); err != nil {
		return ports.Committed{}, err
	}
	if b.isClosed() {
		return ports.Committed{}, ports.Closed(b.commits.op)
	}
	req = req.Normal()
	return b.commits.do(ctx, &req)
}

func (b *Backend) groupCommits() *group[*ports.CommitClaimed, ports.Committed] {
	return &group[*ports.CommitClaimed, ports.Committed]{
		op: "CommitClaimed", grace: b.cfg.CancelGrace,
		key:  func(q *ports.CommitClaimed) string { return q.RunID },
		size: func(q *ports.CommitClaimed) int { return sizeOf(&q.Transition) },
		single: func(ctx context.Context, q *ports.CommitClaimed) (ports.Committed, error) {
			return b.roles.commitClaimed(ctx, q)
		},
		together: b.commitTogether,
	}
}

// commitGroupArgs are the parameters of commitGroup, in their order.
func commitGroupArgs(reqs []*ports.CommitClaimed) []any {
	var events eventColumns
	return events.argsOf(column(reqs, func(q *ports.CommitClaimed) *record.Transition { return &q.Transition }),
		column(reqs, func(q *ports.CommitClaimed) string { return q.RunID }),
		column(reqs, func(q *ports.CommitClaimed) string { return q.Token }),
		column(reqs, func(q *ports.CommitClaimed) int64 { return q.ExpectedSeq }),
		column(reqs, func(q *ports.CommitClaimed) int64 { return ports.BaseEventSeq(q.Transition) }),
		column(reqs, func(q *ports.CommitClaimed) string { return q.Transition.Run.Graph.ID }),
		column(reqs, func(q *ports.CommitClaimed) string { return q.Transition.Run.Graph.Hash }),
		column(reqs, func(q *ports.CommitClaimed) time.Time { return q.Transition.Run.StartedAt }),
		column(reqs, func(q *ports.CommitClaimed) pgtype.Text { return limitColumn(q.Scope) }),
		column(reqs, func(q *ports.CommitClaimed) pgtype.Timestamptz { return timeColumn(q.Now) }),
		column(reqs, func(q *ports.CommitClaimed) int64 { return q.Transition.Run.Step }),
		column(reqs, func(q *ports.CommitClaimed) string { return q.Transition.Run.CheckpointType }),
		column(reqs, func(q *ports.CommitClaimed) int64 { return q.Transition.Run.EventSeq }),
		column(reqs, func(q *ports.CommitClaimed) int64 { return q.Transition.Run.OpenInterrupts }),
		column(reqs, func(q *ports.CommitClaimed) time.Time { return q.Transition.Run.UpdatedAt }),
		column(reqs, func(q *ports.CommitClaimed) string { return string(q.Transition.Run.Encoding) }),
		column(reqs, func(q *ports.CommitClaimed) []byte { return q.Transition.Run.Checksum[:] }),
		column(reqs, func(q *ports.CommitClaimed) []byte { return blob(q.Transition.Run.Document) }),
		column(reqs, func(q *ports.CommitClaimed) bool { return q.Transition.Schedule.Kind == record.ScheduleRetain }),
		column(reqs, func(q *ports.CommitClaimed) time.Duration { return q.TTL }),
		column(reqs, func(q *ports.CommitClaimed) string { return q.Transition.Run.Status }),
		column(reqs, func(q *ports.CommitClaimed) pgtype.Timestamptz { return timeColumn(q.Transition.Run.FinishedAt) }),
		column(reqs, func(q *ports.CommitClaimed) bool { return q.Transition.Schedule.Kind == record.ScheduleImmediate }),
		column(reqs, func(q *ports.CommitClaimed) pgtype.Timestamptz { return timeColumn(q.Transition.Schedule.At) }))
}

func (b *Backend) commitTogether(ctx context.Context, reqs []*ports.CommitClaimed) ([]*ports.Committed, error) {
	answers := make([]*ports.Committed, len(reqs))
	err := b.answered(func(scan func(pgx.Rows) error) error {
		return b.query(ctx, b.commits.op, writing, b.sql.commitGroup, commitGroupArgs(reqs), scan)
	}, func(i int64, now, end time.Time) { answers[i] = &ports.Committed{Now: now, ClaimEnd: end} })
	return answers, err
}
