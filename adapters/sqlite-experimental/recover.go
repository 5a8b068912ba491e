package sqlite

import (
	"context"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// RecoverRun gives a poisoned run back to delivery (RUN-12). It touches neither
// the sequence nor updated_at.
func (r roles) RecoverRun(ctx context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	const op = "RecoverRun"
	if err := req.Check(); err != nil {
		return ports.Recovered{}, err
	}
	var recovered ports.Recovered
	err := r.run.write(ctx, op, func(ctx context.Context, u *unit) error {
		now := r.now(req.Now)
		recovered = ports.Recovered{Now: timeOf(now)}
		var id int64
		var status string
		var poisoned bool
		err := u.row(ctx, `
			SELECT id, status, poisoned_at IS NOT NULL FROM docket_runs
			WHERE run_id = ?1 AND (?2 IS NULL OR owner = ?2)`,
			[]any{req.RunID, scopeKey(req.Scope)}, &id, &status, &poisoned)
		if err != nil {
			return missing(op, err)
		}
		if run.Status(status).Terminal() {
			return ports.Inactive(op)
		}
		if !poisoned {
			return nil
		}
		recovered.Changed, u.due = true, true
		_, err = u.exec(ctx, `
			UPDATE docket_runs SET poisoned_at = NULL, poison_reason = NULL, wake_at = ?, attempts = 0, abandons = 0
			WHERE id = ?`, now, id)
		return err
	})
	if err != nil {
		return ports.Recovered{}, err
	}
	return recovered, nil
}
