package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// Each commit is one statement: everything hangs off what its UPDATE returns, so
// a fence that moved writes nothing, and no part depends on the order in which
// the parts are executed. Parameters 1 to 6 are the events, 7 to 23 the same in
// all three.
const (
	commitColumns = `step = $7, checkpoint_seq = $8::bigint + 1, checkpoint_type = $9, event_seq = $10, open_interrupts = $11,
			updated_at = $12, encoding = $13, checksum = $14, document = $15, attempts = 0, abandons = 0`

	// A run keeps its graph and its starting time, and its events continue the
	// stored ones (RUN-2).
	commitFence = `run_id = $16 AND checkpoint_seq = $8::bigint AND event_seq = $17::bigint
			AND graph_id = $18 AND graph_hash = $19 AND started_at = $20 AND ($21::text IS NULL OR scope_key = $21)`

	commitReturning = `id, $17::bigint AS base, coalesce($22::timestamptz, statement_timestamp()) AS now`

	// retainRun keeps the claim and moves its end forward, never back. It sets
	// only columns that are in no index, so the update is heap-only.
	retainRun = `
	WITH changed AS (
		UPDATE docket.docket_runs SET ` + commitColumns + `,
			claim_end = greatest(claim_end, coalesce($22::timestamptz, statement_timestamp()) + $24::interval)
		WHERE claim_token = $23 AND ` + commitFence + `
		RETURNING ` + commitReturning + `, claim_end
	), events AS (` + insertEvents + `)
	SELECT now, claim_end FROM changed`

	releasingColumns = commitColumns + `,
			status = $24, finished_at = $25, claim_token = NULL, claimed_at = NULL, claim_end = NULL`

	scheduledWake = `CASE WHEN $26::boolean THEN coalesce($22::timestamptz, statement_timestamp()) ELSE $27::timestamptz END`

	// releaseRun ends the claim and leaves what the schedule says.
	releaseRun = `
	WITH changed AS (
		UPDATE docket.docket_runs SET ` + releasingColumns + `, wake_at = ` + scheduledWake + `
		WHERE claim_token = $23 AND ` + commitFence + `
		RETURNING ` + commitReturning + `, wake_at
	), events AS (` + insertEvents + `)
	SELECT now, $told(wake_at <= now)told FROM changed`

	// signalRun commits on the sequence alone. A poisoned run keeps its poison,
	// and stays without a wake, as long as it is running (RUN-6).
	signalRun = `
	WITH changed AS (
		UPDATE docket.docket_runs SET ` + releasingColumns + `,
			wake_at = CASE WHEN poisoned_at IS NULL THEN ` + scheduledWake + ` END,
			poisoned_at = CASE WHEN $24 = 'running' THEN poisoned_at END,
			poison_reason = CASE WHEN $24 = 'running' THEN poison_reason END
		WHERE finished_at IS NULL AND $23::text IS NULL AND ` + commitFence + `
		RETURNING ` + commitReturning + `, wake_at
	), events AS (` + insertEvents + `)
	SELECT now, $told(wake_at <= now)told FROM changed`
)

// CommitClaimed replaces a claimed run by its next transition (RUN-2).
func (r roles) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	if err := req.Check(); err != nil {
		return ports.Committed{}, err
	}
	req = req.Normal()
	return r.commitClaimed(ctx, &req)
}

func (r roles) commitClaimed(ctx context.Context, req *ports.CommitClaimed) (ports.Committed, error) {
	const op = "CommitClaimed"
	f := fence{op: op, scope: req.Scope, runID: req.RunID, token: req.Token, seq: req.ExpectedSeq}
	if req.Transition.Schedule.Kind != record.ScheduleRetain {
		return r.leave(ctx, f, r.sql.release, &req.Transition, clock(req.Now))
	}
	var now, end pgtype.Timestamptz
	found, err := r.row(ctx, op, writing, r.sql.retain, f.args(&req.Transition, clock(req.Now), req.TTL), &now, &end)
	if err == nil && !found {
		err = r.explain(ctx, f, req.Transition)
	}
	if err != nil {
		return ports.Committed{}, err
	}
	return ports.Committed{Now: timeOf(now), ClaimEnd: timeOf(end)}, nil
}

// CommitUnclaimed replaces a run by the transition of a signal and revokes any
// claim (RUN-6).
func (r roles) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	const op = "CommitUnclaimed"
	if err := req.Check(); err != nil {
		return ports.Committed{}, err
	}
	req = req.Normal()
	f := fence{op: op, scope: req.Scope, runID: req.RunID, seq: req.ExpectedSeq}
	return r.leave(ctx, f, r.sql.signal, &req.Transition, clock(req.Now))
}

// leave sends a commit that leaves no claim.
func (r roles) leave(ctx context.Context, f fence, sql string, t *record.Transition, now any) (ports.Committed, error) {
	args := f.args(t, now, t.Run.Status, optional(t.Run.FinishedAt),
		t.Schedule.Kind == record.ScheduleImmediate, optional(t.Schedule.At))
	var stored pgtype.Timestamptz
	var told bool
	found, err := r.row(ctx, f.op, writing, sql, args, &stored, &told)
	if err == nil && !found {
		err = r.explain(ctx, f, *t)
	}
	if err != nil {
		return ports.Committed{}, err
	}
	if told {
		r.db.told()
	}
	return ports.Committed{Now: timeOf(stored)}, nil
}

// fence is what an operation expects of the stored row.
type fence struct {
	op    string
	scope ports.Scope
	runID string
	token string // "": unclaimed
	seq   int64  // 0: any
}

// args are the parameters of a commit, in their order.
func (f fence) args(t *record.Transition, now any, more ...any) []any {
	var token any
	if f.token != "" {
		token = f.token
	}
	var events eventColumns
	args := make([]any, 0, 16+len(more))
	args = append(args, t.Run.Step, f.seq, t.Run.CheckpointType, t.Run.EventSeq, t.Run.OpenInterrupts,
		t.Run.UpdatedAt, string(t.Run.Encoding), t.Run.Checksum[:], blob(t.Run.Document),
		f.runID, ports.BaseEventSeq(*t), t.Run.Graph.ID, t.Run.Graph.Hash, t.Run.StartedAt, limitedTo(f.scope),
		now, token)
	return events.args(t.Events, append(args, more...)...)
}

// explain says why no row matched: not found, then inactive (unclaimed only),
// then stale, then a transition that doesn't continue the stored run. A row
// that matches by now didn't when the commit looked: its fence moved.
func (r roles) explain(ctx context.Context, f fence, t record.Transition) error {
	var old runRow
	var now pgtype.Timestamptz
	found, err := r.row(ctx, f.op, reading, r.sql.summary, []any{nil, f.runID, limitedTo(f.scope)},
		append([]any{&now}, old.dest(false)...)...)
	switch {
	case err != nil:
		return err
	case !found:
		return ports.NotFound(f.op)
	case f.token == "" && run.Status(old.run.Status).Terminal():
		return ports.Inactive(f.op)
	case f.token != "" && f.token != old.token.String, f.seq != old.run.CheckpointSeq:
		return ports.Stale(f.op)
	case t.Run.Graph != old.run.Graph:
		return ports.Invalid(f.op, "Transition.Run.Graph", "a run keeps its graph")
	case !t.Run.StartedAt.Equal(timeOf(old.startedAt)):
		return ports.Invalid(f.op, "Transition.Run.StartedAt", "a run keeps its starting time")
	case old.run.EventSeq != ports.BaseEventSeq(t):
		return ports.Invalid(f.op, "Transition.Events",
			fmt.Sprintf("the run's event sequence is %d, the transition continues %d", old.run.EventSeq, ports.BaseEventSeq(t)))
	}
	return ports.Stale(f.op)
}
