package main

import (
	_ "embed"
	"fmt"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/value"
)

//go:embed graph.json
var graphJSON []byte

//go:embed input.json
var inputJSON []byte

// readDocuments returns the graph, with the implementations it names found in
// the registry, and the input of the run.
func readDocuments(implementations *node.Registry) (graph.Graph, map[string]any, error) {
	g, err := graph.Parse(graphJSON, implementations)
	if err != nil {
		return graph.Graph{}, nil, fmt.Errorf("graph.json: %w", err)
	}
	input, err := value.DecodeObject(inputJSON)
	if err != nil {
		return graph.Graph{}, nil, fmt.Errorf("input.json: %w", err)
	}
	return g, input, nil
}
