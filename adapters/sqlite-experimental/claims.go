package sqlite

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"slices"

	"github.com/docket-go/docket/ports"
)

// ClaimRuns leases due runs (CLM-2). The write lock makes selecting, counting
// and poisoning one step: what was selected can't move before it is written, so
// nothing needs to be looked at again (CLM-10).
func (b *Backend) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	const op = "ClaimRuns"
	if err := req.Check(); err != nil {
		return ports.Claimed{}, err
	}
	req = req.Normal()
	if claimed, idle, err := b.nothingDue(ctx, op, req); err != nil || idle {
		return claimed, err
	}
	var claimed ports.Claimed
	err := b.write(ctx, op, func(ctx context.Context, u *unit) error {
		now := b.now(req.Now)
		claimed = ports.Claimed{Now: timeOf(now)}
		chosen, err := choose(ctx, u.statements, req, now)
		if err != nil {
			return err
		}
		for _, c := range chosen {
			if c.attempts >= req.MaxAttempts {
				err = poisonRun(ctx, u.statements, c, now, &claimed)
			} else {
				err = leaseRun(ctx, u.statements, c, now, after(now, req.TTL), &claimed)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return ports.Claimed{}, err
	}
	return claimed, nil
}

// nothingDue spares an idle dispatcher the write lock: if the readers see no due
// run, there was none at that moment.
func (b *Backend) nothingDue(ctx context.Context, op string, req ports.ClaimRuns) (claimed ports.Claimed, idle bool, err error) {
	err = b.read(ctx, op, func(ctx context.Context, q *statements) error {
		now := b.now(req.Now)
		claimed = ports.Claimed{Now: timeOf(now)}
		return q.row(ctx, `SELECT NOT EXISTS (SELECT 1 FROM docket_runs WHERE wake_at <= ?1)
			AND NOT EXISTS (SELECT 1 FROM docket_runs WHERE claim_token IS NOT NULL AND claim_end < ?1)`,
			[]any{now}, &idle)
	})
	return claimed, idle, err
}

// candidate is a claimable run.
type candidate struct {
	id       int64
	runID    string
	owner    string
	eligible int64 // since when
	attempts int64
	class    ports.ClaimClass
}

const selectReady = `
	SELECT id, run_id, owner, wake_at, attempts FROM docket_runs
	WHERE wake_at <= ? ORDER BY wake_at, run_id LIMIT ?`

// The index of claimed runs isn't ordered by the claim's end, which every
// retaining commit moves; there are never more of them than workers' slots.
const selectExpired = `
	SELECT id, run_id, owner, claim_end, attempts FROM docket_runs
	WHERE claim_token IS NOT NULL AND claim_end < ? ORDER BY claim_end, run_id LIMIT ?`

func choose(ctx context.Context, q *statements, req ports.ClaimRuns, now int64) ([]candidate, error) {
	ready, err := candidates(ctx, q, ports.ClassReady, selectReady, now, req.Limit)
	if err != nil {
		return nil, err
	}
	expired, err := candidates(ctx, q, ports.ClassExpired, selectExpired, now, req.Limit)
	if err != nil {
		return nil, err
	}
	if req.Prefer == ports.ClassExpired {
		return share(expired, ready, req.Limit), nil
	}
	return share(ready, expired, req.Limit), nil
}

func candidates(ctx context.Context, q *statements, class ports.ClaimClass, query string, now int64, limit int) ([]candidate, error) {
	var found []candidate
	err := q.each(ctx, query, []any{now, limit}, func(rows *sql.Rows) error {
		c := candidate{class: class}
		if err := rows.Scan(&c.id, &c.runID, &c.owner, &c.eligible, &c.attempts); err != nil {
			return err
		}
		found = append(found, c)
		return nil
	})
	return found, err
}

// share gives out limit places (CLM-4). At limit 1 the preferred class comes
// first; beyond that each class that has rows gets a place, and the rest goes by
// (eligible time, id) over both.
func share(preferred, other []candidate, limit int) []candidate {
	chosen := append(slices.Clone(preferred), other...)
	if len(chosen) <= limit {
		slices.SortFunc(chosen, byEligibility)
		return chosen
	}
	var sure []candidate
	if len(preferred) > 0 {
		sure, preferred = append(sure, preferred[0]), preferred[1:]
	}
	if len(other) > 0 && len(sure) < limit {
		sure, other = append(sure, other[0]), other[1:]
	}
	rest := append(slices.Clone(preferred), other...)
	slices.SortFunc(rest, byEligibility)
	chosen = append(sure, rest[:limit-len(sure)]...)
	slices.SortFunc(chosen, byEligibility)
	return chosen
}

func byEligibility(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.eligible, b.eligible), cmp.Compare(a.runID, b.runID))
}

// leaseRun counts the attempt in the claim itself, so that a worker that dies
// has used it (CLM-3).
func leaseRun(ctx context.Context, q *statements, c candidate, now, end int64, claimed *ports.Claimed) error {
	token := rand.Text()
	_, err := q.exec(ctx, `
		UPDATE docket_runs SET wake_at = NULL, claim_token = ?, claimed_at = ?, claim_end = ?, attempts = attempts + 1
		WHERE id = ?`, token, now, end, c.id)
	if err != nil {
		return err
	}
	var row runRow
	if err := q.row(ctx, selectRun+`WHERE r.id = ?`, []any{c.id}, row.dest(true)...); err != nil {
		return err
	}
	claimed.Leases = append(claimed.Leases, ports.Lease{
		Owner: ownerOf(c.owner), Run: row.record(), Token: token, Attempt: c.attempts + 1,
		Class: c.class, Now: timeOf(now), ClaimEnd: timeOf(end),
	})
	return nil
}

func poisonRun(ctx context.Context, q *statements, c candidate, now int64, claimed *ports.Claimed) error {
	_, err := q.exec(ctx, `
		UPDATE docket_runs SET wake_at = NULL, claim_token = NULL, claimed_at = NULL, claim_end = NULL,
			poisoned_at = ?, poison_reason = ?
		WHERE id = ?`, now, string(ports.PoisonAttempts), c.id)
	if err != nil {
		return err
	}
	claimed.Poisoned = append(claimed.Poisoned, ports.PoisonedRun{
		Owner: ownerOf(c.owner), RunID: c.runID,
		Poison: ports.Poison{At: timeOf(now), Reason: ports.PoisonAttempts},
	})
	return nil
}
