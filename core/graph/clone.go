package graph

import (
	"slices"

	"github.com/docket-go/docket/core/value"
)

// Clone returns a deep copy of g: mutating either changes nothing in the other.
func (g Graph) Clone() Graph {
	g.Inputs = cloneEach(g.Inputs, Input.Clone)
	g.Fields = cloneEach(g.Fields, Field.Clone)
	g.Outputs = cloneEach(g.Outputs, Output.Clone)
	g.Nodes = cloneEach(g.Nodes, Node.Clone)
	g.Edges = cloneEach(g.Edges, Edge.Clone)
	g.Metadata = value.CloneMap(g.Metadata)
	g.Diagnostics = slices.Clone(g.Diagnostics)
	return g
}

// Clone returns a deep copy of in.
func (in Input) Clone() Input {
	in.Schema = in.Schema.Clone()
	in.Metadata = value.CloneMap(in.Metadata)
	return in
}

// Clone returns a deep copy of f.
func (f Field) Clone() Field {
	f.Schema = f.Schema.Clone()
	f.Reducer = f.Reducer.Clone()
	f.Metadata = value.CloneMap(f.Metadata)
	return f
}

// Clone returns a deep copy of o.
func (o Output) Clone() Output {
	o.Schema = o.Schema.Clone()
	o.Metadata = value.CloneMap(o.Metadata)
	return o
}

// Clone returns a deep copy of n.
func (n Node) Clone() Node {
	n.Config = value.CloneMap(n.Config)
	n.Branches = cloneEach(n.Branches, slices.Clone[[]string])
	if n.Policies.Retry != nil {
		retry := *n.Policies.Retry
		n.Policies.Retry = &retry
	}
	n.Metadata = value.CloneMap(n.Metadata)
	return n
}

// Clone returns a deep copy of e.
func (e Edge) Clone() Edge {
	e.From = slices.Clone(e.From)
	if e.Guard != nil {
		g := e.Guard.Clone()
		e.Guard = &g
	}
	e.Metadata = value.CloneMap(e.Metadata)
	return e
}

func cloneEach[T any](records map[string]T, clone func(T) T) map[string]T {
	if records == nil {
		return nil
	}
	out := make(map[string]T, len(records))
	for id, record := range records { // order can't reach the copy
		out[id] = clone(record)
	}
	return out
}
