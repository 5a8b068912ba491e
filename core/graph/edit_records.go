package graph

import "github.com/docket-go/docket/core/value"

// PutInput adds or replaces an input.
func PutInput(name string, in Input) Edit { return inputs.put(name, in) }

// UpdateInput replaces an input by what change makes of a copy of it.
func UpdateInput(name string, change func(Input) Input) Edit { return inputs.update(name, change) }

// DeleteInput removes an input.
func DeleteInput(name string) Edit { return inputs.delete(name) }

// PutField adds or replaces a state field.
func PutField(name string, f Field) Edit { return fields.put(name, f) }

// UpdateField replaces a state field by what change makes of a copy of it.
func UpdateField(name string, change func(Field) Field) Edit { return fields.update(name, change) }

// DeleteField removes a state field.
func DeleteField(name string) Edit { return fields.delete(name) }

// PutOutput adds or replaces an output.
func PutOutput(name string, o Output) Edit { return outputs.put(name, o) }

// UpdateOutput replaces an output by what change makes of a copy of it.
func UpdateOutput(name string, change func(Output) Output) Edit { return outputs.update(name, change) }

// DeleteOutput removes an output.
func DeleteOutput(name string) Edit { return outputs.delete(name) }

// PutNode adds or replaces a node, and declares the inputs and fields that come
// with it.
func PutNode(id string, n Node, declared ...Declaration) Edit {
	return with(declared, nodes.put(id, n))
}

// UpdateNode replaces a node by what change makes of a copy of it, and declares
// the inputs and fields that come with it.
func UpdateNode(id string, change func(Node) Node, declared ...Declaration) Edit {
	return with(declared, nodes.update(id, change))
}

// DeleteNode removes a node. Inputs and fields that were declared with it stay:
// others may use them. So do its edges, until their own edit.
func DeleteNode(id string) Edit { return nodes.delete(id) }

// PutEdge adds or replaces an edge.
func PutEdge(id string, e Edge) Edit { return edges.put(id, e) }

// UpdateEdge replaces an edge by what change makes of a copy of it.
func UpdateEdge(id string, change func(Edge) Edge) Edit { return edges.update(id, change) }

// DeleteEdge removes an edge. Branch groups that list it are left alone.
func DeleteEdge(id string) Edit { return edges.delete(id) }

// Declaration is an input or a field that an edit needs to be there. Declaring
// what is there already, identically, changes nothing; a different one under the
// same name is an error. A Declaration is itself an Edit.
type Declaration struct{ edit func(*Graph) error }

func (d Declaration) apply(g *Graph) error { return d.edit(g) }

// DeclareInput declares an input.
func DeclareInput(name string, in Input) Declaration {
	return declare(inputs, name, in, Input.document, func(g *Graph) bool { _, taken := g.Fields[name]; return taken })
}

// DeclareField declares a state field.
func DeclareField(name string, f Field) Declaration {
	return declare(fields, name, f, Field.document, func(g *Graph) bool { _, taken := g.Inputs[name]; return taken })
}

func declare[T any](c collection[T], name string, record T, document func(T) record, taken func(*Graph) bool) Declaration {
	return Declaration{func(g *Graph) error {
		if taken(g) {
			return conflict(c.name, name, "inputs and fields share one namespace and the other kind has this name")
		}
		old, ok := (*c.of(g))[name]
		if !ok {
			return c.store(g, name, record)
		}
		old, err := c.check(name, old)
		if err != nil {
			return err
		}
		same, err := c.check(name, record)
		if err != nil {
			return err
		}
		if !value.Equal(map[string]any(document(old)), map[string]any(document(same))) {
			return conflict(c.name, name, "it is declared differently already: use the same declaration or another name")
		}
		return nil
	}}
}

func conflict(collection, name, message string) error {
	return &Error{Code: CodeConflict, Path: value.PathKey(collection, name), Message: message}
}

func with(declared []Declaration, edit Edit) Edit {
	return editFunc(func(g *Graph) error {
		for _, d := range declared {
			if err := d.apply(g); err != nil {
				return err
			}
		}
		return edit.apply(g)
	})
}
