package postgres

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapters/pgx/internal/cluster"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// TestRetainingCommitsAreHeapOnly: a commit that keeps its claim, and a refresh,
// touch no index, with eight writers at once. The server counts the updates. It
// flushes, as one in production does: a version can be removed when no statement
// is older than its end, and a server without that wait is as old as whichever of
// its sessions the processor has left lying.
func TestRetainingCommitsAreHeapOnly(t *testing.T) {
	// Not parallel, and on a server of its own: what runs beside it keeps old
	// versions alive.
	needCluster(t)
	durable, err := cluster.Start(t.Context(), cluster.Config{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = durable.Close() })
	for _, size := range []int{200, 1_000, 4_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			home := openOn(t, open(t, durable.URL("postgres"), 1), Config{})
			const writers, steps = 8, 100
			const refreshes = 10 // one in so many steps
			working := open(t, durable.URL("postgres"), writers)
			b := openAt(t, working, home.cfg)
			var group sync.WaitGroup
			for i := range writers {
				r := claimedRun(t, b, fmt.Sprint("r", i), size)
				group.Go(func() {
					for n := range steps {
						r = commitStep(t, b, r, size)
						if n%refreshes != 0 {
							continue
						}
						_, err := b.RefreshClaim(t.Context(), ports.RefreshClaim{Scope: ports.System(), RunID: r.ID, Token: benchToken, TTL: time.Hour})
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
			working.Close() // a session hands its counts in when it ends
			const updates = writers * (steps + steps/refreshes)
			all, hot := updatesOf(t, home, updates)
			t.Logf("%d of %d updates are heap-only", hot, all)
			if all != updates || hot*100 < all*95 {
				t.Errorf("%d updates, %d of them heap-only; want %d and at least 95 %%", all, hot, updates)
			}
		})
	}
}

// updatesOf reads the server's counters until the ended sessions' counts are in.
func updatesOf(t *testing.T, b *Backend, want int64) (all, hot int64) {
	t.Helper()
	for range 500 {
		err := b.pool.QueryRow(t.Context(), b.place.sql(`SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_all_tables
			WHERE relid = 'docket.docket_runs'::regclass`)).Scan(&all, &hot)
		if err != nil {
			t.Fatal(err)
		}
		if all >= want || !pause(t.Context(), 10*time.Millisecond) {
			break
		}
	}
	return all, hot
}

const benchToken = "token"

// claimedRun starts a run that is born claimed.
func claimedRun(t testing.TB, b *Backend, id string, size int) record.Run {
	t.Helper()
	v := version("g", `{"id":"g"}`)
	if _, err := b.SaveGraph(t.Context(), ports.SaveGraph{Version: v}); err != nil {
		t.Fatal(err)
	}
	tr := first(id, v.Ref)
	tr.Schedule.Kind = record.ScheduleRetain
	tr.Run.Document = state(size, 0)
	tr.Run.Checksum = record.Sum(tr.Run.Document)
	_, err := b.InsertRun(t.Context(), ports.InsertRun{
		Transition: tr, Claim: ports.ClaimGrant{Token: benchToken, TTL: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr.Run
}

// step is the next transition of a run, with a state of a size and 3 events.
func step(r record.Run, size int) record.Transition {
	tr := next(r, record.ScheduleRetain)
	for len(tr.Events) < 3 {
		e := tr.Events[len(tr.Events)-1]
		e.Seq++
		tr.Run.EventSeq++
		tr.Events = append(tr.Events, e)
	}
	tr.Run.Document = state(size, tr.Run.CheckpointSeq)
	tr.Run.Checksum = record.Sum(tr.Run.Document)
	return tr
}

// state is text that doesn't compress to nothing.
func state(size int, seq int64) []byte {
	document := make([]byte, size)
	for i := range document {
		document[i] = byte('a' + (i*i+i/7+int(seq))%26)
	}
	return document
}

func commitStep(t testing.TB, b ports.Runs, r record.Run, size int) record.Run {
	tr := step(r, size)
	_, err := b.CommitClaimed(t.Context(), ports.CommitClaimed{
		Scope: ports.System(), RunID: r.ID, Token: benchToken, ExpectedSeq: r.CheckpointSeq, Transition: tr, TTL: time.Hour,
	})
	if err != nil {
		t.Error(err)
	}
	return tr.Run
}
