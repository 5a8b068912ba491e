package pace

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	postgres "github.com/docket-go/docket/adapters/pgx"
	"github.com/docket-go/docket/adapters/pgx/pgxtest"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/engine"
)

func TestMain(m *testing.M) { os.Exit(pgxtest.Run(m)) }

// chain is nodes one after the other.
func chain(nodes int) []graph.Edit {
	edits := []graph.Edit{graph.PutField("x", graph.Field{Schema: schema.Integer()})}
	from := graph.Start
	for i := range nodes {
		id := "n" + strconv.Itoa(i)
		edits = append(edits, graph.PutNode(id, graph.Node{Implementation: "x"}),
			graph.PutEdge("e"+strconv.Itoa(i), graph.Edge{From: []string{from}, To: id}))
		from = id
	}
	return append(edits, graph.PutEdge("end", graph.Edge{From: []string{from}, To: graph.Finish}))
}

// fan is a node, as many others beside each other, and one that joins them.
func fan(width int) []graph.Edit {
	edits := []graph.Edit{
		graph.PutField("x", graph.Field{Schema: schema.Integer()}),
		graph.PutNode("open", graph.Node{Implementation: "x"}),
		graph.PutNode("join", graph.Node{Implementation: "x"}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "open"}),
		graph.PutEdge("end", graph.Edge{From: []string{"join"}, To: graph.Finish}),
	}
	var all []string
	for i := range width {
		id := "w" + strconv.Itoa(i)
		all = append(all, id)
		edits = append(edits, graph.PutNode(id, graph.Node{Implementation: id}),
			graph.PutField(id, graph.Field{Schema: schema.Integer()}),
			graph.PutEdge("to"+id, graph.Edge{From: []string{"open"}, To: id}))
	}
	return append(edits, graph.PutEdge("joined", graph.Edge{From: all, To: "join"}))
}

func writer(field string) node.Node {
	return node.HandlerFunc(func(context.Context, node.Input) (node.Result, error) { return node.Write(field, 1), nil })
}

// BenchmarkRuns is whole runs: started, driven, awaited.
func BenchmarkRuns(b *testing.B) {
	url := pgxtest.Database(b)
	implementations := map[string]node.Node{"x": writer("x")}
	for i := range 8 {
		implementations["w"+strconv.Itoa(i)] = writer("w" + strconv.Itoa(i))
	}
	registry, err := node.NewRegistry(implementations)
	if err != nil {
		b.Fatal(err)
	}
	shapes := []struct {
		name  string
		edits []graph.Edit
	}{{"one", chain(1)}, {"ten", chain(10)}, {"fan", fan(8)}}
	for _, s := range shapes {
		for _, inFlight := range []int{1, 8, 32} {
			b.Run(fmt.Sprint(s.name, "/", inFlight), func(b *testing.B) {
				race(b, newRivals(b, url, registry, s.edits, inFlight), inFlight)
			})
		}
	}
}

// rivals are the two ways to do the same work.
type rivals struct {
	engine *engine.Engine
	ref    graph.Ref
	hand   *byHand
}

func newRivals(b *testing.B, url string, registry *node.Registry, edits []graph.Edit, inFlight int) *rivals {
	b.Helper()
	r := &rivals{hand: &byHand{pool: pool(b, url, inFlight), schema: "hand"}}
	mine := pool(b, url, inFlight+1) // and one for the dispatcher
	for _, schema := range []string{"mine", r.hand.schema} {
		if _, err := mine.Exec(b.Context(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
			b.Fatal(err)
		}
		if err := postgres.Migrate(b.Context(), mine, schema); err != nil {
			b.Fatal(err)
		}
		store, err := postgres.New(b.Context(), mine, postgres.Config{Schema: schema})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = store.Close() })
		e, err := engine.New(store, registry, engine.Config{Slots: inFlight, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			b.Fatal(err)
		}
		g, err := graph.New("pace", edits...)
		if err != nil {
			b.Fatal(err)
		}
		saved, err := e.SaveGraph(b.Context(), engine.SaveGraph{Graph: g})
		if err != nil {
			b.Fatal(err)
		}
		r.hand.hash = saved.Ref.Hash
		if schema != r.hand.schema {
			r.engine, r.ref = e, saved.Ref
		}
	}
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- r.engine.Run(ctx) }()
	b.Cleanup(func() { stop(); <-done })
	r.hand.like(b, "mine", r.run(b))
	return r
}

func pool(b *testing.B, url string, conns int) *pgxpool.Pool {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		b.Fatal(err)
	}
	cfg.MaxConns = int32(conns)
	p, err := pgxpool.NewWithConfig(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.Close)
	return p
}

func (r *rivals) run(b *testing.B) string {
	started, err := r.engine.StartRun(b.Context(), engine.StartRun{Graph: r.ref})
	if err == nil {
		_, err = r.engine.AwaitRun(b.Context(), engine.AwaitRun{RunID: started.ID})
	}
	if err != nil {
		b.Error(err)
	}
	return started.ID
}

// race lets both do the same number of runs, in turns, and reports how the
// engine's pace compares: the median turn, the worst and the best.
func race(b *testing.B, r *rivals, inFlight int) {
	var ratios []float64
	var engines time.Duration
	var ids atomic.Int64
	byHand := func() { r.hand.life(b, "r"+strconv.FormatInt(ids.Add(1), 10)) }
	turn := max(64, b.N/10)
	b.ResetTimer()
	for done := 0; done < b.N; done += turn {
		n := min(turn, b.N-done)
		mine := spread(n, inFlight, func() { r.run(b) })
		hand := spread(n, inFlight, byHand)
		engines += mine
		ratios = append(ratios, hand.Seconds()/mine.Seconds())
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x/raw")
	b.ReportMetric(ratios[0], "min/raw")
	b.ReportMetric(ratios[len(ratios)-1], "max/raw")
	b.ReportMetric(float64(b.N)/engines.Seconds(), "runs/s")
}

// spread does something n times, so many at once, and returns how long it took.
func spread(n, atOnce int, do func()) time.Duration {
	start := time.Now()
	var left atomic.Int64
	left.Store(int64(n))
	var group sync.WaitGroup
	for range atOnce {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				do()
			}
		})
	}
	group.Wait()
	return time.Since(start)
}
