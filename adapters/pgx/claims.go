package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/ports"
)

// class is the rows of one kind of due run, and their order.
type class struct{ rows, order string }

// Times and limits are sub-selects, so that the planner estimates alike with and
// without the parameters, and the server keeps one plan: to plan a claim takes
// as long as to execute it.
const (
	claimTime  = `(SELECT coalesce($1::timestamptz, statement_timestamp()))`
	claimLimit = `(SELECT $2::bigint)`
)

var (
	readyRuns = class{
		rows:  `SELECT id, wake_at AS eligible, true AS ready FROM docket.docket_runs WHERE wake_at <= ` + claimTime,
		order: ` ORDER BY wake_at, run_id`,
	}
	expiredRuns = class{
		rows: `SELECT id, claim_end AS eligible, false AS ready FROM docket.docket_runs
			WHERE id = ANY ((SELECT ids FROM expired)::bigint[]) AND claim_token IS NOT NULL AND claim_end < ` + claimTime,
		order: ` ORDER BY claim_end, run_id`,
	}
)

// expiredIDs reads the claimed rows in the order of their index. The order and a
// limit that isn't known beforehand, and is none, keep the planner from a bitmap,
// whatever it knows of the table: every claim leaves a dead entry in this index,
// and only a plain scan makes the next one pass them by.
const expiredIDs = `
	SELECT ARRAY(SELECT id FROM docket.docket_runs WHERE claim_token IS NOT NULL AND claim_end < ` + claimTime + `
		ORDER BY run_id LIMIT (SELECT NULL::bigint)) AS ids`

// claimRuns is one statement. The preferred class is served first and leaves the
// other one a place when there are two (CLM-4): so "kept" takes that place,
// "first" what remains of the limit, and "second" what "first" left over. Each
// takes only rows that it will change, and passes by rows that another claimer
// has (CLM-5). FOR UPDATE looks at a row again once it is locked (CLM-10).
//
// Rows of the UPDATE are sorted and returned at its end; when there are none,
// one row carries the time. The ids go through an
// array, because the planner takes a table of unknown size for a large one.
func claimRuns(preferred, other class) string {
	return `
	WITH expired AS MATERIALIZED (` + expiredIDs + `
	), kept AS MATERIALIZED (
		` + other.rows + other.order + `
		LIMIT least(` + claimLimit + ` - 1, 1) FOR UPDATE SKIP LOCKED
	), first AS MATERIALIZED (
		` + preferred.rows + preferred.order + `
		LIMIT ` + claimLimit + ` - (SELECT count(*) FROM kept) FOR UPDATE SKIP LOCKED
	), second AS MATERIALIZED (
		` + other.rows + ` AND id <> ALL (ARRAY(SELECT id FROM kept))` + other.order + `
		LIMIT ` + claimLimit + ` - (SELECT count(*) FROM kept) - (SELECT count(*) FROM first) FOR UPDATE SKIP LOCKED
	), chosen AS MATERIALIZED (
		TABLE kept UNION ALL TABLE first UNION ALL TABLE second
	), changed AS (
		UPDATE docket.docket_runs SET wake_at = NULL,
			claim_token = CASE WHEN attempts < $3 THEN gen_random_uuid()::text END,
			claimed_at = CASE WHEN attempts < $3 THEN coalesce($1::timestamptz, statement_timestamp()) END,
			claim_end = CASE WHEN attempts < $3 THEN coalesce($1, statement_timestamp()) + $4::interval END,
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
