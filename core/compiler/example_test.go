package compiler_test

import (
	"fmt"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/schema"
)

func Example() {
	reg, err := node.NewRegistry(map[string]node.Node{
		"greet": &plain{config: schema.Object(map[string]schema.Schema{"greeting": schema.String().WithDefault("hello")})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := graph.New("greet",
		graph.PutNode("hello", graph.Node{Implementation: "greet"}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "hello"}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	published, advice, err := compiler.Publish(g, reg)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range advice {
		fmt.Println(d)
	}
	fmt.Println(published.Ref)
	fmt.Println(published.Graph.Nodes["hello"].Config)
	compiled, err := compiler.Load(published.Ref, published.Document, reg)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(compiled.Nodes[0].RuntimeID, compiled.Executable)
	// Output:
	// warning no_terminal_edge at edges: no edge leads to $finish: mark where the graph ends
	// warning dead_end_node at nodes.hello: no edge leads on from it: if its path ends here, say so with an edge to $finish
	// greet@fc3f402f1ec5
	// map[greeting:hello]
	// node:hello true
}
