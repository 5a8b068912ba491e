package repotest

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"testing"

	"github.com/docket-go/docket/adapters/memory"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/engine"
)

// BenchmarkEngineRun is a whole durable run over the memory backend: start, every
// superstep stored, and the caller told.
func BenchmarkEngineRun(b *testing.B) {
	for _, steps := range []int{1, 10} {
		b.Run(strconv.Itoa(steps), func(b *testing.B) {
			store := memory.New(memory.Config{})
			defer store.Close()
			registry, err := node.NewRegistry(map[string]node.Node{"noop": node.HandlerFunc(
				func(context.Context, node.Input) (node.Result, error) { return node.Write("x", 1), nil })})
			if err != nil {
				b.Fatal(err)
			}
			edits := []graph.Edit{graph.PutField("x", graph.Field{Schema: schema.Integer()})}
			from := graph.Start
			for i := range steps {
				id := "n" + strconv.Itoa(i)
				edits = append(edits, graph.PutNode(id, graph.Node{Implementation: "noop"}),
					graph.PutEdge("e"+id, graph.Edge{From: []string{from}, To: id}))
				from = id
			}
			g, err := graph.New("bench", append(edits, graph.PutEdge("end", graph.Edge{From: []string{from}, To: graph.Finish}))...)
			if err != nil {
				b.Fatal(err)
			}
			e, err := engine.New(store, registry, engine.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
			if err != nil {
				b.Fatal(err)
			}
			ctx, stop := context.WithCancel(b.Context())
			done := make(chan error, 1)
			go func() { done <- e.Run(ctx) }()
			defer func() { stop(); <-done }()
			saved, err := e.SaveGraph(ctx, engine.SaveGraph{Graph: g})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				r, err := e.StartRun(ctx, engine.StartRun{Graph: saved.Ref})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := e.AwaitRun(ctx, engine.AwaitRun{RunID: r.ID}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
