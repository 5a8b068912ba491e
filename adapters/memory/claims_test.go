package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// TestQueue compares the heap with a sorted list under random work.
func TestQueue(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		var q queue
		var in []*slot
		for n := range 500 {
			switch {
			case len(in) == 0 || random.IntN(3) > 0:
				s := &slot{row: &row{run: record.Run{ID: fmt.Sprint(n)}}, eligible: random.Int64N(20)}
				q.add(s)
				in = append(in, s)
			case random.IntN(2) == 0:
				i := random.IntN(len(in))
				q.remove(in[i])
				in = slices.Delete(in, i, i+1)
			default:
				s := in[random.IntN(len(in))]
				s.eligible = random.Int64N(20)
				q.settle(s)
			}
			want := (*slot)(nil)
			if len(in) > 0 {
				want = slices.MinFunc(in, func(a, b *slot) int {
					return cmp.Or(cmp.Compare(a.eligible, b.eligible), strings.Compare(a.row.run.ID, b.row.run.ID))
				})
			}
			if got := q.head(); got != want {
				t.Fatalf("seed %d, step %d: the head is %v, want %v", seed, n, got, want)
			}
		}
	}
}

// TestClaimOrder claims with both classes waiting, ids whose byte order isn't
// any locale's, and every limit (CLM-4).
func TestClaimOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		prefer ports.ClaimClass
		limit  int
		want   string
	}{
		{ports.ClassReady, 1, "r1"},
		{ports.ClassExpired, 1, "B"},
		{ports.ClassReady, 2, "r1 B"}, // the class that would come last still gets one
		{ports.ClassExpired, 2, "r1 B"},
		{ports.ClassReady, 3, "r1 r2 B"},
		{ports.ClassReady, 9, "r1 r2 B a é"},
	} {
		b := open(t)
		for i, id := range []string{"é", "a", "B"} { // expired at one moment
			insert(t, b, nobody, id, after(time.Duration(-i)*time.Hour))
		}
		claim(t, b, 3, after(2*time.Hour)) // ends at 2 h 1 min
		insert(t, b, nobody, "r2", after(time.Hour))
		insert(t, b, nobody, "r1", after(time.Minute))
		insert(t, b, nobody, "later", after(4*time.Hour))
		got, err := b.ClaimRuns(t.Context(), ports.ClaimRuns{
			Scope: ports.System(), Limit: tt.limit, TTL: time.Minute, MaxAttempts: 9, Prefer: tt.prefer, Now: after(3 * time.Hour),
		})
		must(t, 0, err)
		var claimed []string
		for _, lease := range got.Leases {
			claimed = append(claimed, lease.Run.ID)
		}
		if text := strings.Join(claimed, " "); text != tt.want {
			t.Errorf("prefer %s, limit %d: claimed %q, want %q", tt.prefer, tt.limit, text, tt.want)
		}
	}
}

// TestClaimsInParallel drains runs with many claimers while claims expire and
// signals come in: nobody gets what another one has (CLM-5).
func TestClaimsInParallel(t *testing.T) {
	t.Parallel()
	b := open(t)
	const runs, claimers = 500, 16
	for i := range runs {
		insert(t, b, nobody, fmt.Sprint("run ", i), epoch)
	}
	var mu sync.Mutex
	taken, tokens := map[string]int{}, map[string]bool{}
	var group sync.WaitGroup
	for n := range claimers {
		group.Go(func() {
			for {
				got, err := b.ClaimRuns(t.Context(), ports.ClaimRuns{
					Scope: ports.System(), Limit: 1 + n%7, TTL: time.Minute, MaxAttempts: 1, Now: epoch,
				})
				if err != nil || len(got.Leases) > 1+n%7 {
					t.Errorf("%d leases: %v", len(got.Leases), err)
				}
				mu.Lock()
				for _, lease := range got.Leases {
					taken[lease.Run.ID]++
					tokens[lease.Token] = true
				}
				mu.Unlock()
				if len(got.Leases) == 0 {
					return
				}
			}
		})
	}
	group.Wait()
	if len(taken) != runs || len(tokens) != runs {
		t.Errorf("%d runs were taken under %d tokens", len(taken), len(tokens))
	}
	for id, n := range taken {
		if n != 1 {
			t.Errorf("%s was taken %d times", id, n)
		}
	}
}

// TestWritersAndReaders races commits and signals on one run against readers:
// one winner a sequence, no event missed, every record whole (RUN-7, EVT-6).
func TestWritersAndReaders(t *testing.T) {
	t.Parallel()
	b := open(t)
	insert(t, b, nobody, "a", epoch)
	const last = 200
	ctx, stop := context.WithCancel(t.Context())
	var writers, readers sync.WaitGroup
	won := make([]int, 4)
	for n := range won {
		writers.Go(func() {
			for {
				found, err := b.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: "a"})
				if err != nil || found.Run.Verify() != nil {
					t.Errorf("fetch: %v, %v", err, found.Run.Verify())
					return
				}
				if found.Run.CheckpointSeq >= last {
					return
				}
				tr := next(found.Run, "running", "interrupt_resolved", record.ScheduleImmediate)
				_, err = b.CommitUnclaimed(ctx, ports.CommitUnclaimed{Scope: ports.System(), RunID: "a", ExpectedSeq: found.Run.CheckpointSeq, Transition: tr})
				if err == nil {
					won[n]++
				} else if !errors.Is(err, ports.ErrStale) {
					t.Errorf("commit: %v", err)
					return
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			cursor := int64(0)
			for cursor < last+1 {
				page, err := b.ListEvents(ctx, ports.ListEvents{Scope: ports.System(), RunID: "a", AfterSeq: cursor, Limit: 7})
				if err != nil {
					t.Errorf("list: %v", err)
					return
				}
				for _, e := range page.Events {
					if e.Seq != cursor+1 || e.Verify() != nil {
						t.Errorf("event %d after %d: %v", e.Seq, cursor, e.Verify())
						return
					}
					cursor = e.Seq
				}
			}
		})
	}
	writers.Wait()
	readers.Wait()
	stop()
	if n := won[0] + won[1] + won[2] + won[3]; n != last-1 {
		t.Errorf("%v commits won, want %d", won, last-1)
	}
}

// BenchmarkClaim shows that a claim's cost doesn't grow with the runs there are.
func BenchmarkClaim(b *testing.B) {
	for _, runs := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(runs), func(b *testing.B) {
			store := open(b)
			ref := save(b, store, nobody)
			for i := range runs {
				tr := first(fmt.Sprint("run ", i), ref, after(time.Duration(i)*time.Microsecond))
				_, err := store.InsertRun(b.Context(), ports.InsertRun{Transition: tr, Now: tr.Run.StartedAt})
				must(b, 0, err)
			}
			b.ReportAllocs()
			for b.Loop() {
				lease := claim(b, store, 1, after(time.Hour)).Leases[0]
				_, err := store.ReleaseClaim(b.Context(), ports.ReleaseClaim{Scope: ports.System(), RunID: lease.Run.ID, Token: lease.Token, ReturnAttempt: true, Now: after(time.Hour)})
				must(b, 0, err)
			}
		})
	}
}

// BenchmarkCommit measures one retained transition with one event.
func BenchmarkCommit(b *testing.B) {
	store := open(b)
	r := insert(b, store, nobody, "a", epoch)
	lease := claim(b, store, 1, epoch).Leases[0]
	b.ReportAllocs()
	for b.Loop() {
		tr := next(r, "running", "step_committed", record.ScheduleRetain)
		_, err := store.CommitClaimed(b.Context(), ports.CommitClaimed{
			Scope: ports.System(), RunID: "a", Token: lease.Token, ExpectedSeq: r.CheckpointSeq, Transition: tr, TTL: time.Minute, Now: epoch,
		})
		must(b, 0, err)
		r = tr.Run
	}
}
