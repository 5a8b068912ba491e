package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// CommitClaimed replaces a claimed run by its next transition (RUN-2). The fence
// is the UPDATE's own condition; only when it matches no row is the reason
// looked up, in the same transaction.
func (r roles) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	const op = "CommitClaimed"
	if err := req.Check(); err != nil {
		return ports.Committed{}, err
	}
	req = req.Normal()
	f := fence{op: op, scope: req.Scope, runID: req.RunID, token: req.Token, seq: req.ExpectedSeq}
	var committed ports.Committed
	err := r.run.write(ctx, op, func(ctx context.Context, u *unit) error {
		now := r.now(req.Now)
		committed = ports.Committed{Now: timeOf(now)}
		var id int64
		var err error
		if req.Transition.Schedule.Kind == record.ScheduleRetain {
			var end int64
			id, end, err = retain(ctx, u.statements, f, req.Transition, after(now, req.TTL))
			committed.ClaimEnd = timeOf(end)
		} else {
			s := scheduled(req.Transition.Schedule, now)
			u.due = s.dueAt(now)
			id, err = release(ctx, u.statements, f, req.Transition, s)
		}
		if errors.Is(err, sql.ErrNoRows) {
			return f.explain(ctx, u.statements, req.Transition)
		}
		if err != nil {
			return err
		}
		return storeContent(ctx, u.statements, id, req.Transition, now)
	})
	if err != nil {
		return ports.Committed{}, err
	}
	return committed, nil
}

// retain keeps the claim and moves its end forward, never back. It sets only
// columns that are in no index: the run stays running.
func retain(ctx context.Context, q *statements, f fence, t record.Transition, end int64) (id, claimEnd int64, err error) {
	err = q.row(ctx, `
		UPDATE docket_runs SET step = ?, checkpoint_seq = ?, checkpoint_type = ?, event_seq = ?,
			open_interrupts = ?, updated_at = ?, encoding = ?, claim_end = max(claim_end, ?), attempts = 0, abandons = 0
		WHERE run_id = ? AND claim_token = ? AND checkpoint_seq = ? AND event_seq = ?
			AND graph_id = ? AND graph_hash = ? AND started_at = ? AND (?16 IS NULL OR owner = ?16)
		RETURNING id, claim_end`,
		[]any{t.Run.Step, t.Run.CheckpointSeq, t.Run.CheckpointType, t.Run.EventSeq,
			t.Run.OpenInterrupts, t.Run.UpdatedAt.UnixMicro(), string(t.Run.Encoding), end,
			f.runID, f.token, f.seq, ports.BaseEventSeq(t),
			t.Run.Graph.ID, t.Run.Graph.Hash, t.Run.StartedAt.UnixMicro(), scopeKey(f.scope)}, &id, &claimEnd)
	return id, claimEnd, err
}

// release ends the claim and leaves what the schedule says.
func release(ctx context.Context, q *statements, f fence, t record.Transition, s delivery) (id int64, err error) {
	err = q.row(ctx, `
		UPDATE docket_runs SET status = ?, step = ?, checkpoint_seq = ?, checkpoint_type = ?, event_seq = ?,
			open_interrupts = ?, updated_at = ?, encoding = ?, finished_at = ?, wake_at = ?,
			claim_token = NULL, claimed_at = NULL, claim_end = NULL, attempts = 0, abandons = 0
		WHERE run_id = ? AND claim_token = ? AND checkpoint_seq = ? AND event_seq = ?
			AND graph_id = ? AND graph_hash = ? AND started_at = ? AND (?18 IS NULL OR owner = ?18)
		RETURNING id`,
		[]any{t.Run.Status, t.Run.Step, t.Run.CheckpointSeq, t.Run.CheckpointType, t.Run.EventSeq,
			t.Run.OpenInterrupts, t.Run.UpdatedAt.UnixMicro(), string(t.Run.Encoding), optional(t.Run.FinishedAt), s.wakeAt,
			f.runID, f.token, f.seq, ports.BaseEventSeq(t),
			t.Run.Graph.ID, t.Run.Graph.Hash, t.Run.StartedAt.UnixMicro(), scopeKey(f.scope)}, &id)
	return id, err
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
	var committed ports.Committed
	err := r.run.write(ctx, op, func(ctx context.Context, u *unit) error {
		now := r.now(req.Now)
		s := scheduled(req.Transition.Schedule, now)
		id, poisoned, err := signal(ctx, u.statements, f, req.Transition, s)
		if errors.Is(err, sql.ErrNoRows) {
			return f.explain(ctx, u.statements, req.Transition)
		}
		if err != nil {
			return err
		}
		u.due = s.dueAt(now) && !poisoned
		committed = ports.Committed{Now: timeOf(now)}
		return storeContent(ctx, u.statements, id, req.Transition, now)
	})
	if err != nil {
		return ports.Committed{}, err
	}
	return committed, nil
}

// signal commits on the sequence alone. A poisoned run keeps its poison, and
// stays without a wake, as long as it is running.
func signal(ctx context.Context, q *statements, f fence, t record.Transition, s delivery) (id int64, poisoned bool, err error) {
	err = q.row(ctx, `
		UPDATE docket_runs SET status = ?1, step = ?, checkpoint_seq = ?, checkpoint_type = ?, event_seq = ?,
			open_interrupts = ?, updated_at = ?, encoding = ?, finished_at = ?,
			wake_at = CASE WHEN poisoned_at IS NULL THEN ? END,
			claim_token = NULL, claimed_at = NULL, claim_end = NULL, attempts = 0, abandons = 0,
			poisoned_at = CASE WHEN ?1 = 'running' THEN poisoned_at END,
			poison_reason = CASE WHEN ?1 = 'running' THEN poison_reason END
		WHERE run_id = ? AND finished_at IS NULL AND checkpoint_seq = ? AND event_seq = ?
			AND graph_id = ? AND graph_hash = ? AND started_at = ? AND (?17 IS NULL OR owner = ?17)
		RETURNING id, poisoned_at IS NOT NULL`,
		[]any{t.Run.Status, t.Run.Step, t.Run.CheckpointSeq, t.Run.CheckpointType, t.Run.EventSeq,
			t.Run.OpenInterrupts, t.Run.UpdatedAt.UnixMicro(), string(t.Run.Encoding), optional(t.Run.FinishedAt), s.wakeAt,
			f.runID, f.seq, ports.BaseEventSeq(t),
			t.Run.Graph.ID, t.Run.Graph.Hash, t.Run.StartedAt.UnixMicro(), scopeKey(f.scope)}, &id, &poisoned)
	return id, poisoned, err
}

// fence is what an operation expects of the stored row.
type fence struct {
	op    string
	scope ports.Scope
	runID string
	token string // "": unclaimed
	seq   int64  // 0: any
}

// explain says why no row matched: not found, then inactive (unclaimed only),
// then stale; what remains is a transition that doesn't continue the stored run.
func (f fence) explain(ctx context.Context, q *statements, t record.Transition) error {
	var old runRow
	err := q.row(ctx, selectSummary+`WHERE r.run_id = ?1 AND (?2 IS NULL OR r.owner = ?2)`,
		[]any{f.runID, scopeKey(f.scope)}, old.dest(false)...)
	switch {
	case err != nil:
		return missing(f.op, err)
	case f.token == "" && run.Status(old.run.Status).Terminal():
		return ports.Inactive(f.op)
	case f.token != "" && f.token != old.delivery.token.String, f.seq != old.run.CheckpointSeq:
		return ports.Stale(f.op)
	case t.Run.Graph != old.run.Graph:
		return ports.Invalid(f.op, "Transition.Run.Graph", "a run keeps its graph")
	case t.Run.StartedAt.UnixMicro() != old.startedAt:
		return ports.Invalid(f.op, "Transition.Run.StartedAt", "a run keeps its starting time")
	}
	return ports.Invalid(f.op, "Transition.Events",
		fmt.Sprintf("the run's event sequence is %d, the transition continues %d", old.run.EventSeq, ports.BaseEventSeq(t)))
}
