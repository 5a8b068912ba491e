package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/node"
)

// flaws are edits that are legal one by one (an editor passes through such
// states) and make a graph that can't be published.
func flaws() []graph.Edit {
	typo := guard.Changed("remark")
	return []graph.Edit{
		graph.DeleteNode("book"),
		graph.DeleteField("booking"),
		graph.UpdateNode("decide", func(n graph.Node) graph.Node {
			n.Config = map[string]any{"limit": "a lot"}
			return n
		}),
		graph.UpdateNode("screen", func(n graph.Node) graph.Node {
			n.Implementation = "text.scan"
			return n
		}),
		graph.PutEdge("again", graph.Edge{From: []string{"decide"}, To: "screen", Guard: &typo}),
		graph.PutNode("audit", graph.Node{Implementation: "claim.decide"}), // nothing leads there: a warning
	}
}

// expected are the codes that the compiler must find, in its order.
var expected = []string{
	compiler.CodeUnknownGuardField,
	compiler.CodeUnknownEdgeTarget,
	compiler.CodeUnknownEdgeSource,
	compiler.CodeInvalidNodeConfig,
	compiler.CodeUnregisteredImplementation,
	compiler.CodeUnknownOutputSource,
}

func showFlaws(w io.Writer, g graph.Graph, reg *node.Registry) error {
	flawed, err := g.Apply(flaws()...)
	if err != nil {
		return err
	}
	var codes []string
	for _, d := range compiler.Check(flawed, reg) {
		fmt.Fprintln(w, d)
		if d.Severity == graph.SeverityError {
			codes = append(codes, d.Code)
		}
	}
	if !slices.Equal(codes, expected) {
		return fmt.Errorf("the flawed graph has the errors %v, want %v", codes, expected)
	}
	if sound := compiler.Check(g, reg); len(sound) > 0 {
		return fmt.Errorf("the sound graph has findings: %v", sound)
	}
	return nil
}
