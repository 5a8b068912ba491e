package compiler

import (
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/value"
)

// lower turns a graph without errors into its compiled form, from what checking
// it compiled.
func (c *checker) lower(ref graph.Ref) *Graph {
	out := &Graph{
		Ref: ref, Document: c.g, MaxSupersteps: c.g.Policies.MaxSupersteps, Executable: c.reg != nil,
		Inputs:  make([]Input, 0, len(c.g.Inputs)),
		Fields:  make([]Field, 0, len(c.g.Fields)),
		Outputs: make([]Output, 0, len(c.g.Outputs)),
		Nodes:   make([]Node, 0, len(c.g.Nodes)),
		Edges:   make([]Edge, 0, len(c.g.Edges)),
	}
	for _, name := range value.Keys(c.g.Inputs) {
		out.Inputs = append(out.Inputs, c.lowerInput(name))
	}
	for _, name := range value.Keys(c.g.Fields) {
		out.Fields = append(out.Fields, Field{Name: name, ID: RuntimeID(KindState, name), Reducer: c.fields[name]})
	}
	for _, name := range value.Keys(c.g.Outputs) {
		o := c.g.Outputs[name]
		_, fromInput := c.g.Inputs[o.Source]
		out.Outputs = append(out.Outputs, Output{
			Name: name, ID: RuntimeID(KindOutput, name), Source: o.Source, FromInput: fromInput,
			Required: o.Required, Schema: c.outputs[name],
		})
	}
	for _, id := range value.Keys(c.g.Nodes) {
		out.Nodes = append(out.Nodes, c.lowerNode(id))
	}
	for _, id := range value.Keys(c.g.Edges) {
		out.Edges = append(out.Edges, lowerEdge(id, c.g.Edges[id]))
	}
	out.connect()
	return out
}

func (c *checker) lowerInput(name string) Input {
	in := Input{
		Name: name, ID: RuntimeID(KindInput, name),
		Schema: c.inputs[name], Default: c.g.Inputs[name].Schema.Default,
	}
	if in.Default.Set {
		in.Default.Value = in.Schema.Materialize(in.Default.Value)
	}
	return in
}

func (c *checker) lowerNode(id string) Node {
	n := c.g.Nodes[id]
	out := Node{
		ID: id, RuntimeID: RuntimeID(KindNode, id), Implementation: n.Implementation,
		Config: n.Config, ConfigReader: value.NewReader(n.Config),
		Timeout: time.Duration(n.Policies.TimeoutMS) * time.Millisecond,
		Retry:   n.Policies.Retry,
	}
	if impl := c.impls[n.Implementation]; impl != nil {
		out.Impl = impl.node
	}
	return out
}

func lowerEdge(id string, e graph.Edge) Edge {
	return Edge{
		ID: id, RuntimeID: RuntimeID(KindEdge, id), Sources: e.From, Barrier: e.Barrier(),
		Target: e.To, Guard: e.Guard,
	}
}

// connect gives every node its edges. Edges are sorted, so each list is too.
func (g *Graph) connect() {
	for i := range g.Edges {
		e := &g.Edges[i]
		for _, source := range e.Sources {
			if source == graph.Start {
				g.StartEdges = append(g.StartEdges, e)
			} else if n, ok := g.Node(source); ok {
				n.Out = append(n.Out, e)
			}
		}
	}
}
