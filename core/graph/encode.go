package graph

import (
	"errors"

	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// ToMap returns g as a normalised value in the interchange form. With a
// registry, every implementation must be known there; without one (nil) ids
// aren't checked. The error is an *Error.
func (g Graph) ToMap(reg *node.Registry) (map[string]any, error) {
	normal, found := g.Normalize()
	if len(found) > 0 {
		return nil, (&report{found: found}).err()
	}
	if reg != nil {
		if err := normal.registered(reg); err != nil {
			return nil, err
		}
	}
	return normal.document(), nil
}

// JSON returns the canonical bytes of ToMap.
func (g Graph) JSON(reg *node.Registry) ([]byte, error) {
	m, err := g.ToMap(reg)
	if err != nil {
		return nil, err
	}
	data, err := value.Encode(m)
	if err != nil {
		var at *value.Error
		if errors.As(err, &at) {
			return nil, &Error{Code: CodeInvalidRecord, Path: at.Path, Message: at.Message}
		}
		return nil, &Error{Code: CodeInvalidRecord, Message: err.Error()}
	}
	return data, nil
}

// Equal reports whether g and o are the same document. Diagnostics don't count.
// A graph that no document can hold equals nothing, itself included.
func (g Graph) Equal(o Graph) bool {
	a, err := g.ToMap(nil)
	if err != nil {
		return false
	}
	b, err := o.ToMap(nil)
	return err == nil && value.Equal(a, b)
}

func (g Graph) registered(reg *node.Registry) error {
	for _, id := range value.Keys(g.Nodes) {
		impl := g.Nodes[id].Implementation
		if impl == "" {
			continue
		}
		if _, ok := reg.Lookup(impl); !ok {
			path := value.PathKey(value.PathKey("nodes", id), "implementation")
			return &Error{Code: CodeUnregisteredImplementation, Path: path, Message: unregistered(impl)}
		}
	}
	return nil
}

// document writes a graph that is already in its one form.
func (g Graph) document() map[string]any {
	m := record{"id": g.ID, "schema_version": g.SchemaVersion}
	m.text("name", g.Name)
	m.text("description", g.Description)
	each(m, "inputs", g.Inputs, Input.document)
	each(m, "fields", g.Fields, Field.document)
	each(m, "outputs", g.Outputs, Output.document)
	each(m, "nodes", g.Nodes, Node.document)
	each(m, "edges", g.Edges, Edge.document)
	if g.Policies != (Policies{}) {
		policies := record{}
		policies.number("max_supersteps", g.Policies.MaxSupersteps)
		m["policies"] = map[string]any(policies)
	}
	m.object("metadata", g.Metadata)
	return m
}

func (in Input) document() record {
	m := record{}
	m.schema("schema", in.Schema)
	m.text("description", in.Description)
	m.object("metadata", in.Metadata)
	return m
}

func (f Field) document() record {
	m := record{}
	m.schema("schema", f.Schema)
	if !f.Reducer.Equal(reducer.Reducer{}) {
		m["reducer"] = f.Reducer.ToMap()
	}
	m.text("description", f.Description)
	m.object("metadata", f.Metadata)
	return m
}

func (o Output) document() record {
	m := record{}
	m.text("source", o.Source)
	if o.Required {
		m["required"] = true
	}
	m.schema("schema", o.Schema)
	m.text("description", o.Description)
	m.object("metadata", o.Metadata)
	return m
}

func (n Node) document() record {
	m := record{}
	m.text("implementation", n.Implementation)
	m.object("config", n.Config)
	if len(n.Branches) > 0 {
		groups := make(map[string]any, len(n.Branches))
		for _, name := range value.Keys(n.Branches) {
			groups[name] = list(n.Branches[name])
		}
		m["branches"] = groups
	}
	if n.Policies != (NodePolicies{}) {
		m["policies"] = map[string]any(n.Policies.document())
	}
	m.text("label", n.Label)
	m.text("description", n.Description)
	m.object("metadata", n.Metadata)
	return m
}

func (p NodePolicies) document() record {
	m := record{}
	m.number("timeout_ms", p.TimeoutMS)
	if p.Retry == nil {
		return m
	}
	retry := record{}
	retry.number("max_attempts", p.Retry.MaxAttempts)
	retry.number("backoff_ms", p.Retry.BackoffMS)
	retry.text("backoff", string(p.Retry.Backoff))
	retry.number("max_backoff_ms", p.Retry.MaxBackoffMS)
	if p.Retry.Jitter != 0 {
		// NaN and infinities never pass Normalize.
		retry["jitter"], _ = value.Normalize(p.Retry.Jitter)
	}
	m["retry"] = map[string]any(retry)
	return m
}

func (e Edge) document() record {
	m := record{"to": e.To}
	if e.Barrier() {
		m["from"] = list(e.From)
	} else {
		m["from"] = e.From[0]
	}
	if e.Guard != nil {
		m["guard"] = e.Guard.ToValue()
	}
	m.text("label", e.Label)
	m.text("source_handle", e.SourceHandle)
	m.text("target_handle", e.TargetHandle)
	m.object("metadata", e.Metadata)
	return m
}

// record is an object under construction; its methods leave out what is zero.
type record map[string]any

func (m record) text(key, s string) {
	if s != "" {
		m[key] = s
	}
}

func (m record) number(key string, n int64) {
	if n != 0 {
		m[key] = n
	}
}

func (m record) object(key string, v map[string]any) {
	if len(v) > 0 {
		m[key] = wrapLiteral(v)
	}
}

func (m record) schema(key string, s schema.Schema) {
	if !s.IsZero() {
		m[key] = wrapLiteral(s.ToMap())
	}
}

func each[T any](m record, key string, records map[string]T, document func(T) record) {
	if len(records) == 0 {
		return
	}
	out := make(map[string]any, len(records))
	for _, id := range value.Keys(records) {
		out[id] = map[string]any(document(records[id]))
	}
	m[key] = out
}

func list(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}
