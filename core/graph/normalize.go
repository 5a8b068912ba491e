package graph

import (
	"errors"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Normalize returns a deep copy of g in its one form (values normalised, sources
// sorted, what says nothing left out) and every reason why some record of g
// can't be part of a document. It does not ask whether the graph runs.
func (g Graph) Normalize() (Graph, []Diagnostic) {
	var r report
	r.name("id", g.ID, "graph")
	r.text("", "name", g.Name)
	r.text("", "description", g.Description)
	if g.SchemaVersion == 0 {
		g.SchemaVersion = SchemaVersion
	}
	if g.SchemaVersion != SchemaVersion {
		r.add(CodeUnsupportedSchemaVersion, "schema_version", unsupportedVersion(g.SchemaVersion))
	}
	g.Inputs = normalEach(&r, "inputs", "input", g.Inputs, Input.normal)
	g.Fields = normalEach(&r, "fields", "field", g.Fields, Field.normal)
	g.Outputs = normalEach(&r, "outputs", "output", g.Outputs, Output.normal)
	g.Nodes = normalEach(&r, "nodes", "node", g.Nodes, Node.normal)
	g.Edges = normalEach(&r, "edges", "edge", g.Edges, Edge.normal)
	g.Metadata = r.object("metadata", g.Metadata)
	g.Diagnostics = slices.Clone(g.Diagnostics)
	SortDiagnostics(r.found)
	return g, r.found
}

// report collects what keeps records out of a document.
type report struct{ found []Diagnostic }

func (r *report) add(code, path, message string) {
	r.found = append(r.found, Diagnostic{Code: code, Severity: SeverityError, Path: path, Message: message})
}

// err returns the first finding as the error of an edit or a write.
func (r *report) err() error {
	if len(r.found) == 0 {
		return nil
	}
	SortDiagnostics(r.found)
	d := r.found[0]
	return &Error{Code: d.Code, Path: d.Path, Message: d.Message}
}

func normalEach[T any](r *report, collection, kind string, records map[string]T, normal func(T, *report, string) T) map[string]T {
	if len(records) == 0 {
		return nil
	}
	out := make(map[string]T, len(records))
	for _, id := range value.Keys(records) {
		path := value.PathKey(collection, id)
		r.name(path, id, kind)
		out[id] = normal(records[id], r, path)
	}
	return out
}

func (in Input) normal(r *report, path string) Input {
	r.text(path, "description", in.Description)
	in.Schema = r.schema(value.PathKey(path, "schema"), in.Schema)
	in.Metadata = r.object(value.PathKey(path, "metadata"), in.Metadata)
	return in
}

func (f Field) normal(r *report, path string) Field {
	r.text(path, "description", f.Description)
	f.Schema = r.schema(value.PathKey(path, "schema"), f.Schema)
	f.Reducer = r.reducer(value.PathKey(path, "reducer"), f.Reducer)
	f.Metadata = r.object(value.PathKey(path, "metadata"), f.Metadata)
	return f
}

func (o Output) normal(r *report, path string) Output {
	r.text(path, "source", o.Source)
	r.text(path, "description", o.Description)
	o.Schema = r.schema(value.PathKey(path, "schema"), o.Schema)
	o.Metadata = r.object(value.PathKey(path, "metadata"), o.Metadata)
	return o
}

func (n Node) normal(r *report, path string) Node {
	r.text(path, "label", n.Label)
	r.text(path, "description", n.Description)
	if n.Implementation != "" {
		r.implementation(value.PathKey(path, "implementation"), n.Implementation)
	}
	n.Config = r.object(value.PathKey(path, "config"), n.Config)
	n.Branches = r.branches(value.PathKey(path, "branches"), n.Branches)
	n.Policies = n.Policies.normal(r, value.PathKey(path, "policies"))
	n.Metadata = r.object(value.PathKey(path, "metadata"), n.Metadata)
	return n
}

func (p NodePolicies) normal(r *report, path string) NodePolicies {
	if p.Retry == nil {
		return p
	}
	retry := *p.Retry
	path = value.PathKey(path, "retry")
	switch retry.Backoff {
	case "", Constant:
		retry.Backoff = ""
	case Exponential:
	default:
		r.add(CodeInvalidPolicy, value.PathKey(path, "backoff"), unknownBackoff(string(retry.Backoff)))
	}
	if math.IsNaN(retry.Jitter) || math.IsInf(retry.Jitter, 0) {
		r.add(CodeInvalidPolicy, value.PathKey(path, "jitter"), "must be a number from 0 to 1")
	}
	p.Retry = &retry
	return p
}

func (e Edge) normal(r *report, path string) Edge {
	r.text(path, "to", e.To)
	r.text(path, "label", e.Label)
	r.text(path, "source_handle", e.SourceHandle)
	r.text(path, "target_handle", e.TargetHandle)
	e.From = r.sources(value.PathKey(path, "from"), e.From)
	if e.To == "" {
		r.add(CodeInvalidRecord, value.PathKey(path, "to"), "an edge needs a target: a node or $finish")
	}
	e.Guard = r.guard(value.PathKey(path, "guard"), e.Guard)
	e.Metadata = r.object(value.PathKey(path, "metadata"), e.Metadata)
	return e
}

// sources returns from as a sorted copy; the order of a barrier's sources says
// nothing.
func (r *report) sources(path string, from []string) []string {
	if len(from) == 0 {
		r.add(CodeInvalidRecord, path, "an edge needs a source: $start, a node, or a list of nodes")
		return nil
	}
	for i, id := range from {
		switch {
		case id == "":
			r.add(CodeInvalidRecord, value.PathIndex(path, i), "a source can't be empty")
		case !utf8.ValidString(id):
			r.add(CodeInvalidRecord, value.PathIndex(path, i), notUTF8)
		}
	}
	return slices.Sorted(slices.Values(from))
}

func (r *report) branches(path string, groups map[string][]string) map[string][]string {
	if len(groups) == 0 {
		return nil
	}
	out := make(map[string][]string, len(groups))
	for _, name := range value.Keys(groups) {
		at := value.PathKey(path, name)
		r.branchName(at, name)
		for i, id := range groups[name] {
			if !utf8.ValidString(id) {
				r.add(CodeInvalidRecord, value.PathIndex(at, i), notUTF8)
			}
		}
		out[name] = slices.Clone(groups[name])
	}
	return out
}

func (r *report) branchName(path, name string) {
	if name == "on_error" {
		r.add(CodeReservedOnError, path, onErrorReserved)
		return
	}
	if err := value.CheckName(name); err != nil {
		r.add(CodeInvalidRecord, path, "branch group: "+reason(err))
	}
}

func (r *report) guard(path string, g *guard.Guard) *guard.Guard {
	if g == nil {
		return nil
	}
	if !shallow(*g, guard.MaxDepth) {
		r.add(CodeInvalidGuard, path, "guards nest too deep")
		return nil
	}
	out := g.Clone()
	if at, err := normalGuard(&out, path); err != nil {
		r.add(CodeInvalidGuard, at, reason(err))
		return nil
	}
	reasons := out.Check(func(string) bool { return true })
	for _, why := range schema.Within(path, reasons) {
		r.add(why.Code, why.Path, why.Message)
	}
	if len(reasons) == 0 && !fits(out.ToValue(), value.MaxDepth) {
		r.add(CodeInvalidGuard, path, tooDeep)
	}
	return &out
}

// shallow reports whether g nests at most depth levels; a guard that (through a
// shared slice) contains itself is refused before anything walks it.
func shallow(g guard.Guard, depth int) bool {
	if depth < 0 {
		return false
	}
	for _, sub := range g.Guards {
		if !shallow(sub, depth-1) {
			return false
		}
	}
	return true
}

func normalGuard(g *guard.Guard, path string) (string, error) {
	refs := []*guard.Ref{&g.Ref, g.Value.Ref}
	for _, ref := range refs {
		if ref == nil || len(ref.Path) == 0 {
			continue
		}
		segments, err := value.Normalize(ref.Path)
		if err != nil {
			return path, err
		}
		ref.Path = segments.([]any)
	}
	literal, err := value.Normalize(g.Value.Literal)
	if err != nil {
		return path, err
	}
	g.Value.Literal = literal
	for i := range g.Guards {
		if at, err := normalGuard(&g.Guards[i], path); err != nil {
			return at, err
		}
	}
	return "", nil
}

func (r *report) schema(path string, s schema.Schema) schema.Schema {
	m := s.ToMap()
	if s.IsZero() {
		delete(m, "type")
		if len(m) > 0 {
			r.add(CodeInvalidSchema, path, "a schema needs a type")
		}
		return schema.Schema{}
	}
	normal, err := value.NormalizeMap(m)
	if err == nil {
		s, err = schema.FromMap(normal)
	}
	if err != nil {
		r.fail(CodeInvalidSchema, path, err)
	}
	return s
}

func (r *report) reducer(path string, red reducer.Reducer) reducer.Reducer {
	if red.Equal(reducer.Reducer{}) {
		return reducer.Reducer{}
	}
	normal, err := value.Normalize(red.ToMap())
	if err == nil {
		red, err = reducer.FromMap(normal)
	}
	if err != nil {
		r.fail(CodeInvalidReducer, path, err)
	}
	return red
}

func (r *report) object(path string, m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	out, err := value.NormalizeMap(m)
	if err != nil {
		r.fail(CodeInvalidRecord, path, err)
		return nil
	}
	return out
}

func (r *report) name(path, id, kind string) {
	if err := value.CheckName(id); err != nil {
		r.add(CodeInvalidPublicID, path, kind+" id: "+reason(err))
	}
}

func (r *report) implementation(path, id string) {
	if err := value.CheckID(id); err != nil {
		r.add(CodeInvalidRecord, path, "implementation id: "+reason(err))
	}
}

func (r *report) text(path, key, s string) {
	if !utf8.ValidString(s) {
		r.add(CodeInvalidRecord, value.PathKey(path, key), notUTF8)
	}
}

// fail reports what a value package said, at its own place below path.
func (r *report) fail(code, path string, err error) {
	var at *value.Error
	if errors.As(err, &at) {
		path = within(path, at.Path)
	}
	r.add(code, path, reason(err))
}
