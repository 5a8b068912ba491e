package compiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
)

// fork runs a, then b and c at once; both say that they write x.
func fork() graph.Graph {
	g := chain()
	g.Nodes["b"] = graph.Node{Implementation: "writes-x"}
	g.Nodes["c"] = graph.Node{Implementation: "also-x"}
	g.Edges["b"], g.Edges["c"] = guarded("b", "a"), guarded("c", "a")
	g.Edges["b-end"], g.Edges["c-end"] = edge(graph.Finish, "b"), edge(graph.Finish, "c")
	return g
}

func TestParallelWriters(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit func(*graph.Graph)
		warn bool
	}{
		"one superstep": {func(*graph.Graph) {}, true},
		"last_value":    {func(g *graph.Graph) { g.Fields["x"] = graph.Field{Schema: schema.Integer(), Reducer: reducer.Last()} }, true},
		"sum":           {func(g *graph.Graph) { g.Fields["x"] = graph.Field{Schema: schema.Integer(), Reducer: reducer.Sum()} }, false},
		"one after the other": {func(g *graph.Graph) {
			g.Edges["c"] = guarded("c", "b")
		}, false},
		"alternatives": {func(g *graph.Graph) {
			g.Nodes["a"] = graph.Node{Implementation: "nop", Branches: map[string][]string{"way": {"b", "c"}}}
		}, false},
		"two groups": {func(g *graph.Graph) {
			g.Nodes["a"] = graph.Node{Implementation: "nop", Branches: map[string][]string{"one": {"b"}, "two": {"c"}}}
		}, true},
		"one writer": {func(g *graph.Graph) { g.Nodes["c"] = graph.Node{Implementation: "nop"} }, false},
		"the same implementation": {func(g *graph.Graph) {
			g.Nodes["c"] = graph.Node{Implementation: "writes-x"}
		}, true},
	}
	reg := registry(t, implementations())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := fork()
			test.edit(&g)
			found := compiler.Check(g, reg)
			i := slices.IndexFunc(found, func(d graph.Diagnostic) bool { return d.Code == compiler.CodeParallelWriters })
			if (i >= 0) != test.warn {
				t.Fatalf("got %v", found)
			}
			if test.warn && (found[i].Path != "fields.x" || !strings.HasPrefix(found[i].Message, "b, c ")) {
				t.Errorf("got %v", found[i])
			}
		})
	}
}

func TestCompatibleOutputSchemas(t *testing.T) {
	t.Parallel()
	text, number, whole := schema.String(), schema.Float(), schema.Integer()
	object := func(s schema.Schema) schema.Schema { return schema.Object(map[string]schema.Schema{"k": s}) }
	tests := []struct {
		source, output schema.Schema
		ok             bool
	}{
		{text, text, true}, {text, number, false}, {number, whole, true}, {whole, number, true},
		{schema.Boolean(), whole, false}, {schema.Map(), object(text), true}, {object(text), schema.Map(), true},
		{object(text), object(text), true}, {object(text), object(number), false}, {object(text), schema.List(text), false},
		{schema.List(text), schema.List(text), true}, {schema.List(text), schema.List(whole), false},
		{schema.Enum("a", 1), text, true}, {schema.Enum("a"), whole, false}, {text, schema.Enum(1, "a"), true},
		{text, schema.Enum(1, 2), false}, {schema.Enum("a", "b"), schema.Enum("b", "c"), true}, {schema.Enum("a"), schema.Enum("b"), false},
		{schema.Enum([]any{1}), schema.List(whole), true}, {schema.Enum(map[string]any{}), schema.Map(), true}, {schema.Enum(true), schema.Boolean(), true},
		{number, schema.Enum(1.5), true}, {schema.Enum(1.5), text, false},
	}
	for _, test := range tests {
		g := chain()
		g.Fields["x"] = graph.Field{Schema: test.source}
		g.Outputs["x"] = graph.Output{Source: "x", Schema: test.output}
		if found := compiler.Check(g, nil); (len(found) == 0) != test.ok {
			t.Errorf("%v as %v: %v", test.source.ToMap(), test.output.ToMap(), found)
		}
	}
}
