package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/docket-go/docket/adapters/pgx/internal/cluster"
	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// rawCommit is a commit as somebody would write it who needs nothing else: the
// fence, the row and its events in one statement.
const rawCommit = `
	WITH changed AS (
		UPDATE docket.docket_runs SET step = $7, checkpoint_seq = $8, event_seq = $9, updated_at = $10,
			checksum = $11, document = $12, claim_end = statement_timestamp() + interval '1 hour'
		WHERE run_id = $13 AND claim_token = $14 AND checkpoint_seq = $8 - 1
		RETURNING id
	), events AS (
		INSERT INTO docket.docket_events (run, seq, type, step, at, recorded_at, encoding, checksum, payload)
		SELECT changed.id, $9::bigint - 3 + e.n, e.type, e.step, e.at, statement_timestamp(), e.encoding, e.checksum, e.payload
		FROM changed, unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[], $5::bytea[], $6::bytea[])
			WITH ORDINALITY AS e (type, step, at, encoding, checksum, payload, n)
	)
	SELECT id FROM changed`

// BenchmarkCommit measures retaining commits of 1 KB state and 3 events against
// the same work done by hand through the same pool, in turns, so that both meet
// the same noise. The metric x/raw is what counts: absolute figures don't travel.
func BenchmarkCommit(b *testing.B) {
	needServer(b)
	durable, err := cluster.Start(b.Context(), cluster.Config{Durable: true})
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { _ = durable.Close() })
	for _, writers := range []int{1, 8, 32} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			pool := open(b, durable.URL("postgres"), int32(writers))
			store := openOn(b, pool, Config{})
			adapter, raw := make([]record.Run, writers), make([]record.Run, writers)
			for i := range writers {
				adapter[i] = claimedRun(b, store, fmt.Sprint("a", i), 1000)
				raw[i] = claimedRun(b, store, fmt.Sprint("b", i), 1000)
			}
			var spent [2]time.Duration
			b.ReportAllocs()
			const turn = 200 // commits of one kind before the other's turn
			for done := 0; done < b.N; done += turn {
				n := min(turn, b.N-done)
				spent[0] += inTurns(adapter, n, func(ctx context.Context, r record.Run) record.Run { return commitStep(b, store, r, 1000) })
				spent[1] += inTurns(raw, n, func(ctx context.Context, r record.Run) record.Run { return rawStep(b, pool, store.place, r) })
			}
			b.ReportMetric(spent[1].Seconds()/spent[0].Seconds(), "x/raw")
			b.ReportMetric(float64(b.N)/spent[0].Seconds(), "commits/s")
		})
	}
}

// inTurns does n steps, spread over the runs, and returns how long they took.
func inTurns(runs []record.Run, n int, step func(context.Context, record.Run) record.Run) time.Duration {
	start := time.Now()
	var group sync.WaitGroup
	for i := range runs {
		group.Go(func() {
			for range (n + len(runs) - 1 - i) / len(runs) {
				runs[i] = step(context.Background(), runs[i])
			}
		})
	}
	group.Wait()
	return time.Since(start)
}

func rawStep(b *testing.B, pool *pgxpool.Pool, p place, r record.Run) record.Run {
	tr := step(r, 1000)
	var events eventColumns
	args := events.args(tr.Events, tr.Run.Step, tr.Run.CheckpointSeq, tr.Run.EventSeq, tr.Run.UpdatedAt,
		tr.Run.Checksum[:], tr.Run.Document, r.ID, benchToken)
	var id int64
	if err := pool.QueryRow(b.Context(), p.sql(rawCommit), args...).Scan(&id); err != nil {
		b.Error(err)
	}
	return tr.Run
}

// BenchmarkBackend measures the shapes that every backend is measured by, on the
// tests' own server.
func BenchmarkBackend(b *testing.B) {
	conformance.Benchmark(b, harness(b, sharedPool(b), Config{}))
}

// BenchmarkLife measures whole lives: insert, claim, commit to the end.
func BenchmarkLife(b *testing.B) {
	store := openFresh(b)
	ref := publish(b, store, owner(""))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		tr := first(fmt.Sprint("r", n), ref)
		if _, err := store.InsertRun(b.Context(), ports.InsertRun{Transition: tr}); err != nil {
			b.Fatal(err)
		}
		l := claimOne(b, store, time.Time{})
		if _, err := store.CommitClaimed(b.Context(), commit(l, ended(l.Run))); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClaim measures the claim of the one run that is due, in a store of a
// thousand runs and in one of -docket.plans, in turns. What counts is the metric
// p95/small: how much slower the large one's slowest twentieth begins.
func BenchmarkClaim(b *testing.B) {
	stores := []*Backend{openFresh(b), openFresh(b)}
	for i, runs := range []int{1000, *planRuns} {
		fill(b, stores[i], runs)
		if _, err := stores[i].pool.Exec(b.Context(), stores[i].place.sql(`DELETE FROM docket.docket_runs WHERE status = 'running'`)); err != nil {
			b.Fatal(err)
		}
	}
	ref := version("g", `{"id":"g"}`).Ref
	var spent [2][]time.Duration
	for n := 0; b.Loop(); n++ {
		for turn := range stores {
			i := (n + turn) % len(stores)
			tr := first(fmt.Sprint("due-", n), ref)
			if _, err := stores[i].InsertRun(b.Context(), ports.InsertRun{Transition: tr}); err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			l := claimOne(b, stores[i], time.Time{})
			spent[i] = append(spent[i], time.Since(start))
			if _, err := stores[i].CommitClaimed(b.Context(), commit(l, ended(l.Run))); err != nil {
				b.Fatal(err)
			}
		}
	}
	var p95 [2]time.Duration
	for i := range spent {
		slices.Sort(spent[i])
		p95[i] = spent[i][len(spent[i])*95/100]
	}
	b.ReportMetric(float64(p95[1].Microseconds()), "p95-µs")
	b.ReportMetric(p95[1].Seconds()/p95[0].Seconds(), "p95/small")
}
