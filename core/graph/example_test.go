package graph_test

import (
	"fmt"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/schema"
)

func Example() {
	done := guard.Equals(guard.Field("verdict"), "approve")
	again := guard.Not(done)
	g, err := graph.New("review",
		graph.PutNode("write", graph.Node{Implementation: "write"}),
		graph.PutNode("judge", graph.Node{Implementation: "judge"},
			graph.DeclareField("verdict", graph.Field{Schema: schema.Enum("approve", "reject")})),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "write"}),
		graph.PutEdge("submit", graph.Edge{From: []string{"write"}, To: "judge"}),
		graph.PutEdge("retry", graph.Edge{From: []string{"judge"}, To: "write", Guard: &again}),
		graph.PutEdge("end", graph.Edge{From: []string{"judge"}, To: graph.Finish, Guard: &done}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(g.Mermaid(graph.Marks{"write": graph.MarkDone, "judge": graph.MarkWaiting}))
	// Output:
	// flowchart TD
	//     start(["start"])
	//     n_judge["judge"]:::waiting
	//     n_write["write"]:::done
	//     finish(["finish"])
	//     start --> n_write
	//     n_judge -->|"equals(verdict, #quot;approve#quot;)"| finish
	//     n_judge -->|"not(equals(verdict, #quot;approve#quot;))"| n_write
	//     n_write --> n_judge
	//     classDef done fill:#d3f0d8,stroke:#2e7d32,color:#000
	//     classDef waiting fill:#fff1c2,stroke:#b26a00,color:#000,stroke-dasharray:6 3
}

func ExampleGraph_Apply() {
	g, _ := graph.New("g", graph.PutNode("a", graph.Node{Implementation: "a"}))
	_, err := g.Apply(graph.DeleteNode("a"), graph.DeleteNode("b"))
	fmt.Println(err)
	fmt.Println(len(g.Nodes), "node")
	// Output:
	// graph: not_found at nodes.b: there is no node "b" to delete
	// 1 node
}
