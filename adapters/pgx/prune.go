package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/ports"
)

const (
	// The lock belongs to the transaction: a pruner that is killed, or whose
	// pooled session goes elsewhere, leaves nothing locked.
	pruneTurn = `SELECT pg_try_advisory_xact_lock($1), coalesce($2::timestamptz, statement_timestamp())`

	// Only terminal runs have finished_at, so nothing live, waiting or poisoned
	// can be expired (PRN-2, PRN-5). The work is bounded by the batch, not only
	// what is removed: no more of the expired runs are looked at than could fill
	// it, the oldest first, whether or not they have events left. Whichever they
	// have goes now or in the next batch, which then meets others. LATERAL and the
	// array keep the planner from reading a whole table, of whose part it can't
	// know the size.
	pruneEvents = `
	WITH expired AS MATERIALIZED (
		SELECT id, run_id FROM docket.docket_runs WHERE finished_at <= $2 ORDER BY finished_at, run_id LIMIT $3
	), old AS MATERIALIZED (
		(SELECT e.run, e.seq, e.recorded_at, r.run_id FROM docket.docket_events e JOIN docket.docket_runs r ON r.id = e.run
			WHERE e.recorded_at <= $1 ORDER BY e.recorded_at LIMIT $3)
		UNION
		(SELECT e.run, e.seq, e.recorded_at, x.run_id FROM expired x CROSS JOIN LATERAL (
			SELECT run, seq, recorded_at FROM docket.docket_events WHERE run = x.id ORDER BY seq LIMIT $3) e LIMIT $3)
	), chosen AS MATERIALIZED (
		SELECT run, seq FROM old ORDER BY recorded_at, run_id, seq LIMIT $3
	), free AS MATERIALIZED (
		SELECT e.place FROM chosen c CROSS JOIN LATERAL (
			SELECT ctid AS place FROM docket.docket_events WHERE run = c.run AND seq = c.seq FOR UPDATE SKIP LOCKED) e
	)
	DELETE FROM docket.docket_events e WHERE ctid = ANY (ARRAY(SELECT place FROM free))
	RETURNING EXISTS (SELECT 1 FROM docket.docket_runs r WHERE r.id = e.run AND r.finished_at <= $2)`

	pruneRuns = `
	WITH expired AS MATERIALIZED (
		SELECT id FROM docket.docket_runs WHERE finished_at <= $1 ORDER BY finished_at, run_id LIMIT $2
	)
	DELETE FROM docket.docket_runs WHERE id = ANY (ARRAY(
		SELECT id FROM docket.docket_runs r WHERE id = ANY (ARRAY(SELECT id FROM expired))
			AND NOT EXISTS (SELECT 1 FROM docket.docket_events WHERE run = r.id)
		FOR UPDATE SKIP LOCKED))`

	// The newest of an owner's graph id stay whatever their age (PRN-3).
	pruneGraphs = `
	DELETE FROM docket.docket_graph_versions WHERE (scope_key, graph_id, hash) IN (
		SELECT v.scope_key, v.graph_id, v.hash FROM docket.docket_graph_versions v
		WHERE v.published_at <= $1
			AND NOT EXISTS (SELECT 1 FROM docket.docket_runs r
				WHERE r.scope_key = v.scope_key AND r.graph_id = v.graph_id AND r.graph_hash = v.hash)
			AND (SELECT count(*) FROM (SELECT 1 FROM docket.docket_graph_versions n
				WHERE n.scope_key = v.scope_key AND n.graph_id = v.graph_id
					AND (n.published_at, n.hash) > (v.published_at, v.hash) LIMIT $3) newer) = $3
		ORDER BY v.published_at, v.scope_key, v.graph_id, v.hash LIMIT $2 FOR UPDATE SKIP LOCKED)`

	pruneWaiting = `SELECT EXISTS (SELECT 1 FROM docket.docket_runs r WHERE finished_at <= $1)`
)

// Prune removes one batch of what the policy no longer keeps, in one
// transaction. Another pruner of the schema meanwhile is Skipped. The dry run
// does the same work and rolls it back, so its report is exact (PRN-7).
func (b *Backend) Prune(ctx context.Context, req ports.Prune) (ports.Pruned, error) {
	const op = "Prune"
	if err := req.Check(); err != nil {
		return ports.Pruned{}, err
	}
	req = req.Normal()
	for n := 0; ; n++ {
		pruned, err := b.pruneOnce(ctx, op, req)
		if err == nil {
			return pruned, nil
		}
		if n == maxRepeats || !(repeatable(err) || newlyReferred(err)) {
			return ports.Pruned{}, err
		}
	}
}

// newlyReferred reports that a run was inserted between the look at its version
// and the removal, which the foreign key refused.
func newlyReferred(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == foreignKeyViolation
}

func (b *Backend) pruneOnce(ctx context.Context, op string, req ports.Prune) (ports.Pruned, error) {
	conn, err := b.acquire(ctx, op)
	if err != nil {
		return ports.Pruned{}, err
	}
	defer conn.Release()
	sent, done := patiently(ctx, b.cfg.CancelGrace)
	defer done()
	tx, err := conn.BeginTx(sent, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return ports.Pruned{}, mapError(op, err, reading)
	}
	p := pruning{tx: tx, sql: b.sql, req: req}
	err = p.run(sent, b.place.lock(lockPrune))
	at := reading
	if err == nil && !req.DryRun && !p.answer.Skipped {
		err, at = tx.Commit(sent), writing
	} else {
		err = errors.Join(err, tx.Rollback(sent))
	}
	if err != nil && ctx.Err() != nil {
		err = errors.Join(err, because(ctx, ctx.Err()))
	}
	return p.answer, mapError(op, err, at)
}

// pruning is one batch.
type pruning struct {
	tx     pgx.Tx
	sql    *statements
	req    ports.Prune
	answer ports.Pruned
}

// run takes the steps in the order in which they enable each other: events, then
// runs that have none left, then versions that no run refers to.
func (p *pruning) run(ctx context.Context, key int64) error {
	var mine bool
	var now pgtype.Timestamptz
	if err := p.tx.QueryRow(ctx, p.sql.pruneTurn, key, clock(p.req.Now)).Scan(&mine, &now); err != nil {
		return err
	}
	p.answer.Now, p.answer.Skipped = timeOf(now), !mine
	if !mine {
		return nil
	}
	runs := p.before(p.req.Policy.Runs)
	err := each(ctx, p.tx, p.sql.pruneEvents, []any{p.before(p.req.Policy.Events), runs, p.req.Batch}, p.countEvent)
	if err != nil {
		return err
	}
	if p.answer.Runs, err = p.remove(ctx, p.sql.pruneRuns, runs, p.req.Batch); err != nil {
		return err
	}
	p.answer.Graphs, err = p.remove(ctx, p.sql.pruneGraph, p.before(p.req.Policy.Graphs), p.req.Batch, ports.KeptVersions)
	if err != nil {
		return err
	}
	batch := int64(p.req.Batch)
	p.answer.More = p.answer.Events+p.answer.Expired == batch || p.answer.Runs == batch || p.answer.Graphs == batch
	if !p.answer.More && runs != nil {
		return p.tx.QueryRow(ctx, p.sql.pruneWaiting, runs).Scan(&p.answer.More)
	}
	return nil
}

// countEvent counts the events of expired runs apart.
func (p *pruning) countEvent(rows pgx.Rows) error {
	var expired bool
	if err := rows.Scan(&expired); err != nil {
		return err
	}
	if expired {
		p.answer.Expired++
	} else {
		p.answer.Events++
	}
	return nil
}

func (p *pruning) remove(ctx context.Context, sql string, args ...any) (int64, error) {
	tag, err := p.tx.Exec(ctx, sql, args...)
	return tag.RowsAffected(), err
}

// before is the latest moment that is at least kept ago: at exactly its
// retention a row goes, and not a part of a microsecond earlier (PRN-6). Zero
// keeps for ever: NULL, which no comparison passes.
func (p *pruning) before(kept time.Duration) any {
	if kept == 0 {
		return nil
	}
	whole := kept.Truncate(time.Microsecond)
	if whole < kept {
		whole += time.Microsecond
	}
	return p.answer.Now.Add(-whole)
}
