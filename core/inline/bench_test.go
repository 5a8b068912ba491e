package inline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/inline"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
)

// benchGraph compiles a graph whose nodes all do the same.
func benchGraph(b *testing.B, do behaviour, edits ...graph.Edit) *compiler.Graph {
	b.Helper()
	doc, err := graph.New("bench", edits...)
	if err != nil {
		b.Fatal(err)
	}
	nodes := make(map[string]node.Node)
	for id := range doc.Nodes { // order-free: fills a map
		nodes[id] = struct {
			*scripted
			noConfig
		}{scripted: &scripted{do: do}}
	}
	reg, err := node.NewRegistry(nodes)
	if err != nil {
		b.Fatal(err)
	}
	g, _, err := compiler.Compile(doc, reg)
	if err != nil {
		b.Fatal(err)
	}
	return g
}

func chain(n int) []graph.Edit {
	edits := []graph.Edit{edge("e00", graph.Start, "n00")}
	for i := range n {
		id, next := fmt.Sprintf("n%02d", i), fmt.Sprintf("n%02d", i+1)
		if i == n-1 {
			next = graph.Finish
		}
		edits = append(edits, nodeOf(id), edge(fmt.Sprintf("e%02d", i+1), id, next))
	}
	return edits
}

func fan(n int) []graph.Edit {
	edits := []graph.Edit{nodeOf("a"), nodeOf("z"), edge("start", graph.Start, "a"), edge("end", "z", graph.Finish)}
	var all []string
	for i := range n {
		id := fmt.Sprintf("n%02d", i)
		all = append(all, id)
		edits = append(edits, nodeOf(id), edge("to-"+id, "a", id))
	}
	return append(edits, joinEdge("join", all, "z"))
}

func benchRuns(b *testing.B, g *compiler.Graph, input map[string]any) {
	b.ReportAllocs()
	for b.Loop() {
		r, err := inline.Start(g, input, inline.Config{})
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Drive(b.Context()); err != nil {
			b.Fatal(err)
		}
		if r.Status() != run.Done {
			b.Fatal(r.Status())
		}
	}
}

func BenchmarkOneNode(b *testing.B)     { benchRuns(b, benchGraph(b, silent, chain(1)...), nil) }
func BenchmarkChainOfTen(b *testing.B)  { benchRuns(b, benchGraph(b, silent, chain(10)...), nil) }
func BenchmarkFanOutEight(b *testing.B) { benchRuns(b, benchGraph(b, silent, fan(8)...), nil) }

func benchState(b *testing.B, size int) {
	text := strings.Repeat("x", 1000)
	var list []any
	for range max(size/1000, 1) {
		list = append(list, text)
	}
	edits := append(chain(10), field("log", words(), reducer.Append()), field("n", schema.Integer(), reducer.Sum()),
		graph.PutInput("seed", graph.Input{Schema: schema.List(schema.String())}))
	benchRuns(b, benchGraph(b, counts("n"), edits...), map[string]any{"seed": list})
}

func BenchmarkState1KB(b *testing.B) { benchState(b, 1_000) }
func BenchmarkState1MB(b *testing.B) { benchState(b, 1_000_000) }
