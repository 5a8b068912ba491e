package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

func pruneAt(t *testing.T, b *Backend, req ports.Prune) ports.Pruned {
	t.Helper()
	pruned, err := b.Prune(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	pruned.Now = time.Time{}
	return pruned
}

// finish drives a due run to its end at the given moment.
func finish(t *testing.T, b *Backend, id string, at time.Time) {
	t.Helper()
	fetched, err := b.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: id})
	if err != nil {
		t.Fatal(err)
	}
	tr := ended(fetched.Run)
	tr.Run.FinishedAt = at
	if _, err := b.CommitUnclaimed(t.Context(), ports.CommitUnclaimed{
		Scope: ports.System(), RunID: id, ExpectedSeq: fetched.Run.CheckpointSeq, Transition: tr, Now: at,
	}); err != nil {
		t.Fatal(err)
	}
}

// Rows go at exactly their retention and not a microsecond earlier; the dry run
// tells the same and removes nothing (PRN-6, PRN-7).
func TestPruneAtTheBoundary(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, record.Owner{})
	insert(t, b, "live", ref)
	insert(t, b, "done", ref)
	finish(t, b, "done", epoch.Add(time.Hour))
	policy := ports.Retention{Events: time.Hour, Runs: 2 * time.Hour, Graphs: time.Hour}
	for _, step := range []struct {
		at   time.Duration
		want ports.Pruned
	}{
		{time.Hour - time.Microsecond, ports.Pruned{}},
		{time.Hour, ports.Pruned{Events: 2}},
		{2*time.Hour - time.Microsecond, ports.Pruned{}},
		{2 * time.Hour, ports.Pruned{Events: 1}},
		{3*time.Hour - time.Microsecond, ports.Pruned{}},
		{3 * time.Hour, ports.Pruned{Runs: 1}},
		{1000 * time.Hour, ports.Pruned{}},
	} {
		req := ports.Prune{Policy: policy, Batch: 10, DryRun: true, Now: epoch.Add(step.at)}
		dry, again := pruneAt(t, b, req), pruneAt(t, b, req)
		req.DryRun = false
		if got := pruneAt(t, b, req); got != step.want || dry != got || again != got {
			t.Errorf("after %v: dry run %+v, then %+v, real %+v; want %+v", step.at, dry, again, got, step.want)
		}
	}
	if info := inspect(t, b, "live"); info.Run.EventSeq != 1 || info.WakeAt.IsZero() {
		t.Errorf("the live run is %+v", info)
	}
}

// A part of a microsecond rounds the retention up: nothing goes too early.
func TestPruneRoundsRetentionUp(t *testing.T) {
	t.Parallel()
	if got := before(10, 1500*time.Nanosecond); got.Int64 != 8 {
		t.Errorf("1.5 µs before 10 is %d, want 8", got.Int64)
	}
	if before(10, 0).Valid {
		t.Error("a zero retention removes something")
	}
}

// Batches are bounded, count each kind apart and say whether to call again; a
// run goes only when its last event is gone.
func TestPruneInBatches(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, record.Owner{})
	for i := range 3 {
		insert(t, b, fmt.Sprint("r", i), ref)
		finish(t, b, fmt.Sprint("r", i), epoch.Add(time.Duration(i)*time.Second))
	}
	req := ports.Prune{Policy: ports.Retention{Runs: time.Hour}, Batch: 4, Now: epoch.Add(2 * time.Hour)}
	for i, want := range []ports.Pruned{{Expired: 4, Runs: 1, More: true}, {Expired: 2, Runs: 2}, {}} {
		if got := pruneAt(t, b, req); got != want {
			t.Errorf("batch %d: %+v, want %+v", i, got, want)
		}
	}
	var left int
	if err := b.sql.row(t.Context(), `SELECT (SELECT count(*) FROM docket_runs) + (SELECT count(*) FROM docket_events)
		+ (SELECT count(*) FROM docket_run_documents)`, nil, &left); err != nil || left != 0 {
		t.Errorf("%d rows are left, %v", left, err)
	}
}

// Only versions that no run refers to go, and never the newest ones (PRN-3).
func TestPruneGraphs(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	var refs []record.GraphVersion
	for i := range ports.KeptVersions + 3 {
		v := version("g", fmt.Sprintf(`{"id":"g","v":%d}`, i))
		refs = append(refs, v)
		if _, err := b.SaveGraph(t.Context(), ports.SaveGraph{Version: v, Now: epoch.Add(time.Duration(i) * time.Second)}); err != nil {
			t.Fatal(err)
		}
	}
	publish(t, b, owner("other"))
	insert(t, b, "r", refs[1].Ref)
	req := ports.Prune{Policy: ports.Retention{Graphs: time.Hour}, Batch: 10, Now: epoch.Add(1000 * time.Hour)}
	if got := pruneAt(t, b, req); got != (ports.Pruned{Graphs: 2}) {
		t.Errorf("got %+v, want two versions", got)
	}
	for i, v := range refs {
		_, err := b.FetchGraph(t.Context(), ports.FetchGraph{Ref: v.Ref})
		if gone := i == 0 || i == 2; (err != nil) != gone {
			t.Errorf("version %d: %v", i, err)
		}
	}
}

// One pruner works; who comes meanwhile is told (PRN-4).
func TestPruneSkips(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	b.pruning.Lock()
	defer b.pruning.Unlock()
	if got := pruneAt(t, b, ports.Prune{Policy: ports.Retention{Runs: 1000}, Batch: 1}); got != (ports.Pruned{Skipped: true}) {
		t.Errorf("got %+v, want it skipped", got)
	}
}
