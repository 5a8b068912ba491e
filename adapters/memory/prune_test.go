package memory

import (
	"fmt"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

func prune(t *testing.T, b *Backend, policy ports.Retention, batch int, now time.Time) ports.Pruned {
	t.Helper()
	got, err := b.Prune(t.Context(), ports.Prune{Policy: policy, Batch: batch, Now: now})
	must(t, 0, err)
	must(t, 0, b.state.audit())
	got.Now = time.Time{}
	return got
}

// TestPruneBoundary: at its retention a row goes, a microsecond earlier it
// stays, and live runs' events go too (PRN-6).
func TestPruneBoundary(t *testing.T) {
	t.Parallel()
	b := open(t)
	insert(t, b, nobody, "live", epoch)
	ended := insert(t, b, nobody, "ended", epoch)
	cancel(t, b, ended, after(time.Minute))

	events, runs := ports.Retention{Events: time.Hour}, ports.Retention{Runs: time.Hour}
	if got := prune(t, b, events, 100, after(time.Hour-time.Microsecond)); got != (ports.Pruned{}) {
		t.Errorf("events, too early: %+v", got)
	}
	if got := prune(t, b, events, 100, after(time.Hour)); got != (ports.Pruned{Events: 4}) {
		t.Errorf("events: %+v", got)
	}
	page, err := b.ListEvents(t.Context(), ports.ListEvents{Scope: ports.System(), RunID: "ended"})
	if must(t, 0, err); page.Oldest != 3 || page.Latest != 3 || page.LatestSeq != 3 {
		t.Errorf("what remains: %+v", page)
	}
	page, err = b.ListEvents(t.Context(), ports.ListEvents{Scope: ports.System(), RunID: "live", AfterSeq: 1})
	if must(t, 0, err); page.Oldest != 0 || page.Latest != 0 || page.LatestSeq != 2 || page.NextAfterSeq != 1 {
		t.Errorf("nothing remains: %+v", page)
	}
	if got := prune(t, b, runs, 100, after(time.Hour+time.Minute-time.Microsecond)); got != (ports.Pruned{}) {
		t.Errorf("runs, too early: %+v", got)
	}
	if got := prune(t, b, runs, 100, after(time.Hour+time.Minute)); got != (ports.Pruned{Expired: 1, Runs: 1}) {
		t.Errorf("runs: %+v", got)
	}
	if got := ids(list(t, b, ports.ListRuns{Scope: ports.System()})); fmt.Sprint(got) != "[live]" {
		t.Errorf("runs that remain: %v", got)
	}
}

// TestPruneSpares never takes a run that isn't terminal, however old (PRN-5).
func TestPruneSpares(t *testing.T) {
	t.Parallel()
	b := open(t)
	insert(t, b, nobody, "running", epoch)
	waiting := insert(t, b, nobody, "waiting", epoch)
	signal(t, b, next(waiting, "waiting", "interrupt_requested", record.ScheduleExternal), epoch)
	insert(t, b, acme, "poisoned", after(-time.Hour))
	for n := range 2 {
		_, err := b.ClaimRuns(t.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: time.Second, MaxAttempts: 1, Now: after(time.Duration(n-2) * time.Minute)})
		must(t, 0, err)
	}
	if got := list(t, b, ports.ListRuns{Scope: ports.System(), Poisoned: true}); len(got.Items) != 1 {
		t.Fatalf("%d poisoned", len(got.Items))
	}
	policy := ports.Retention{Runs: time.Second, Graphs: time.Second}
	if got := prune(t, b, policy, 100, after(24*365*time.Hour)); got != (ports.Pruned{}) {
		t.Errorf("pruned %+v", got)
	}
}

// TestPruneBatches bounds each kind for itself, events before their run, and
// says that there is more until there isn't (PRN-2, PRN-4).
func TestPruneBatches(t *testing.T) {
	t.Parallel()
	b := open(t)
	for n := range 5 {
		r := insert(t, b, nobody, fmt.Sprint(n), after(time.Duration(n)*time.Second))
		cancel(t, b, r, after(time.Minute)) // three events each
	}
	var total ports.Pruned
	for calls := 1; ; calls++ {
		got := prune(t, b, ports.Retention{Runs: time.Hour}, 4, after(2*time.Hour))
		if got.Expired > 4 || got.Runs > 4 {
			t.Errorf("more than a batch: %+v", got)
		}
		total.Expired, total.Runs = total.Expired+got.Expired, total.Runs+got.Runs
		if !got.More {
			break
		}
		if calls > 10 {
			t.Fatal("there is always more")
		}
	}
	if total != (ports.Pruned{Expired: 15, Runs: 5}) {
		t.Errorf("in all: %+v", total)
	}
}

// TestPruneVersions keeps the newest ten of owner and id, and what a run
// refers to; a run that goes frees its version in the same call (PRN-3).
func TestPruneVersions(t *testing.T) {
	t.Parallel()
	b := open(t)
	old := insert(t, b, nobody, "old", epoch) // refers to version 1, published first
	for n := 2; n <= ports.KeptVersions+3; n++ {
		for _, owner := range []record.Owner{nobody, acme} {
			if owner == acme && n > ports.KeptVersions {
				continue
			}
			_, err := b.SaveGraph(t.Context(), ports.SaveGraph{Owner: owner, Version: version1(n), Now: after(time.Duration(n) * time.Minute)})
			must(t, 0, err)
		}
	}
	policy := ports.Retention{Graphs: time.Hour}
	if got := prune(t, b, policy, 100, after(time.Hour+2*time.Minute)); got != (ports.Pruned{Graphs: 1}) {
		t.Errorf("of versions 1 (in use), 2, and 3 (too young): %+v", got)
	}
	cancel(t, b, old, after(time.Minute))
	policy.Runs = time.Hour
	if got := prune(t, b, policy, 100, after(2*time.Hour)); got != (ports.Pruned{Expired: 3, Runs: 1, Graphs: 2}) {
		t.Errorf("the run and versions 1 and 3: %+v", got)
	}
	for owner, want := range map[record.Owner]int{nobody: 10, acme: 9} {
		page, err := b.ListGraphs(t.Context(), ports.ListGraphs{Owner: owner, GraphID: "flow"})
		if must(t, 0, err); len(page.Items) != want {
			t.Errorf("%v keeps %d versions, want %d", owner, len(page.Items), want)
		}
	}
}
