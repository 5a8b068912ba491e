package compiler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
)

// wide is a graph of n parallel chains, each of two nodes that write one field,
// all joined by barriers over neighbours and with a guarded way back.
func wide(n int) graph.Graph {
	g := chain()
	g.ID = "wide"
	for i := range n {
		head, tail := fmt.Sprintf("h%d", i), fmt.Sprintf("t%d", i)
		g.Nodes[head], g.Nodes[tail] = graph.Node{Implementation: "writes-x"}, graph.Node{Implementation: "also-x"}
		g.Edges["begin-"+head] = edge(head, "a")
		g.Edges["next-"+head] = edge(tail, head)
		g.Edges["back-"+head] = guarded("a", tail)
		g.Edges["join-"+head] = edge(graph.Finish, tail, fmt.Sprintf("t%d", (i+1)%n))
	}
	return g
}

// An editor checks on every change, so a large graph must not take long. The
// bound is generous: it is there to catch another order of growth.
func TestLargeGraphs(t *testing.T) {
	t.Parallel()
	reg := registry(t, implementations())
	for _, n := range []int{300, 2000} {
		began := time.Now()
		found := compiler.Check(wide(n), reg)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%d nodes took %v", 2*n, took)
		} else {
			t.Logf("%d nodes took %v and gave %d diagnostics", 2*n, took, len(found))
		}
	}
}

// A long chain must not overflow anything that walks it.
func TestLongChain(t *testing.T) {
	t.Parallel()
	g := chain()
	last := "a"
	for i := range 20000 {
		id := fmt.Sprintf("n%d", i)
		g.Nodes[id] = graph.Node{Implementation: "nop"}
		g.Edges["to-"+id] = edge(id, last)
		last = id
	}
	g.Edges["last"] = edge(graph.Finish, last)
	if found := compiler.Check(g, nil); len(found) > 0 {
		t.Errorf("got %v", found[:1])
	}
}
