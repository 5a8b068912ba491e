package sqlite

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// BenchmarkBackend measures the shapes that every backend is measured by, at the
// default durability.
func BenchmarkBackend(b *testing.B) {
	h := harness(b)
	h.Open = func(ctx context.Context) (ports.Backend, error) {
		return Open(ctx, Config{Path: filepath.Join(b.TempDir(), rand.Text()+".db")})
	}
	conformance.Benchmark(b, h)
}

// BenchmarkCommit measures retaining commits of 1 KB state and 3 events, each of
// the writers with a run of its own, at the default durability.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 8, 32} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			store, err := Open(b.Context(), Config{Path: filepath.Join(b.TempDir(), "docket.db")})
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			runs := make([]record.Run, writers)
			for i := range runs {
				runs[i] = claimedRun(b, store, fmt.Sprint("r", i))
			}
			b.ReportAllocs()
			b.ResetTimer()
			var group sync.WaitGroup
			for i, r := range runs {
				group.Go(func() {
					for n := i; n < b.N; n += writers {
						r = commitStep(b, store, r)
					}
				})
			}
			group.Wait()
		})
	}
}

const benchToken = "token"

func claimedRun(b *testing.B, store *Backend, id string) record.Run {
	v := version("g", `{"id":"g"}`)
	if _, err := store.SaveGraph(b.Context(), ports.SaveGraph{Version: v}); err != nil {
		b.Fatal(err)
	}
	tr := first(id, v.Ref)
	tr.Schedule.Kind = record.ScheduleRetain
	_, err := store.InsertRun(b.Context(), ports.InsertRun{
		Transition: tr, Claim: ports.ClaimGrant{Token: benchToken, TTL: time.Minute},
	})
	if err != nil {
		b.Fatal(err)
	}
	return tr.Run
}

var benchDocument = []byte(`{"state":"` + strings.Repeat("x", 1000) + `"}`)

func commitStep(b *testing.B, store *Backend, r record.Run) record.Run {
	tr := next(r, record.ScheduleRetain)
	for len(tr.Events) < 3 {
		e := tr.Events[len(tr.Events)-1]
		e.Seq++
		tr.Run.EventSeq++
		tr.Events = append(tr.Events, e)
	}
	tr.Run.Document, tr.Run.Checksum = benchDocument, record.Sum(benchDocument)
	_, err := store.CommitClaimed(b.Context(), ports.CommitClaimed{
		Scope: ports.System(), RunID: r.ID, Token: benchToken, ExpectedSeq: r.CheckpointSeq, Transition: tr, TTL: time.Minute,
	})
	if err != nil {
		b.Error(err)
	}
	return tr.Run
}
