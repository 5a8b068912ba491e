package compiler

import (
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Graph is a compiled graph: what the superstep machine runs. It is immutable
// and safe for concurrent use; every slice is sorted by id in byte order.
type Graph struct {
	Ref           graph.Ref // Hash is empty when compiled without a registry
	Document      graph.Graph
	Inputs        []Input
	Fields        []Field
	Outputs       []Output
	Nodes         []Node
	Edges         []Edge
	StartEdges    []*Edge
	MaxSupersteps int64 // 0: none
	Executable    bool  // every node has its implementation
}

// Input is one compiled run input.
type Input struct {
	Name    string
	ID      string // input:NAME
	Schema  *schema.Validator
	Default value.Optional
}

// Field is one compiled state field.
type Field struct {
	Name    string
	ID      string // state:NAME
	Reducer *reducer.Field
}

// Output is one compiled projection.
type Output struct {
	Name      string
	ID        string // output:NAME
	Source    string
	FromInput bool // Source names an input, else a field
	Required  bool
	Schema    *schema.Validator // nil: none of its own
}

// Node is one compiled node.
type Node struct {
	ID             string
	RuntimeID      string // node:ID
	Implementation string
	Impl           node.Node // nil unless the graph is executable
	Config         map[string]any
	ConfigReader   value.Reader
	Timeout        time.Duration // 0: the host's maximum
	Retry          *graph.Retry  // nil: one attempt
	Out            []*Edge       // sorted by id, the barriers that it feeds included
}

// Edge is one compiled edge.
type Edge struct {
	ID        string
	RuntimeID string   // edge:ID
	Sources   []string // sorted; [$start] for a start edge
	Barrier   bool
	Target    string // a node or $finish
	Guard     *guard.Guard
}

// Node returns the node with that id.
func (g *Graph) Node(id string) (*Node, bool) {
	i, ok := slices.BinarySearchFunc(g.Nodes, id, func(n Node, id string) int { return strings.Compare(n.ID, id) })
	if !ok {
		return nil, false
	}
	return &g.Nodes[i], true
}

// Field returns the state field with that name.
func (g *Graph) Field(name string) (*Field, bool) {
	i, ok := slices.BinarySearchFunc(g.Fields, name, func(f Field, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return nil, false
	}
	return &g.Fields[i], true
}

// Input returns the input with that name.
func (g *Graph) Input(name string) (*Input, bool) {
	i, ok := slices.BinarySearchFunc(g.Inputs, name, func(in Input, name string) int { return strings.Compare(in.Name, name) })
	if !ok {
		return nil, false
	}
	return &g.Inputs[i], true
}

// Output returns the output with that name.
func (g *Graph) Output(name string) (*Output, bool) {
	i, ok := slices.BinarySearchFunc(g.Outputs, name, func(o Output, name string) int { return strings.Compare(o.Name, name) })
	if !ok {
		return nil, false
	}
	return &g.Outputs[i], true
}

// Edge returns the edge with that id.
func (g *Graph) Edge(id string) (*Edge, bool) {
	i, ok := slices.BinarySearchFunc(g.Edges, id, func(e Edge, id string) int { return strings.Compare(e.ID, id) })
	if !ok {
		return nil, false
	}
	return &g.Edges[i], true
}
