package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/docket-go/docket/ports"
)

var _ ports.Pruner = (*Backend)(nil)

// Prune removes one batch of what the policy no longer keeps, in one
// transaction. A second call on this backend meanwhile is Skipped; another
// process's call waits for the write lock, so one works at a time there too. The
// dry run does the same work and has it rolled back, so its report is exact
// (PRN-7).
func (b *Backend) Prune(ctx context.Context, req ports.Prune) (ports.Pruned, error) {
	const op = "Prune"
	if err := req.Check(); err != nil {
		return ports.Pruned{}, err
	}
	req = req.Normal()
	if !b.pruning.TryLock() {
		return ports.Pruned{Skipped: true, Now: timeOf(b.now(req.Now))}, nil
	}
	defer b.pruning.Unlock()
	var pruned ports.Pruned
	err := b.write(ctx, op, func(ctx context.Context, u *unit) error {
		now := b.now(req.Now)
		pruned = ports.Pruned{Now: timeOf(now)}
		u.drop = req.DryRun
		return prune(ctx, u.statements, req, now, &pruned)
	})
	if err != nil {
		return ports.Pruned{}, err
	}
	return pruned, nil
}

// prune runs the steps in the order in which they enable each other: events,
// then runs that have none left, then versions that no run refers to.
func prune(ctx context.Context, q *statements, req ports.Prune, now int64, pruned *ports.Pruned) error {
	policy, batch := req.Policy, int64(req.Batch)
	if err := pruneOldEvents(ctx, q, before(now, policy.Events), before(now, policy.Runs), batch, pruned); err != nil {
		return err
	}
	var err error
	if pruned.Runs, err = q.exec(ctx, pruneRuns, before(now, policy.Runs), batch); err != nil {
		return err
	}
	if pruned.Graphs, err = q.exec(ctx, pruneGraphs, before(now, policy.Graphs), batch, ports.KeptVersions); err != nil {
		return err
	}
	pruned.More = pruned.Events+pruned.Expired == batch || pruned.Runs == batch || pruned.Graphs == batch
	return nil
}

// pruneOldEvents counts the events of expired runs apart.
func pruneOldEvents(ctx context.Context, q *statements, events, runs sql.NullInt64, batch int64, pruned *ports.Pruned) error {
	return q.each(ctx, pruneEvents, []any{events, runs, batch}, func(rows *sql.Rows) error {
		var expired bool
		if err := rows.Scan(&expired); err != nil {
			return err
		}
		if expired {
			pruned.Expired++
		} else {
			pruned.Events++
		}
		return nil
	})
}

// before is the latest moment that is at least kept ago: at exactly its
// retention a row goes, and not a part of a microsecond earlier (PRN-6). Zero
// keeps for ever: NULL, which no comparison passes.
func before(now int64, kept time.Duration) sql.NullInt64 {
	if kept == 0 {
		return sql.NullInt64{}
	}
	micros := kept.Microseconds()
	if time.Duration(micros)*time.Microsecond < kept {
		micros++
	}
	return present(now - micros)
}

// Only terminal runs have finished_at, so nothing live, waiting or poisoned can
// be expired (PRN-2, PRN-5). Each half is served by an index of its own.
const pruneEvents = `
	DELETE FROM docket_events WHERE (run, seq) IN (
		SELECT run, seq FROM (
			SELECT * FROM (
				SELECT e.run, e.seq, e.recorded_at, r.run_id FROM docket_events e JOIN docket_runs r ON r.id = e.run
				WHERE e.recorded_at <= ?1 ORDER BY e.recorded_at, r.run_id, e.seq LIMIT ?3)
			UNION
			SELECT * FROM (
				SELECT e.run, e.seq, e.recorded_at, r.run_id FROM docket_runs r JOIN docket_events e ON e.run = r.id
				WHERE r.finished_at <= ?2 ORDER BY e.recorded_at, r.run_id, e.seq LIMIT ?3))
		ORDER BY recorded_at, run_id, seq LIMIT ?3)
	RETURNING EXISTS (SELECT 1 FROM docket_runs r WHERE r.id = run AND r.finished_at <= ?2)`

const pruneRuns = `
	DELETE FROM docket_runs WHERE id IN (
		SELECT id FROM docket_runs r WHERE finished_at <= ?
			AND NOT EXISTS (SELECT 1 FROM docket_events WHERE run = r.id)
		ORDER BY finished_at, run_id LIMIT ?)`

// The newest of an owner's graph id stay whatever their age (PRN-3).
const pruneGraphs = `
	DELETE FROM docket_graph_versions WHERE rowid IN (
		SELECT v.rowid FROM (
			SELECT rowid, owner, graph_id, hash, published_at, row_number() OVER (
				PARTITION BY owner, graph_id ORDER BY published_at DESC, hash DESC) AS place
			FROM docket_graph_versions) v
		WHERE v.place > ?3 AND v.published_at <= ?1
			AND NOT EXISTS (SELECT 1 FROM docket_runs r
				WHERE r.owner = v.owner AND r.graph_id = v.graph_id AND r.graph_hash = v.hash)
		ORDER BY v.published_at, v.owner, v.graph_id, v.hash LIMIT ?2)`
