package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/ports"
)

// TestBacklog: when nearly all runs of a store are due, in an order that has
// nothing to do with where their rows are, a claim still looks only at those it
// takes, and at the claimed ones; and the server plans it no more than it must.
func TestBacklog(t *testing.T) {
	t.Parallel()
	b := openOn(t, open(t, freshDatabase(t, ""), 1), Config{})
	runs := *planRuns / 5
	fill(t, b, runs)
	_, err := b.pool.Exec(t.Context(), b.place.sql(`
		UPDATE docket.docket_runs SET status = 'running', finished_at = NULL, open_interrupts = 0,
			wake_at = started_at - abs(hashtext(run_id)) % 1000000 * interval '1 second'
		WHERE status <> 'running'`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.pool.Exec(t.Context(), "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
	for name, sql := range map[string]string{"ready first": b.sql.claimReady, "expired first": b.sql.claimExpired} {
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			plan := explain(t, b, mode, planned{sql: sql, args: []any{epoch, 10, int64(5), time.Minute}})
			if rows := plan.touched(); rows > *planLimit+float64(3*runs/1000+30) {
				t.Errorf("%s (%s) touches %.0f rows or entries:\n%s", name, mode, rows, plan.text)
			}
			if shape := strings.Join(plan.shape(), ", "); strings.Contains(shape, "Seq Scan") {
				t.Errorf("%s (%s) scans a table: %s", name, mode, shape)
			}
		}
	}
	claimsKeepTheirPlan(t, b)
}

// claimsKeepTheirPlan claims more often than the five times for which the server
// plans a prepared statement anew.
func claimsKeepTheirPlan(t *testing.T, b *Backend) {
	t.Helper()
	const claims = 8
	for n := range 2 * claims {
		_, err := b.ClaimRuns(t.Context(), ports.ClaimRuns{
			Scope: ports.System(), Limit: 1 + n, TTL: time.Minute, MaxAttempts: 5, Now: epoch,
			Prefer: []ports.ClaimClass{ports.ClassReady, ports.ClassExpired}[n%2],
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, err := b.pool.Query(t.Context(), `SELECT custom_plans FROM pg_prepared_statements WHERE statement IN ($1, $2)`,
		b.sql.claimReady, b.sql.claimExpired)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := 0
	for ; rows.Next(); found++ {
		var custom int64
		if err := rows.Scan(&custom); err != nil {
			t.Fatal(err)
		}
		if custom > 5 {
			t.Errorf("%d of %d claims were planned anew", custom, claims)
		}
	}
	if rows.Err() != nil || found != 2 {
		t.Errorf("%d prepared statements, %v; want 2", found, rows.Err())
	}
}
