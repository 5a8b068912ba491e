package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// InsertRun stores a new run with its first events and its wake or claim.
func (r roles) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	const op = "InsertRun"
	if err := req.Check(); err != nil {
		return ports.Inserted{}, err
	}
	req = req.Normal()
	var inserted ports.Inserted
	err := r.run.write(ctx, op, func(ctx context.Context, u *unit) error {
		now := r.now(req.Now)
		s := scheduled(req.Transition.Schedule, now)
		if req.Claim.Token != "" {
			s = born(req.Claim, now)
		}
		if err := insertRun(ctx, u, op, ownerKey(req.Owner), req.Transition, s, now); err != nil {
			return err
		}
		u.due = s.dueAt(now)
		inserted = ports.Inserted{Now: timeOf(now), ClaimEnd: optionalTime(s.claimEnd)}
		return nil
	})
	if err != nil {
		return ports.Inserted{}, err
	}
	return inserted, nil
}

func insertRun(ctx context.Context, u *unit, op, owner string, t record.Transition, s delivery, now int64) error {
	run := t.Run
	var one int
	err := u.row(ctx, `SELECT 1 FROM docket_graph_versions WHERE owner = ? AND graph_id = ? AND hash = ?`,
		[]any{owner, run.Graph.ID, run.Graph.Hash}, &one)
	if err != nil {
		return missing(op, err)
	}
	var id int64
	err = u.row(ctx, `
		INSERT INTO docket_runs (run_id, owner, graph_id, graph_hash, status, step,
			checkpoint_seq, checkpoint_type, event_seq, open_interrupts,
			started_at, updated_at, finished_at, wake_at, claim_token, claimed_at, claim_end, attempts, encoding)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (run_id) DO NOTHING RETURNING id`,
		[]any{run.ID, owner, run.Graph.ID, run.Graph.Hash, run.Status, run.Step,
			run.CheckpointSeq, run.CheckpointType, run.EventSeq, run.OpenInterrupts,
			run.StartedAt.UnixMicro(), run.UpdatedAt.UnixMicro(), optional(run.FinishedAt),
			s.wakeAt, s.token, s.claimedAt, s.claimEnd, s.attempts, string(run.Encoding)}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return ports.Exists(op)
	}
	if err != nil {
		return err
	}
	return storeContent(ctx, u.statements, id, t, now)
}

// storeContent writes the run's document and appends its events. An event under
// a number that is taken is the primary key's refusal: ErrConflict, which takes
// the whole transition with it (EVT-2).
func storeContent(ctx context.Context, q *statements, id int64, t record.Transition, now int64) error {
	_, err := q.exec(ctx, `
		INSERT INTO docket_run_documents (run, checksum, document) VALUES (?, ?, ?)
		ON CONFLICT (run) DO UPDATE SET checksum = excluded.checksum, document = excluded.document`,
		id, t.Run.Checksum[:], blob(t.Run.Document))
	if err != nil {
		return err
	}
	for i := range t.Events {
		e := &t.Events[i]
		_, err := q.exec(ctx, `
			INSERT INTO docket_events (run, seq, type, step, time, recorded_at, encoding, checksum, payload)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			id, e.Seq, e.Type, e.Step, e.Time.UnixMicro(), now, string(e.Encoding), e.Checksum[:], blob(e.Payload))
		if err != nil {
			return err
		}
	}
	return nil
}

// delivery is the part of a row that says how its run goes on: by a wake, by a
// claim, or not at all.
type delivery struct {
	wakeAt    sql.NullInt64
	token     sql.NullString
	claimedAt sql.NullInt64
	claimEnd  sql.NullInt64
	attempts  int64
}

// scheduled is the delivery that a releasing schedule leaves (RUN-5).
func scheduled(s record.Schedule, now int64) delivery {
	switch s.Kind {
	case record.ScheduleImmediate:
		return delivery{wakeAt: present(now)}
	case record.ScheduleAt:
		return delivery{wakeAt: present(s.At.UnixMicro())}
	}
	return delivery{}
}

// born is the delivery of a run that starts claimed (RUN-14).
func born(c ports.ClaimGrant, now int64) delivery {
	return delivery{
		token:     sql.NullString{String: c.Token, Valid: true},
		claimedAt: present(now),
		claimEnd:  present(after(now, c.TTL)),
		attempts:  1,
	}
}

// dueAt reports whether there is a wake and its time has come.
func (d delivery) dueAt(now int64) bool { return d.wakeAt.Valid && d.wakeAt.Int64 <= now }

func present(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: true} }

// after is a moment later than now. Durations end before 292 years: no overflow.
func after(now int64, d time.Duration) int64 { return now + d.Microseconds() }
