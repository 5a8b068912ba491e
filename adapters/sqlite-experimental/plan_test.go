package sqlite

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/docket-go/docket/ports"
)

// The statements that run all the time must be served by their indexes: a plan
// that scans the table, or sorts what is unbounded, gets slower with every run
// that was ever stored.
func TestPlans(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	list := func(r ports.ListRuns) string { r.Limit = 1; q, _ := listQuery(r); return q }
	cursor := ports.RunCursor{StartedAt: epoch, RunID: "r"}
	for _, tc := range []struct {
		name, query string
		want        string // an index that must be used
		sorts       bool
	}{
		{"ready", selectReady, "docket_runs_ready", false},
		{"expired", selectExpired, "docket_runs_claimed", true}, // bounded by the slots of all workers
		{"fetch", selectRun + `WHERE r.run_id = ?1 AND (?2 IS NULL OR r.owner = ?2)`, "sqlite_autoindex_docket_runs_1", false},
		{"list all", list(ports.ListRuns{Scope: ports.System()}), "docket_runs_newest", false},
		{"list after", list(ports.ListRuns{Scope: ports.System(), After: cursor}), "docket_runs_newest", false},
		{"list tenant", list(ports.ListRuns{Scope: ports.Tenant("t"), After: cursor}), "docket_runs_by_owner", false},
		{"list status", list(ports.ListRuns{Scope: ports.System(), Statuses: []string{"failed"}}), "docket_runs_by_status", false},
		{"list poisoned", list(ports.ListRuns{Scope: ports.System(), Poisoned: true}), "docket_runs_poisoned", false},
		{"list open", list(ports.ListRuns{Scope: ports.System(), OpenInterrupts: true}), "docket_runs_open", false},
		{"page of events", selectPage, "PRIMARY KEY (run=? AND seq>?)", false},
		{"event", selectEvent, "PRIMARY KEY (run=? AND seq=?)", false},
		{"latest event", selectLatest, "PRIMARY KEY (run=? AND seq=?)", false},
		{"prune runs", pruneRuns, "docket_runs_finished", false},
	} {
		plan := explain(t, b, tc.query)
		if !strings.Contains(plan, tc.want) || strings.Contains(plan, "SCAN docket_runs\n") {
			t.Errorf("%s doesn't use %s:\n%s", tc.name, tc.want, plan)
		}
		if sorts := strings.Contains(plan, "TEMP B-TREE"); sorts != tc.sorts {
			t.Errorf("%s: sorting is %v, want %v:\n%s", tc.name, sorts, tc.sorts, plan)
		}
	}
}

func explain(t *testing.T, b *Backend, query string) string {
	t.Helper()
	args := make([]any, strings.Count(query, "?"))
	for _, numbered := range []string{"?1", "?2", "?3", "?4"} { // they count once
		args = args[max(strings.Count(query, numbered)-1, 0):]
	}
	var plan strings.Builder
	err := b.sql.each(t.Context(), "EXPLAIN QUERY PLAN "+query, args, func(rows *sql.Rows) error {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return err
		}
		plan.WriteString(detail + "\n")
		return nil
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	return plan.String()
}
