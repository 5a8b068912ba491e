package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/docket-go/docket/ports"
)

// RefreshClaim moves a claim's end forward under its exact token (CLM-7).
func (b *Backend) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	const op = "RefreshClaim"
	if err := req.Check(); err != nil {
		return ports.Refreshed{}, err
	}
	f := fence{op: op, scope: req.Scope, runID: req.RunID, token: req.Token}
	var refreshed ports.Refreshed
	err := b.write(ctx, op, func(ctx context.Context, u *unit) error {
		now := b.now(req.Now)
		var end int64
		err := u.row(ctx, `
			UPDATE docket_runs SET claim_end = max(claim_end, ?)
			WHERE run_id = ? AND claim_token = ? AND (?4 IS NULL OR owner = ?4) RETURNING claim_end`,
			[]any{after(now, req.TTL), req.RunID, req.Token, scopeKey(req.Scope)}, &end)
		refreshed = ports.Refreshed{ClaimEnd: timeOf(end), Now: timeOf(now)}
		return f.settled(ctx, u.statements, err)
	})
	if err != nil {
		return ports.Refreshed{}, err
	}
	return refreshed, nil
}

// ReleaseClaim gives a claim back; the run is due at once, silently (CLM-8,
// WAK-3).
func (b *Backend) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	const op = "ReleaseClaim"
	if err := req.Check(); err != nil {
		return ports.Released{}, err
	}
	f := fence{op: op, scope: req.Scope, runID: req.RunID, token: req.Token}
	var released ports.Released
	err := b.write(ctx, op, func(ctx context.Context, u *unit) error {
		now := b.now(req.Now)
		released = ports.Released{Now: timeOf(now)}
		var id int64
		err := u.row(ctx, `
			UPDATE docket_runs SET wake_at = ?, claim_token = NULL, claimed_at = NULL, claim_end = NULL,
				attempts = CASE WHEN ? THEN max(attempts - 1, 0) ELSE attempts END
			WHERE run_id = ? AND claim_token = ? AND (?5 IS NULL OR owner = ?5) RETURNING id`,
			[]any{now, req.ReturnAttempt, req.RunID, req.Token, scopeKey(req.Scope)}, &id)
		return f.settled(ctx, u.statements, err)
	})
	if err != nil {
		return ports.Released{}, err
	}
	return released, nil
}

// AbandonClaim gives back a run that this host can't run (CLM-9). The write lock
// is held: what is read is what is updated.
func (b *Backend) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	const op = "AbandonClaim"
	if err := req.Check(); err != nil {
		return ports.Abandoned{}, err
	}
	req = req.Normal()
	f := fence{op: op, scope: req.Scope, runID: req.RunID, token: req.Token, seq: req.ExpectedSeq}
	var abandoned ports.Abandoned
	err := b.write(ctx, op, func(ctx context.Context, u *unit) error {
		now := b.now(req.Now)
		var id, before int64
		err := u.row(ctx, `
			SELECT id, abandons FROM docket_runs
			WHERE run_id = ? AND claim_token = ? AND checkpoint_seq = ? AND (?4 IS NULL OR owner = ?4)`,
			[]any{req.RunID, req.Token, req.ExpectedSeq, scopeKey(req.Scope)}, &id, &before)
		if err != nil {
			return f.settled(ctx, u.statements, err)
		}
		abandoned = abandonment(req, before, now)
		_, err = u.exec(ctx, `
			UPDATE docket_runs SET wake_at = ?, claim_token = NULL, claimed_at = NULL, claim_end = NULL,
				attempts = max(attempts - 1, 0), abandons = ?, poisoned_at = ?, poison_reason = nullif(?, '')
			WHERE id = ?`,
			optional(abandoned.WakeAt), abandoned.Abandons, optional(abandoned.Poison.At), string(abandoned.Poison.Reason), id)
		return err
	})
	if err != nil {
		return ports.Abandoned{}, err
	}
	return abandoned, nil
}

// abandonment decides between the next wake and poison.
func abandonment(req ports.AbandonClaim, before, now int64) ports.Abandoned {
	a := ports.Abandoned{Abandons: before + 1, Now: timeOf(now)}
	switch {
	case !req.NonPoisoning && a.Abandons >= req.MaxAbandons:
		a.Poison = ports.Poison{At: timeOf(now), Reason: ports.PoisonAbandons}
	case !req.RetryAt.IsZero():
		a.WakeAt = req.RetryAt
	default:
		a.WakeAt = timeOf(after(now, ports.Backoff(req.BackoffBase, req.BackoffCap, before)))
	}
	return a
}

// settled turns a claim operation that matched no row into its answer. A row in
// the scope whose token and sequence are the expected ones would have matched.
func (f fence) settled(ctx context.Context, q *statements, err error) error {
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var one int
	err = q.row(ctx, `SELECT 1 FROM docket_runs WHERE run_id = ?1 AND (?2 IS NULL OR owner = ?2)`,
		[]any{f.runID, scopeKey(f.scope)}, &one)
	if err != nil {
		return missing(f.op, err)
	}
	return ports.Stale(f.op)
}
