package postgres

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var (
	update    = flag.Bool("update", false, "rewrite the golden files")
	planRuns  = flag.Int("docket.plans", 50_000, "how many runs the store has whose plans are looked at")
	planLimit = flag.Float64("docket.plans.rows", 60, "how many rows or index entries a bounded statement may touch, at most")
)

// fillRuns makes a store with the given number of runs, nearly all of them done,
// as a store is after a while: 1 in 1000 due, 1 in 1000 claimed (a tenth of those
// expired), 1 in 500 waiting, some parked for later, a few poisoned.
const fillRuns = `
	INSERT INTO docket.docket_runs (run_id, tenant, graph_id, graph_hash, status, step, checkpoint_seq, checkpoint_type,
		event_seq, open_interrupts, attempts, started_at, updated_at, finished_at, wake_at, claimed_at, claim_end,
		poisoned_at, claim_token, poison_reason, encoding, checksum, document)
	SELECT 'run-' || n, CASE WHEN n % 3 = 0 THEN NULL ELSE 't' || n % 20 END, 'g', $2,
		CASE WHEN n % 1000 < 4 THEN 'running' WHEN n % 500 = 5 THEN 'waiting' WHEN n % 700 = 6 THEN 'failed' ELSE 'done' END,
		3, 4, 'step_committed', 9, CASE WHEN n % 500 = 5 AND n % 1000 >= 4 THEN 1 ELSE 0 END, 0,
		at, at, CASE WHEN n % 1000 >= 4 AND n % 500 <> 5 THEN at END,
		CASE n % 1000 WHEN 0 THEN at WHEN 1 THEN $3::timestamptz + interval '1 day' END,
		CASE WHEN n % 1000 = 2 THEN at END,
		CASE WHEN n % 1000 = 2 THEN $3::timestamptz + (CASE WHEN n % 10000 = 2 THEN -1 ELSE 1 END) * interval '1 minute' END,
		CASE WHEN n % 1000 = 3 THEN at END,
		CASE WHEN n % 1000 = 2 THEN 'token-' || n END,
		CASE WHEN n % 1000 = 3 THEN 'max_claim_attempts_exceeded' END,
		'json', decode(repeat('00', 32), 'hex'), convert_to(repeat('x', 300), 'UTF8')
	FROM (SELECT n, $3::timestamptz - n * interval '1 second' AS at FROM generate_series(1, $1::int) AS n) AS s`

const fillEvents = `
	INSERT INTO docket.docket_events (run, seq, step, at, recorded_at, type, encoding, checksum, payload)
	SELECT id, s, 1, started_at, started_at, 'checkpoint_committed', 'json', checksum, '{}'
	FROM docket.docket_runs, generate_series(1, 2) AS s`

// TestPlans explains the statements that run all the time, in a store of many
// runs, as the server executes them: with the plan for these parameters, which
// the first five uses of a prepared statement have, and with the one for any,
// which later ones may have. The golden file pins which indexes serve the
// latter; the rows that a statement touches are bounded whatever the size.
// -docket.plans=1000000 looks at a large store.
func TestPlans(t *testing.T) {
	t.Parallel()
	b := openOn(t, open(t, freshDatabase(t, ""), 2), Config{})
	fill(t, b, *planRuns)
	shapes := map[string][]string{}
	for name, s := range plannedStatements(b) {
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			plan := explain(t, b, mode, s)
			shapes[name] = plan.shape()
			if rows := plan.touched(); rows > *planLimit+s.more {
				t.Errorf("%s (%s) touches %.0f rows or entries:\n%s", name, mode, rows, plan.text)
			}
			for _, line := range shapes[name] {
				if strings.HasPrefix(line, "Seq Scan") && line != "Seq Scan docket_graph_versions" { // that one is a page here
					t.Errorf("%s (%s) scans a table:\n%s", name, mode, plan.text)
				}
			}
		}
	}
	golden(t, "plans.golden", shapes)
}

func fill(t testing.TB, b *Backend, runs int) {
	t.Helper()
	v := version("g", `{"id":"g"}`)
	owners := []record.Owner{{}}
	for n := range 20 {
		owners = append(owners, owner(fmt.Sprint("t", n)))
	}
	for _, o := range owners {
		publish(t, b, o)
	}
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{fillRuns, []any{runs, v.Ref.Hash, epoch}}, {fillEvents, nil},
	} {
		if _, err := b.pool.Exec(t.Context(), b.place.sql(s.sql), s.args...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.pool.Exec(t.Context(), "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
}

type planned struct {
	sql  string
	args []any
	more float64 // rows beyond the limit that are bounded by something else than the store's size
}

func plannedStatements(b *Backend) map[string]planned {
	claims := float64(*planRuns) / 1000 // the claimed rows: in earnest, the workers' slots
	cursor := ports.RunCursor{StartedAt: epoch.Add(-time.Hour), RunID: "run-3600"}
	list := func(r ports.ListRuns) planned {
		r.Limit = 10
		sql, args := b.sql.listRuns(r)
		return planned{sql: sql, args: args}
	}
	claim := func(sql string, limit int) planned {
		return planned{sql: sql, args: []any{epoch, limit, int64(5), time.Minute}, more: 3*claims + 3*float64(limit)}
	}
	run, r := "run-2000", record.Run{ID: "run-2", Status: "running", CheckpointSeq: 4, EventSeq: 9, StartedAt: epoch.Add(-2 * time.Second), Graph: version("g", `{"id":"g"}`).Ref}
	keep, end := next(r, record.ScheduleRetain), ended(r)
	f := fence{scope: ports.System(), runID: r.ID, token: "token-2", seq: 4}
	group := []*ports.CommitClaimed{
		{Scope: ports.System(), RunID: r.ID, Token: "token-2", ExpectedSeq: 4, Transition: keep, TTL: time.Minute, Now: epoch},
		{Scope: ports.System(), RunID: r.ID, Token: "token-2", ExpectedSeq: 4, Transition: end, Now: epoch},
	}
	started := []*ports.InsertRun{{Transition: first("new-1", r.Graph), Now: epoch}, {Transition: first("new-2", r.Graph), Now: epoch}}
	// Half of the store is expired, with all its events: pruning's worst case.
	half, never := epoch.Add(-time.Duration(*planRuns/2)*time.Second), epoch.AddDate(-10, 0, 0)
	return map[string]planned{
		"claim 1":              claim(b.sql.claimReady, 1),
		"claim 10":             claim(b.sql.claimReady, 10),
		"claim 10, expired":    claim(b.sql.claimExpired, 10),
		"commit, retain":       {sql: b.sql.retain, args: f.args(&keep, epoch, time.Minute)},
		"commit, release":      {sql: b.sql.release, args: f.args(&end, epoch, "done", epoch, false, nil)},
		"commit, group":        {sql: b.sql.commitGroup, args: commitGroupArgs(group)},
		"insert":               {sql: b.sql.insertRun, args: insertArgs(started[0])},
		"insert, group":        {sql: b.sql.insertGroup, args: insertGroupArgs(started)},
		"refresh":              {sql: b.sql.refresh, args: []any{run, "token", nil, epoch, time.Minute}},
		"fetch":                {sql: b.sql.fetchRun, args: []any{epoch, run, nil}},
		"fetch of a tenant":    {sql: b.sql.fetchRun, args: []any{epoch, run, "+t1"}},
		"recover":              {sql: b.sql.recover, args: []any{run, nil, epoch}},
		"list":                 list(ports.ListRuns{Scope: ports.System()}),
		"list after":           list(ports.ListRuns{Scope: ports.System(), After: cursor}),
		"list of a tenant":     list(ports.ListRuns{Scope: ports.Tenant("t1"), After: cursor}),
		"list failed":          list(ports.ListRuns{Scope: ports.System(), Statuses: []string{"failed"}}),
		"list poisoned":        list(ports.ListRuns{Scope: ports.System(), Poisoned: true}),
		"list open interrupts": list(ports.ListRuns{Scope: ports.System(), OpenInterrupts: true}),
		"events":               {sql: b.sql.eventPage, args: []any{run, nil, 0, 250}},
		"event":                {sql: b.sql.oneEvent, args: []any{run, nil, 1}},
		"latest event":         {sql: b.sql.latestEvent, args: []any{run, nil}},
		"prune events":         {sql: b.sql.pruneEvents, args: []any{half, nil, 10}, more: 50},
		"prune expired events": {sql: b.sql.pruneEvents, args: []any{nil, half, 10}, more: 50},
		"prune runs":           {sql: b.sql.pruneRuns, args: []any{half, 10}},
		"prune nothing":        {sql: b.sql.pruneRuns, args: []any{never, 10}},
	}
}

// TestPlansOfAnEmptyStore: a session plans while the tables are empty, and keeps
// its plans while they grow, until they are analysed. What runs all the time then
// reads no table that grows, not even one that is small still.
func TestPlansOfAnEmptyStore(t *testing.T) {
	t.Parallel()
	b := openOn(t, open(t, freshDatabase(t, ""), 2), Config{})
	planned := plannedStatements(b)
	for _, name := range []string{"claim 1", "claim 10", "claim 10, expired", "commit, retain", "commit, release", "commit, group",
		"insert", "insert, group", "refresh", "fetch"} {
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			plan := explain(t, b, mode, planned[name])
			for _, line := range plan.shape() {
				if strings.HasPrefix(line, "Seq Scan") || strings.HasPrefix(line, "Bitmap") {
					t.Errorf("%s (%s): %s\n%s", name, mode, line, plan.text)
				}
			}
		}
	}
}

// plan is what EXPLAIN (ANALYZE, FORMAT JSON) tells of a node.
type plan struct {
	Type    string  `json:"Node Type"`
	Index   string  `json:"Index Name"`
	Table   string  `json:"Relation Name"`
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Removed float64 `json:"Rows Removed by Filter"`
	Plans   []plan  `json:"Plans"`

	text string
}

// explain executes the statement, prepared, in a transaction that is rolled back.
func explain(t *testing.T, b *Backend, mode string, s planned) plan {
	t.Helper()
	tx, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	execute := "EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF) EXECUTE looked_at"
	for i := range s.args {
		execute += fmt.Sprintf("%c $%d", ",("[max(0, 1-i)], i+1)
	}
	for _, sql := range []string{"SET LOCAL plan_cache_mode = " + mode, "PREPARE looked_at AS " + s.sql} {
		if _, err := tx.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
	}
	var text []byte
	args := append([]any{pgx.QueryExecModeSimpleProtocol}, s.args...) // EXECUTE takes no parameters of the protocol
	if err := tx.QueryRow(t.Context(), execute+")", args...).Scan(&text); err != nil {
		t.Fatalf("%v\n%s", err, s.sql)
	}
	if _, err := tx.Exec(t.Context(), "DEALLOCATE looked_at", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	var top []struct{ Plan plan }
	if err := json.Unmarshal(text, &top); err != nil || len(top) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	top[0].Plan.text = string(text)
	return top[0].Plan
}

// shape lists the scans, each once, by name.
func (p plan) shape() []string {
	found := map[string]bool{}
	p.walk(func(n plan) {
		if strings.HasSuffix(n.Type, "Scan") && (n.Table != "" || n.Index != "") {
			found[strings.TrimSpace(strings.ReplaceAll(n.Type, " Only", "")+" "+n.Table+" "+n.Index)] = true
		}
	})
	return slices.Sorted(maps.Keys(found))
}

// touched counts what scans read, the rows they threw away included.
func (p plan) touched() (rows float64) {
	p.walk(func(n plan) {
		if n.Table != "" || n.Index != "" {
			rows += (n.Rows + n.Removed) * n.Loops
		}
	})
	return rows
}

func (p plan) walk(visit func(plan)) {
	visit(p)
	for _, child := range p.Plans {
		child.walk(visit)
	}
}

// golden compares with a file of testdata, which -update rewrites.
func golden(t *testing.T, name string, shapes map[string][]string) {
	t.Helper()
	var got strings.Builder
	for _, statement := range slices.Sorted(maps.Keys(shapes)) {
		fmt.Fprintf(&got, "%s\n", statement)
		for _, line := range shapes[statement] {
			fmt.Fprintf(&got, "\t%s\n", line)
		}
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s: the plans changed (-update rewrites it):\n%s", path, got.String())
	}
}
