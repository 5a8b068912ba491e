package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Parse reads a JSON document. See FromMap.
func Parse(data []byte, reg *node.Registry) (Graph, error) {
	v, err := value.Decode(data)
	if err != nil {
		return Graph{}, invalidDocument(err)
	}
	return read(v, reg)
}

// FromMap reads the interchange form. It is strict: what this version doesn't
// know is an *Error with the path. With a registry, every implementation must be
// known there; without one (nil) only the structure is read. The result shares
// nothing with v.
func FromMap(v any, reg *node.Registry) (Graph, error) {
	normal, err := value.Normalize(v)
	if err == nil {
		return read(normal, reg)
	}
	var refused *value.Error
	if errors.As(err, &refused) && refused.Code == value.CodeTooDeep {
		// A document may be deeper than a value, since it holds values of any
		// depth. What ToMap returned has canonical bytes.
		if data, failed := value.Encode(v); failed == nil {
			return Parse(data, reg)
		}
	}
	return Graph{}, invalidDocument(err)
}

func invalidDocument(err error) *Error {
	e := &Error{Code: CodeInvalidDocument, Message: reason(err)}
	var at *value.Error
	if errors.As(err, &at) {
		e.Path = at.Path
		if at.Offset > 0 {
			e.Message = fmt.Sprintf("%s (byte %d)", at.Message, at.Offset)
		}
	}
	return e
}

// read owns v, a normalised value that nobody else holds.
func read(v any, reg *node.Registry) (Graph, error) {
	var d reader
	g := d.graph(v)
	if d.err != nil {
		return Graph{}, d.err
	}
	if reg == nil {
		return g, nil
	}
	for _, id := range value.Keys(g.Nodes) {
		impl := g.Nodes[id].Implementation
		if _, ok := reg.Lookup(impl); impl != "" && !ok {
			path := value.PathKey(value.PathKey("nodes", id), "implementation")
			return Graph{}, &Error{Code: CodeUnknownImplementation, Path: path, Message: unregistered(impl)}
		}
	}
	return g, nil
}

func (d *reader) graph(v any) Graph {
	root, ok := v.(map[string]any)
	if !ok {
		d.fail(CodeInvalidDocument, "", "a graph document must be an object")
		return Graph{}
	}
	// The version first: of another layout nothing else can be told.
	d.version(root)
	o := d.object(v, "", "id", "name", "description", "schema_version", "inputs", "fields",
		"outputs", "nodes", "edges", "policies", "metadata")
	g := Graph{
		ID: o.text("id"), Name: o.text("name"), Description: o.text("description"),
		SchemaVersion: SchemaVersion,
		Inputs:        readEach(o, "inputs", "input", d.input),
		Fields:        readEach(o, "fields", "field", d.field),
		Outputs:       readEach(o, "outputs", "output", d.output),
		Nodes:         readEach(o, "nodes", "node", d.node),
		Edges:         readEach(o, "edges", "edge", d.edge),
		Policies:      d.policies(o),
		Metadata:      o.values("metadata"),
	}
	d.name("id", g.ID, "graph")
	return g
}

func (d *reader) version(root map[string]any) {
	switch version := root["schema_version"].(type) {
	case nil:
		d.fail(CodeUnsupportedSchemaVersion, "schema_version", "is missing: write schema_version 1")
	case int64:
		if version != SchemaVersion {
			d.fail(CodeUnsupportedSchemaVersion, "schema_version", unsupportedVersion(version))
		}
	default:
		d.fail(CodeUnsupportedSchemaVersion, "schema_version", "must be an integer")
	}
}

func (d *reader) policies(o object) Policies {
	if !o.has("policies") {
		return Policies{}
	}
	p := o.child("policies", "max_supersteps")
	return Policies{MaxSupersteps: p.integer("max_supersteps")}
}

func (d *reader) input(v any, path string) Input {
	o := d.object(v, path, "schema", "description", "metadata")
	return Input{Schema: d.schema(o), Description: o.text("description"), Metadata: o.values("metadata")}
}

func (d *reader) field(v any, path string) Field {
	o := d.object(v, path, "schema", "reducer", "description", "metadata")
	return Field{
		Schema: d.schema(o), Reducer: d.reducer(o),
		Description: o.text("description"), Metadata: o.values("metadata"),
	}
}

func (d *reader) output(v any, path string) Output {
	o := d.object(v, path, "source", "required", "schema", "description", "metadata")
	return Output{
		Source: o.text("source"), Required: o.boolean("required"), Schema: d.schema(o),
		Description: o.text("description"), Metadata: o.values("metadata"),
	}
}

func (d *reader) node(v any, path string) Node {
	o := d.object(v, path, "implementation", "config", "branches", "policies", "label", "description", "metadata")
	n := Node{
		Implementation: o.text("implementation"), Config: o.values("config"),
		Branches: d.branches(o), Policies: d.nodePolicies(o),
		Label: o.text("label"), Description: o.text("description"), Metadata: o.values("metadata"),
	}
	if n.Implementation != "" {
		d.check(func(r *report) { r.implementation(o.at("implementation"), n.Implementation) })
	}
	return n
}

func (d *reader) branches(o object) map[string][]string {
	groups := o.raw("branches")
	if len(groups) == 0 {
		return nil
	}
	out := make(map[string][]string, len(groups))
	for _, name := range value.Keys(groups) {
		path := value.PathKey(o.at("branches"), name)
		d.check(func(r *report) { r.branchName(path, name) })
		out[name] = d.texts(groups[name], path)
	}
	return out
}

func (d *reader) nodePolicies(o object) NodePolicies {
	if !o.has("policies") {
		return NodePolicies{}
	}
	p := o.child("policies", "timeout_ms", "retry")
	out := NodePolicies{TimeoutMS: p.integer("timeout_ms")}
	if !p.has("retry") {
		return out
	}
	r := p.child("retry", "max_attempts", "backoff_ms", "backoff", "max_backoff_ms", "jitter")
	out.Retry = &Retry{
		MaxAttempts: r.integer("max_attempts"), BackoffMS: r.integer("backoff_ms"),
		Backoff: Backoff(r.text("backoff")), MaxBackoffMS: r.integer("max_backoff_ms"),
		Jitter: r.number("jitter"),
	}
	switch out.Retry.Backoff {
	case "", Exponential:
	case Constant:
		out.Retry.Backoff = ""
	default:
		d.fail(CodeInvalidPolicy, r.at("backoff"), unknownBackoff(string(out.Retry.Backoff)))
	}
	return out
}

func (d *reader) edge(v any, path string) Edge {
	o := d.object(v, path, "from", "to", "guard", "label", "source_handle", "target_handle", "metadata")
	e := Edge{
		From: d.sources(o), To: o.text("to"), Guard: d.guard(o), Label: o.text("label"),
		SourceHandle: o.text("source_handle"), TargetHandle: o.text("target_handle"),
		Metadata: o.values("metadata"),
	}
	if e.To == "" {
		d.fail(CodeInvalidRecord, o.at("to"), "an edge needs a target: a node or $finish")
	}
	return e
}

// sources accepts one id or a list; a list of one is the single form.
func (d *reader) sources(o object) []string {
	var from []string
	switch v := o.m["from"].(type) {
	case string:
		from = []string{v}
	case nil:
	case []any:
		from = d.texts(v, o.at("from"))
	default:
		d.fail(CodeInvalidDocument, o.at("from"), "must be a string or a list of strings")
		return nil
	}
	d.check(func(r *report) { from = r.sources(o.at("from"), from) })
	return from
}

func (d *reader) guard(o object) *guard.Guard {
	v, ok := o.m["guard"]
	if !ok {
		return nil
	}
	g, err := guard.FromValue(v)
	if err != nil {
		d.check(func(r *report) { r.fail(CodeInvalidGuard, o.at("guard"), err) })
		return nil
	}
	d.check(func(r *report) { r.guard(o.at("guard"), &g) })
	return &g
}

func (d *reader) schema(o object) schema.Schema {
	if !o.has("schema") {
		return schema.Schema{}
	}
	plain, err := unwrapLiteral(o.m["schema"], o.at("schema"))
	if err != nil {
		d.stop(err)
		return schema.Schema{}
	}
	if !fits(plain, value.MaxDepth) {
		d.fail(CodeInvalidSchema, o.at("schema"), tooDeep)
		return schema.Schema{}
	}
	s, err := schema.FromMap(plain)
	if err != nil {
		d.check(func(r *report) { r.fail(CodeInvalidSchema, o.at("schema"), err) })
	}
	return s
}

func (d *reader) reducer(o object) reducer.Reducer {
	if !o.has("reducer") {
		return reducer.Reducer{}
	}
	red, err := reducer.FromMap(o.m["reducer"])
	if err != nil {
		d.check(func(r *report) { r.fail(CodeInvalidReducer, o.at("reducer"), err) })
	}
	if red.Equal(reducer.Reducer{}) {
		return reducer.Reducer{}
	}
	return red
}

func (d *reader) name(path, id, kind string) {
	d.check(func(r *report) { r.name(path, id, kind) })
}

func readEach[T any](o object, collection, kind string, one func(any, string) T) map[string]T {
	records := o.raw(collection)
	if len(records) == 0 {
		return nil
	}
	out := make(map[string]T, len(records))
	for _, id := range value.Keys(records) {
		path := value.PathKey(o.at(collection), id)
		o.d.name(path, id, kind)
		out[id] = one(records[id], path)
	}
	return out
}

func (d *reader) texts(v any, path string) []string {
	items, ok := v.([]any)
	if !ok {
		d.fail(CodeInvalidDocument, path, "must be a list of strings")
		return nil
	}
	out := make([]string, 0, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			d.fail(CodeInvalidDocument, value.PathIndex(path, i), "must be a string")
			return nil
		}
		out = append(out, s)
	}
	return slices.Clip(out)
}
