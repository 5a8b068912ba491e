package backend_test

import (
	"context"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/examples/backend"
)

// TestEngine runs a graph on the store: two nodes, one after the other.
func TestEngine(t *testing.T) {
	t.Parallel()
	registry, err := node.NewRegistry(map[string]node.Node{
		"double": node.Func(func(_ context.Context, in number) (number, error) { return number{in.N * 2}, nil }),
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(backend.New(), registry, engine.Config{Mode: engine.ModeManual})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := e.SaveGraph(t.Context(), engine.SaveGraph{Graph: twice(t)})
	if err != nil {
		t.Fatal(err)
	}
	started, err := e.StartRun(t.Context(), engine.StartRun{Graph: saved.Ref})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Drain(t.Context(), 100); err != nil {
		t.Fatal(err)
	}
	got, err := e.FetchRun(t.Context(), engine.FetchRun{RunID: started.ID})
	if err != nil || got.Status != run.Done || got.Output["n"] != int64(4) {
		t.Errorf("%s with %v, %v; want done with n = 4", got.Status, got.Output, err)
	}
}

type number struct {
	N int64 `docket:"n"`
}

// twice doubles a number two times.
func twice(t *testing.T) graph.Graph {
	t.Helper()
	g, err := graph.New("twice",
		graph.PutField("n", graph.Field{Schema: schema.Integer().WithDefault(int64(1))}),
		graph.PutNode("first", graph.Node{Implementation: "double"}),
		graph.PutNode("second", graph.Node{Implementation: "double"}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "first"}),
		graph.PutEdge("on", graph.Edge{From: []string{"first"}, To: "second"}),
		graph.PutEdge("end", graph.Edge{From: []string{"second"}, To: graph.Finish}),
		graph.PutOutput("n", graph.Output{Source: "n", Required: true}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
