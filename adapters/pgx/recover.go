package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/ports"
)

// recoverRun looks at the row under its lock: of two recoveries the second sees
// what the first did. It touches neither the sequence nor updated_at.
const recoverRun = `
	WITH old AS MATERIALIZED (
		SELECT id, finished_at IS NOT NULL AS ended, poisoned_at IS NOT NULL AS sick,
			coalesce($3::timestamptz, statement_timestamp()) AS now
		FROM docket.docket_runs WHERE run_id = $1 AND ($2::text IS NULL OR scope_key = $2) FOR UPDATE
	), changed AS (
		UPDATE docket.docket_runs r SET poisoned_at = NULL, poison_reason = NULL, wake_at = old.now, attempts = 0, abandons = 0
		FROM old WHERE r.id = old.id AND old.sick
		RETURNING r.id
	)
	SELECT old.ended, old.now, changed.id IS NOT NULL, $told(changed.id IS NOT NULL)told FROM old LEFT JOIN changed ON true`

// RecoverRun gives a poisoned run back to delivery (RUN-12).
func (r roles) RecoverRun(ctx context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	const op = "RecoverRun"
	if err := req.Check(); err != nil {
		return ports.Recovered{}, err
	}
	var ended, changed, told bool
	var now pgtype.Timestamptz
	found, err := r.row(ctx, op, writing, r.sql.recover,
		[]any{req.RunID, limitedTo(req.Scope), clock(req.Now)}, &ended, &now, &changed, &told)
	switch {
	case err != nil:
		return ports.Recovered{}, err
	case !found:
		return ports.Recovered{}, ports.NotFound(op)
	case ended:
		return ports.Recovered{}, ports.Inactive(op)
	case told:
		r.db.told()
	}
	return ports.Recovered{Changed: changed, Now: timeOf(now)}, nil
}
