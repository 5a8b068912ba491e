package postgres

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	postgres "github.com/docket-go/docket/adapters/pgx"
	"github.com/docket-go/docket/adapters/pgx/pgxtest"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/engine"
)

func TestMain(m *testing.M) {
	if source := os.Getenv(roleVariable); source != "" {
		if err := holdRun(source); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(pgxtest.Run(m))
}

// patience bounds every wait; what takes so long is broken.
const patience = 30 * time.Second

// process is what one process of a host has: a pool of its own, a backend on it,
// an engine.
type process struct {
	*engine.Engine
	t    testing.TB
	pool *pgxpool.Pool
}

// newProcess opens the store of a database, as every process of a host does.
func newProcess(t testing.TB, source string, store postgres.Config, nodes map[string]node.HandlerFunc, cfg engine.Config) *process {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := postgres.Migrate(t.Context(), pool, store.Schema); err != nil {
		t.Fatal(err)
	}
	backend, err := postgres.New(t.Context(), pool, store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	registry, err := registryOf(nodes)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	e, err := engine.New(backend, registry, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &process{Engine: e, t: t, pool: pool}
}

func registryOf(nodes map[string]node.HandlerFunc) (*node.Registry, error) {
	all := map[string]node.Node{}
	for id, f := range nodes { // order-free: a map again
		all[id] = f
	}
	return node.NewRegistry(all)
}

// work drives due runs until the test ends.
func (p *process) work() {
	p.t.Helper()
	ctx, stop := context.WithCancel(p.t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	p.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			p.t.Errorf("Run: %v", err)
		}
	})
}

// start publishes the graph and starts a run of it.
func (p *process) start(g graph.Graph, id string) engine.Run {
	p.t.Helper()
	saved, err := p.SaveGraph(p.t.Context(), engine.SaveGraph{Graph: g})
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := p.StartRun(p.t.Context(), engine.StartRun{Graph: saved.Ref, RunID: id})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// await waits until a run ends or asks.
func (p *process) await(id string) engine.Run {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	r, err := p.AwaitRun(ctx, engine.AwaitRun{RunID: id})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// completions counts how often each node of a run was committed, and wants a log
// without a gap.
func (p *process) completions(r engine.Run) map[string]int {
	p.t.Helper()
	page, err := p.ListEvents(p.t.Context(), engine.ListEvents{RunID: r.ID, Limit: 1000})
	if err != nil {
		p.t.Fatal(err)
	}
	if int64(len(page.Events)) != r.EventSeq {
		p.t.Errorf("%s has %d events, its record counts %d", r.ID, len(page.Events), r.EventSeq)
	}
	n := map[string]int{}
	for i, e := range page.Events {
		if e.Seq != int64(i+1) {
			p.t.Errorf("%s: event %d where %d is expected", r.ID, e.Seq, i+1)
		}
		if _, ok := e.Payload.(run.NodeCompleted); ok {
			n[e.NodeID]++
		}
	}
	return n
}

// chain is a graph of nodes in a row, which all append to the field "log". Each
// node's implementation has the node's id.
func chain(t testing.TB, ids ...string) graph.Graph {
	t.Helper()
	edits := []graph.Edit{
		graph.PutField("log", graph.Field{Schema: schema.List(schema.String()), Reducer: reducer.Append()}),
		graph.PutField("answer", graph.Field{Schema: schema.String()}),
		graph.PutOutput("log", graph.Output{Source: "log"}),
		graph.PutOutput("answer", graph.Output{Source: "answer"}),
	}
	from := graph.Start
	for _, id := range ids {
		edits = append(edits,
			graph.PutNode(id, graph.Node{Implementation: id, Policies: graph.NodePolicies{Retry: &graph.Retry{MaxAttempts: 3, BackoffMS: 5}}}),
			graph.PutEdge("to-"+id, graph.Edge{From: []string{from}, To: id}))
		from = id
	}
	g, err := graph.New("chain", append(edits, graph.PutEdge("end", graph.Edge{From: []string{from}, To: graph.Finish}))...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// note appends the node's id to the log.
func note(ctx context.Context, _ node.Input) (node.Result, error) {
	a, _ := node.Info(ctx)
	return node.Write("log", a.NodeID), nil
}
