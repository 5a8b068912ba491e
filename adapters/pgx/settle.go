package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/ports"
)

const (
	heldClaim = `run_id = $1 AND claim_token = $2 AND ($3::text IS NULL OR scope_key = $3)`

	refreshClaim = `
	UPDATE docket.docket_runs SET claim_end = greatest(claim_end, coalesce($4::timestamptz, statement_timestamp()) + $5::interval)
	WHERE ` + heldClaim + `
	RETURNING coalesce($4, statement_timestamp()), claim_end`

	releaseClaim = `
	UPDATE docket.docket_runs SET wake_at = coalesce($4::timestamptz, statement_timestamp()),
		claim_token = NULL, claimed_at = NULL, claim_end = NULL,
		attempts = CASE WHEN $5::boolean THEN greatest(attempts - 1, 0) ELSE attempts END
	WHERE ` + heldClaim + `
	RETURNING wake_at`

	// The wait is looked up among those that the caller calculated: a power that
	// overflows would be an error, and the row would never get free.
	abandonClaim = `
	UPDATE docket.docket_runs SET
		claim_token = NULL, claimed_at = NULL, claim_end = NULL,
		attempts = greatest(attempts - 1, 0), abandons = abandons + 1,
		poisoned_at = CASE WHEN abandons + 1 >= $6::bigint THEN coalesce($4::timestamptz, statement_timestamp()) END,
		poison_reason = CASE WHEN abandons + 1 >= $6 THEN '` + string(ports.PoisonAbandons) + `' END,
		wake_at = CASE WHEN abandons + 1 >= $6 THEN NULL
			ELSE coalesce($7::timestamptz, coalesce($4, statement_timestamp())
				+ ($8::interval[])[least(abandons, cardinality($8) - 1)::integer + 1]) END
	WHERE ` + heldClaim + ` AND checkpoint_seq = $5
	RETURNING coalesce($4, statement_timestamp()), abandons, wake_at, poisoned_at, poison_reason`
)

// RefreshClaim moves a claim's end forward under its exact token (CLM-7).
func (b *Backend) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	const op = "RefreshClaim"
	if err := req.Check(); err != nil {
		return ports.Refreshed{}, err
	}
	var now, end pgtype.Timestamptz
	found, err := b.row(ctx, op, writing, b.sql.refresh,
		[]any{req.RunID, req.Token, limitedTo(req.Scope), clock(req.Now), req.TTL}, &now, &end)
	if err := b.settled(ctx, op, req.Scope, req.RunID, found, err); err != nil {
		return ports.Refreshed{}, err
	}
	return ports.Refreshed{ClaimEnd: timeOf(end), Now: timeOf(now)}, nil
}

// ReleaseClaim gives a claim back; the run is due at once, silently (CLM-8,
// WAK-3).
func (b *Backend) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	const op = "ReleaseClaim"
	if err := req.Check(); err != nil {
		return ports.Released{}, err
	}
	var now pgtype.Timestamptz
	found, err := b.row(ctx, op, writing, b.sql.giveBack,
		[]any{req.RunID, req.Token, limitedTo(req.Scope), clock(req.Now), req.ReturnAttempt}, &now)
	if err := b.settled(ctx, op, req.Scope, req.RunID, found, err); err != nil {
		return ports.Released{}, err
	}
	return ports.Released{Now: timeOf(now)}, nil
}

// AbandonClaim gives back a run that this host can't run (CLM-9).
func (b *Backend) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	const op = "AbandonClaim"
	if err := req.Check(); err != nil {
		return ports.Abandoned{}, err
	}
	req = req.Normal()
	var most any
	if !req.NonPoisoning {
		most = req.MaxAbandons
	}
	var answer ports.Abandoned
	var now, wake, poisoned pgtype.Timestamptz
	var reason pgtype.Text
	found, err := b.row(ctx, op, writing, b.sql.abandon,
		[]any{req.RunID, req.Token, limitedTo(req.Scope), clock(req.Now), req.ExpectedSeq, most, optional(req.RetryAt), waits(req)},
		&now, &answer.Abandons, &wake, &poisoned, &reason)
	if err := b.settled(ctx, op, req.Scope, req.RunID, found, err); err != nil {
		return ports.Abandoned{}, err
	}
	answer.Now, answer.WakeAt = timeOf(now), timeOf(wake)
	answer.Poison = ports.Poison{At: timeOf(poisoned), Reason: ports.PoisonReason(reason.String)}
	return answer, nil
}

// waits lists the waits after abandon 0, 1, …, up to where they stay the same.
// Doubling reaches any cap in 63 steps.
func waits(req ports.AbandonClaim) []pgtype.Interval {
	var list []pgtype.Interval
	for n := int64(0); ; n++ {
		d := ports.Backoff(req.BackoffBase, req.BackoffCap, n)
		list = append(list, pgtype.Interval{Microseconds: d.Microseconds(), Valid: true})
		if d <= 0 || d >= req.BackoffCap {
			return list
		}
	}
}

// settled turns a claim operation that matched no row into its answer. A row in
// the scope whose token and sequence are the expected ones would have matched.
func (b *Backend) settled(ctx context.Context, op string, scope ports.Scope, runID string, found bool, err error) error {
	if err != nil || found {
		return err
	}
	var one int
	exists, err := b.row(ctx, op, reading, b.sql.visible, []any{runID, limitedTo(scope)}, &one)
	switch {
	case err != nil:
		return err
	case !exists:
		return ports.NotFound(op)
	}
	return ports.Stale(op)
}
