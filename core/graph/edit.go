package graph

import (
	"fmt"
	"maps"

	"github.com/docket-go/docket/core/value"
)

// Edit is one change of a graph, as a value: build it with PutNode,
// DeleteEdge, Rename … and hand it to New or Apply.
type Edit interface {
	// apply changes g, whose collections belong to the caller of Apply alone.
	apply(g *Graph) error
}

// New returns a graph with that id and the edits applied.
func New(id string, edits ...Edit) (Graph, error) {
	var r report
	r.name("id", id, "graph")
	if err := r.err(); err != nil {
		return Graph{}, err
	}
	return Graph{ID: id, SchemaVersion: SchemaVersion}.Apply(edits...)
}

// Apply returns g with the edits applied in order, all or none: on an error (an
// *Error) the result is g as it was. Success clears Diagnostics, since they were
// about another document. The result shares nothing mutable with the edits.
func (g Graph) Apply(edits ...Edit) (Graph, error) {
	next := g.collections()
	for i, e := range edits {
		if e == nil {
			return g, &Error{Code: CodeInvalidRecord, Message: fmt.Sprintf("edit number %d is nil", i+1)}
		}
		if err := e.apply(&next); err != nil {
			return g, err
		}
	}
	next.Diagnostics = nil
	return next.Clone(), nil
}

// collections copies the maps but not their records: edits replace records
// whole and never write into one.
func (g Graph) collections() Graph {
	g.Inputs = maps.Clone(g.Inputs)
	g.Fields = maps.Clone(g.Fields)
	g.Outputs = maps.Clone(g.Outputs)
	g.Nodes = maps.Clone(g.Nodes)
	g.Edges = maps.Clone(g.Edges)
	g.Metadata = maps.Clone(g.Metadata)
	return g
}

type editFunc func(*Graph) error

func (f editFunc) apply(g *Graph) error { return f(g) }

// collection is one kind of record and what is done alike for each kind.
type collection[T any] struct {
	name   string // its key in a document
	kind   string
	of     func(*Graph) *map[string]T
	normal func(T, *report, string) T
	clone  func(T) T
}

// put stores a record, new or in the place of the one with its id.
func (c collection[T]) put(id string, record T) Edit {
	return editFunc(func(g *Graph) error { return c.store(g, id, record) })
}

func (c collection[T]) store(g *Graph, id string, record T) error {
	record, err := c.check(id, record)
	if err != nil {
		return err
	}
	records := c.of(g)
	if *records == nil {
		*records = make(map[string]T)
	}
	(*records)[id] = record
	return nil
}

func (c collection[T]) check(id string, record T) (T, error) {
	var r report
	path := value.PathKey(c.name, id)
	r.name(path, id, c.kind)
	record = c.normal(record, &r, path)
	return record, r.err()
}

func (c collection[T]) update(id string, change func(T) T) Edit {
	return editFunc(func(g *Graph) error {
		old, ok := (*c.of(g))[id]
		if !ok {
			return c.absent(id, "update")
		}
		return c.store(g, id, change(c.clone(old)))
	})
}

func (c collection[T]) delete(id string) Edit {
	return editFunc(func(g *Graph) error {
		if _, ok := (*c.of(g))[id]; !ok {
			return c.absent(id, "delete")
		}
		delete(*c.of(g), id)
		return nil
	})
}

func (c collection[T]) absent(id, verb string) error {
	return &Error{
		Code: CodeNotFound, Path: value.PathKey(c.name, id),
		Message: fmt.Sprintf("there is no %s %q to %s", c.kind, id, verb),
	}
}

var (
	inputs = collection[Input]{
		name: "inputs", kind: "input", normal: Input.normal, clone: Input.Clone,
		of: func(g *Graph) *map[string]Input { return &g.Inputs },
	}
	fields = collection[Field]{
		name: "fields", kind: "field", normal: Field.normal, clone: Field.Clone,
		of: func(g *Graph) *map[string]Field { return &g.Fields },
	}
	outputs = collection[Output]{
		name: "outputs", kind: "output", normal: Output.normal, clone: Output.Clone,
		of: func(g *Graph) *map[string]Output { return &g.Outputs },
	}
	nodes = collection[Node]{
		name: "nodes", kind: "node", normal: Node.normal, clone: Node.Clone,
		of: func(g *Graph) *map[string]Node { return &g.Nodes },
	}
	edges = collection[Edge]{
		name: "edges", kind: "edge", normal: Edge.normal, clone: Edge.Clone,
		of: func(g *Graph) *map[string]Edge { return &g.Edges },
	}
)
