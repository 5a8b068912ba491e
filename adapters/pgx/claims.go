package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/ports"
)

// Times and limits are sub-selects, so that the planner estimates alike with and
// without the parameters, and the server keeps one plan: to plan a claim takes
// as long as to execute it. A plan is often made while the tables are nearly
// empty, and kept while they grow. So none of its parts may find it cheaper to
// read a table than an index: a limit that isn't known beforehand, and is none,
// makes the planner expect a tenth of the rows, in which case an index wins.
const (
	claimTime  = `(SELECT coalesce($1::timestamptz, statement_timestamp()))`
	claimLimit = `(SELECT $2::bigint)`
	noLimit    = ` LIMIT (SELECT NULL::bigint)`
)

// expiredClaims lists the expired claims. Every claim leaves a dead entry in
// their index; a scan in the index's order makes the next one pass them by, where
// a bitmap would read them all again. The claims that live are bounded by the
// workers' slots.
const expiredClaims = `
	claimed AS MATERIALIZED (
		SELECT id, claim_end, run_id FROM docket.docket_runs
		WHERE claim_token IS NOT NULL AND claim_end < ` + claimTime + ` ORDER BY run_id` + noLimit + `
	), expired AS MATERIALIZED (
		SELECT ARRAY(SELECT id FROM claimed ORDER BY claim_end, run_id) AS ids
	)`

// A class is the rows of one kind of due run in their order (CLM-4), with a
// condition and a limit. It locks none that it doesn't return.
type class func(condition, limit string) string

func readyRuns(condition, limit string) string {
	return `
		SELECT id, wake_at AS eligible, true AS ready FROM docket.docket_runs
		WHERE wake_at <= ` + claimTime + ` AND ` + condition + `
		ORDER BY wake_at, run_id LIMIT ` + limit + ` FOR UPDATE SKIP LOCKED`
}

// expiredRuns locks the listed rows one by one, in their order, until it has
// enough.
func expiredRuns(condition, limit string) string {
	return `
		SELECT r.* FROM unnest((SELECT ids FROM expired)) AS e (id) CROSS JOIN LATERAL (
			SELECT id, claim_end AS eligible, false AS ready FROM docket.docket_runs
			WHERE id = e.id AND claim_token IS NOT NULL AND claim_end < ` + claimTime + ` AND ` + condition + `
			FOR UPDATE SKIP LOCKED) r
		LIMIT ` + limit
}

// claimRuns is one statement. The preferred class is served first and leaves the
// other one a place when there are two (CLM-4): so "kept" takes that place,
// "first" what remains of the limit, and "second" what "first" left over. Each
// takes only rows that it will change, and passes by rows that another claimer
// has (CLM-5). FOR UPDATE looks at a row again once it is locked (CLM-10).
//
// Rows of the UPDATE are sorted and returned at its end; when there are none,
// one row carries the time.
func claimRuns(preferred, other class) string {
	return `
	WITH ` + expiredClaims + `, kept AS MATERIALIZED (` + other(`true`, `least(`+claimLimit+` - 1, 1)`) + `
	), first AS MATERIALIZED (` + preferred(`true`, claimLimit+` - (SELECT count(*) FROM kept)`) + `
	), second AS MATERIALIZED (` + other(`id <> ALL (ARRAY(SELECT id FROM kept))`,
		claimLimit+` - (SELECT count(*) FROM kept) - (SELECT count(*) FROM first)`) + `
	), chosen AS MATERIALIZED (
		TABLE kept UNION ALL TABLE first UNION ALL TABLE second
	), changing AS MATERIALIZED (
		SELECT id FROM unnest(ARRAY(SELECT id FROM chosen)) AS c (id)` + noLimit + `
	), changed AS (
		UPDATE docket.docket_runs r SET wake_at = NULL,
			claim_token = CASE WHEN attempts < $3 THEN gen_random_uuid()::text END,
			claimed_at = CASE WHEN attempts < $3 THEN coalesce($1::timestamptz, statement_timestamp()) END,
			claim_end = CASE WHEN attempts < $3 THEN coalesce($1, statement_timestamp()) + $4::interval END,
			poisoned_at = CASE WHEN attempts < $3 THEN NULL ELSE coalesce($1, statement_timestamp()) END,
			poison_reason = CASE WHEN attempts < $3 THEN NULL ELSE '` + string(ports.PoisonAttempts) + `' END,
			attempts = CASE WHEN attempts < $3 THEN attempts + 1 ELSE attempts END
		FROM changing c WHERE r.id = c.id
		RETURNING r.*
	)
	SELECT clock.now, c.ready, ` + runColumns + documentColumns + `
	FROM (SELECT coalesce($1, statement_timestamp()) AS now) clock
		LEFT JOIN (changed r JOIN chosen c ON c.id = r.id) ON true
	ORDER BY c.eligible, r.run_id`
}

// ClaimRuns leases due runs in one statement (CLM-2). It returns after the
// server has committed, so no holder can meet a claim that isn't stored yet.
func (b *Backend) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	const op = "ClaimRuns"
	if err := req.Check(); err != nil {
		return ports.Claimed{}, err
	}
	req = req.Normal()
	sql := b.sql.claimReady
	if req.Prefer == ports.ClassExpired {
		sql = b.sql.claimExpired
	}
	var claimed ports.Claimed
	err := b.query(ctx, op, writing, sql, []any{clock(req.Now), req.Limit, req.MaxAttempts, req.TTL},
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
