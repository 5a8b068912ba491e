package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/ports"
)

// claimRuns is one statement. The preferred class is served first and leaves the
// other one a place when there are two (CLM-4): so "kept" takes that place,
// "first" what remains of the limit, and "second" what "first" left over. Each
// takes only rows that it will change, and passes by rows that another claimer
// has (CLM-5). FOR UPDATE looks at a row again once it is locked (CLM-10).
//
// Rows of the UPDATE are sorted and returned at its end; when there are none,
// one row carries the time. The ids go through an
// array, because the planner takes a table of unknown size for a large one.
const claimRuns = `
	WITH kept AS MATERIALIZED (
		SELECT id, eligible, ready FROM (
			SELECT id, wake_at AS eligible, true AS ready FROM docket.docket_runs
			WHERE $4::boolean AND ` + isReady + ` ORDER BY wake_at, run_id LIMIT least($2 - 1, 1) FOR UPDATE SKIP LOCKED) r
		UNION ALL
		SELECT id, eligible, ready FROM (
			SELECT id, claim_end AS eligible, false AS ready FROM docket.docket_runs
			WHERE NOT $4 AND ` + isExpired + ` ORDER BY claim_end, run_id LIMIT least($2 - 1, 1) FOR UPDATE SKIP LOCKED) e
	), first AS MATERIALIZED (
		SELECT id, eligible, ready FROM (
			SELECT id, wake_at AS eligible, true AS ready FROM docket.docket_runs
			WHERE NOT $4 AND ` + isReady + ` ORDER BY wake_at, run_id
			LIMIT $2 - (SELECT count(*) FROM kept) FOR UPDATE SKIP LOCKED) r
		UNION ALL
		SELECT id, eligible, ready FROM (
			SELECT id, claim_end AS eligible, false AS ready FROM docket.docket_runs
			WHERE $4 AND ` + isExpired + ` ORDER BY claim_end, run_id
			LIMIT $2 - (SELECT count(*) FROM kept) FOR UPDATE SKIP LOCKED) e
	), second AS MATERIALIZED (
		SELECT id, eligible, ready FROM (
			SELECT id, wake_at AS eligible, true AS ready FROM docket.docket_runs
			WHERE $4 AND ` + isReady + ` AND id <> ALL (ARRAY(SELECT id FROM kept)) ORDER BY wake_at, run_id
			LIMIT $2 - (SELECT count(*) FROM kept) - (SELECT count(*) FROM first) FOR UPDATE SKIP LOCKED) r
		UNION ALL
		SELECT id, eligible, ready FROM (
			SELECT id, claim_end AS eligible, false AS ready FROM docket.docket_runs
			WHERE NOT $4 AND ` + isExpired + ` AND id <> ALL (ARRAY(SELECT id FROM kept)) ORDER BY claim_end, run_id
			LIMIT $2 - (SELECT count(*) FROM kept) - (SELECT count(*) FROM first) FOR UPDATE SKIP LOCKED) e
	), chosen AS MATERIALIZED (
		TABLE kept UNION ALL TABLE first UNION ALL TABLE second
	), changed AS (
		UPDATE docket.docket_runs SET wake_at = NULL,
			claim_token = CASE WHEN attempts < $3 THEN gen_random_uuid()::text END,
			claimed_at = CASE WHEN attempts < $3 THEN coalesce($1::timestamptz, statement_timestamp()) END,
			claim_end = CASE WHEN attempts < $3 THEN coalesce($1, statement_timestamp()) + $5::interval END,
			poisoned_at = CASE WHEN attempts < $3 THEN NULL ELSE coalesce($1, statement_timestamp()) END,
			poison_reason = CASE WHEN attempts < $3 THEN NULL ELSE '` + string(ports.PoisonAttempts) + `' END,
			attempts = CASE WHEN attempts < $3 THEN attempts + 1 ELSE attempts END
		WHERE id = ANY (ARRAY(SELECT id FROM chosen))
		RETURNING *
	)
	SELECT clock.now, c.ready, ` + runColumns + documentColumns + `
	FROM (SELECT coalesce($1, statement_timestamp()) AS now) clock
		LEFT JOIN (changed r JOIN chosen c ON c.id = r.id) ON true
	ORDER BY c.eligible, r.run_id`

const (
	isReady   = `wake_at <= coalesce($1::timestamptz, statement_timestamp())`
	isExpired = `claim_token IS NOT NULL AND claim_end < coalesce($1::timestamptz, statement_timestamp())`
)

// ClaimRuns leases due runs in one statement (CLM-2). It returns after the
// server has committed, so no holder can meet a claim that isn't stored yet.
func (b *Backend) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	const op = "ClaimRuns"
	if err := req.Check(); err != nil {
		return ports.Claimed{}, err
	}
	req = req.Normal()
	var claimed ports.Claimed
	err := b.query(ctx, op, writing, b.sql.claim,
		[]any{clock(req.Now), req.Limit, req.MaxAttempts, req.Prefer == ports.ClassExpired, req.TTL},
		func(rows pgx.Rows) error { return scanOutcome(rows, &claimed) })
	if err != nil {
		return ports.Claimed{}, err
	}
	return claimed, nil
}

// scanOutcome adds a lease or a poisoned run.
func scanOutcome(rows pgx.Rows, claimed *ports.Claimed) error {
	var now pgtype.Timestamptz
	var ready bool
	var row runRow
	dest := append([]any{&now, &ready}, row.dest(true)...)
	nothing := rows.RawValues()[1] == nil
	if nothing {
		clear(dest[1:]) // the driver passes by what has no target
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	claimed.Now = timeOf(now)
	if nothing {
		return nil
	}
	if row.poisonedAt.Valid {
		claimed.Poisoned = append(claimed.Poisoned, ports.PoisonedRun{
			Owner: ownerOf(row.tenant), RunID: row.run.ID, Poison: row.poison(),
		})
		return nil
	}
	class := ports.ClassExpired
	if ready {
		class = ports.ClassReady
	}
	claimed.Leases = append(claimed.Leases, ports.Lease{
		Owner: ownerOf(row.tenant), Run: row.record(), Token: row.token.String, Attempt: row.attempts,
		Class: class, Now: claimed.Now, ClaimEnd: timeOf(row.claimEnd),
	})
	return nil
}
