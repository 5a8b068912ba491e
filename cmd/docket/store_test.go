package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	sqlite "github.com/docket-go/docket/adapters/sqlite-experimental"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
)

// testGraph asks one question and then prints the answer, unless it is "jam".
func testGraph(t *testing.T) (graph.Graph, *node.Registry) {
	t.Helper()
	registry, err := node.NewRegistry(map[string]node.Node{
		"ask": node.HandlerFunc(func(ctx context.Context, _ node.Input) (node.Result, error) {
			if self, _ := node.Info(ctx); len(self.Answers) > 0 {
				return node.Result{}, nil
			}
			return node.Ask(node.Interrupt{Field: "answer", Metadata: map[string]any{"question": "What now?"}}), nil
		}),
		"print": node.HandlerFunc(func(_ context.Context, in node.Input) (node.Result, error) {
			if answer, _ := in.State.String("answer"); answer == "jam" {
				return node.Result{}, node.Permanent(errors.New("paper jam"))
			}
			return node.Result{}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.New("letter",
		graph.PutField("answer", graph.Field{Schema: schema.String().Length(2, 8)}),
		graph.PutOutput("said", graph.Output{Source: "answer"}),
		graph.PutNode("ask", graph.Node{Implementation: "ask"}),
		graph.PutNode("print", graph.Node{Implementation: "print"}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "ask"}),
		graph.PutEdge("answered", graph.Edge{From: []string{"ask"}, To: "print"}),
		graph.PutEdge("end", graph.Edge{From: []string{"print"}, To: graph.Finish}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return g, registry
}

// testStore is a store with runs, and the engine that made them.
type testStore struct {
	t      *testing.T
	flags  []string // that say which store it is
	engine *engine.Engine
	store  ports.Backend
	ref    graph.Ref
}

// stores make a store of each kind that holds the published graph and no run.
var stores = map[string]func(*testing.T) *testStore{"sqlite": newSQLite, "postgres": newPostgres}

func onEachStore(t *testing.T, test func(*testing.T, *testStore)) {
	for kind, open := range stores {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// on completes a command line by the flags of the store.
func (s *testStore) on(args ...string) []string { return append(args, s.flags...) }

func newSQLite(t *testing.T) *testStore {
	t.Helper()
	path := filepath.Join(t.TempDir(), "docket.db")
	backend, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	return fill(t, backend, []string{"--store", path})
}

// fill publishes the graph for two owners.
func fill(t *testing.T, backend ports.Backend, flags []string) *testStore {
	t.Helper()
	s := &testStore{t: t, flags: flags, store: backend}
	g, registry := testGraph(t)
	var err error
	if s.engine, err = engine.New(backend, registry, engine.Config{Mode: engine.ModeManual, Tenancy: engine.TenancyOptional}); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{"", "acme"} {
		saved, err := s.engine.SaveGraph(t.Context(), engine.SaveGraph{Tenant: tenant, Graph: g})
		if err != nil {
			t.Fatal(err)
		}
		s.ref = saved.Ref
	}
	return s
}

// start starts a run and drives it to its question.
func (s *testStore) start(tenant, id string) {
	s.t.Helper()
	if _, err := s.engine.StartRun(s.t.Context(), engine.StartRun{Tenant: tenant, Graph: s.ref, RunID: id}); err != nil {
		s.t.Fatal(err)
	}
	s.drain()
}

func (s *testStore) drain() {
	s.t.Helper()
	if _, err := s.engine.Drain(s.t.Context(), 100); err != nil {
		s.t.Fatal(err)
	}
}

// poison takes a due run out of delivery by claiming it with a budget of one,
// until the first claim has run out and the second need poisons.
func (s *testStore) poison(id string) {
	s.t.Helper()
	if _, err := s.engine.StartRun(s.t.Context(), engine.StartRun{Graph: s.ref, RunID: id}); err != nil {
		s.t.Fatal(err)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-tick.C {
		claimed, err := s.store.ClaimRuns(s.t.Context(), ports.ClaimRuns{
			Scope: ports.System(), Limit: 10, TTL: time.Millisecond, MaxAttempts: 1, Now: time.Now(),
		})
		if err != nil {
			s.t.Fatal(err)
		}
		if len(claimed.Poisoned) > 0 {
			return
		}
	}
	s.t.Fatalf("%s isn't poisoned", id)
}
