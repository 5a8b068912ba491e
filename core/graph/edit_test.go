package graph_test

import (
	"errors"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

func TestEditsThatFail(t *testing.T) {
	t.Parallel()
	same := func(in graph.Input) graph.Input { return in }
	tests := map[string]struct {
		edit       graph.Edit
		code, path string
	}{
		"nil edit":              {nil, graph.CodeInvalidRecord, ""},
		"update absent input":   {graph.UpdateInput("no", same), graph.CodeNotFound, "inputs.no"},
		"delete absent input":   {graph.DeleteInput("no"), graph.CodeNotFound, "inputs.no"},
		"update absent field":   {graph.UpdateField("no", func(f graph.Field) graph.Field { return f }), graph.CodeNotFound, "fields.no"},
		"delete absent field":   {graph.DeleteField("no"), graph.CodeNotFound, "fields.no"},
		"update absent output":  {graph.UpdateOutput("no", func(o graph.Output) graph.Output { return o }), graph.CodeNotFound, "outputs.no"},
		"delete absent output":  {graph.DeleteOutput("no"), graph.CodeNotFound, "outputs.no"},
		"update absent node":    {graph.UpdateNode("no", func(n graph.Node) graph.Node { return n }), graph.CodeNotFound, "nodes.no"},
		"delete absent node":    {graph.DeleteNode("no"), graph.CodeNotFound, "nodes.no"},
		"update absent edge":    {graph.UpdateEdge("no", func(e graph.Edge) graph.Edge { return e }), graph.CodeNotFound, "edges.no"},
		"delete absent edge":    {graph.DeleteEdge("no"), graph.CodeNotFound, "edges.no"},
		"update no policies":    {graph.UpdatePolicies(func(p graph.Policies) graph.Policies { return p }), graph.CodeNotFound, "policies"},
		"delete no policies":    {graph.DeletePolicies(), graph.CodeNotFound, "policies"},
		"update no metadata":    {graph.UpdateMetadata("no", func(v any) any { return v }), graph.CodeNotFound, "metadata.no"},
		"delete no metadata":    {graph.DeleteMetadata("no"), graph.CodeNotFound, "metadata.no"},
		"unportable metadata":   {graph.PutMetadata("k", []any{func() {}}), graph.CodeInvalidRecord, "metadata.k[0]"},
		"name":                  {graph.Rename("\xff"), graph.CodeInvalidRecord, "name"},
		"description":           {graph.Describe("\xff"), graph.CodeInvalidRecord, "description"},
		"node id":               {graph.PutNode("a b", graph.Node{}), graph.CodeInvalidPublicID, `nodes["a b"]`},
		"edge without sources":  {graph.PutEdge("e", graph.Edge{To: "a"}), graph.CodeInvalidRecord, "edges.e.from"},
		"unportable config":     {graph.PutNode("n", graph.Node{Config: map[string]any{"c": complex(1, 1)}}), graph.CodeInvalidRecord, "nodes.n.config.c"},
		"update breaks it":      {graph.UpdateNode("a", func(n graph.Node) graph.Node { n.Label = "\xff"; return n }), graph.CodeInvalidRecord, "nodes.a.label"},
		"conflicting field":     {graph.PutNode("b", graph.Node{}, graph.DeclareField("x", graph.Field{Schema: schema.Float()})), graph.CodeConflict, "fields.x"},
		"field against input":   {graph.PutNode("b", graph.Node{}, graph.DeclareInput("x", graph.Input{Schema: schema.Integer()})), graph.CodeConflict, "inputs.x"},
		"bad declaration":       {graph.DeclareField("y z", graph.Field{}), graph.CodeInvalidPublicID, `fields["y z"]`},
		"conflict on update":    {graph.UpdateNode("a", func(n graph.Node) graph.Node { return n }, graph.DeclareField("x", graph.Field{})), graph.CodeConflict, "fields.x"},
		"reserved branch group": {graph.PutNode("n", graph.Node{Branches: map[string][]string{"on_error": nil}}), graph.CodeReservedOnError, "nodes.n.branches.on_error"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := small(t)
			g.Diagnostics = []graph.Diagnostic{{Code: "old"}}
			before, _ := g.JSON(nil)
			got, err := g.Apply(graph.Rename("changed"), graph.PutNode("z", graph.Node{}), graph.DeleteEdge("end"), test.edit)
			var refused *graph.Error
			if !errors.As(err, &refused) || refused.Code != test.code || refused.Path != test.path {
				t.Fatalf("got %v, want %s at %q", err, test.code, test.path)
			}
			after, _ := g.JSON(nil)
			unchanged, _ := got.JSON(nil)
			if string(before) != string(after) || string(before) != string(unchanged) {
				t.Error("a failed Apply left something behind")
			}
			if len(got.Diagnostics) != 1 {
				t.Error("a failed Apply cleared the diagnostics")
			}
		})
	}
}

func TestNewRefusesBadIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "a b", "-a", "$start", "é", "../x", string(make([]byte, 129))} {
		var refused *graph.Error
		if _, err := graph.New(id); !errors.As(err, &refused) || refused.Code != graph.CodeInvalidPublicID {
			t.Errorf("New(%q) = %v", id, err)
		}
	}
}

func TestEveryEdit(t *testing.T) {
	t.Parallel()
	g, err := graph.New("g",
		graph.Rename("name"), graph.Describe("text"),
		graph.PutInput("in", graph.Input{Schema: schema.String()}),
		graph.UpdateInput("in", func(in graph.Input) graph.Input { in.Description = "d"; return in }),
		graph.PutInput("gone", graph.Input{}), graph.DeleteInput("gone"),
		graph.PutField("f", graph.Field{Schema: schema.List(schema.String())}),
		graph.UpdateField("f", func(f graph.Field) graph.Field { f.Reducer = reducer.Append(); return f }),
		graph.PutField("gone", graph.Field{}), graph.DeleteField("gone"),
		graph.PutOutput("o", graph.Output{Source: "f"}),
		graph.UpdateOutput("o", func(o graph.Output) graph.Output { o.Required = true; return o }),
		graph.PutOutput("gone", graph.Output{}), graph.DeleteOutput("gone"),
		graph.PutNode("n", graph.Node{Implementation: "x"}),
		graph.UpdateNode("n", func(n graph.Node) graph.Node { n.Label = "N"; return n }),
		graph.PutNode("gone", graph.Node{}), graph.DeleteNode("gone"),
		graph.PutEdge("e", graph.Edge{From: []string{graph.Start}, To: "n"}),
		graph.UpdateEdge("e", func(e graph.Edge) graph.Edge { e.Label = "go"; return e }),
		graph.PutEdge("gone", graph.Edge{From: []string{"n"}, To: "n"}), graph.DeleteEdge("gone"),
		graph.PutPolicies(graph.Policies{MaxSupersteps: 1}),
		graph.UpdatePolicies(func(p graph.Policies) graph.Policies { p.MaxSupersteps = 7; return p }),
		graph.PutMetadata("k", 1),
		graph.UpdateMetadata("k", func(v any) any { return v.(int64) + 1 }),
		graph.PutMetadata("gone", nil), graph.DeleteMetadata("gone"),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := graph.Graph{
		ID: "g", Name: "name", Description: "text",
		Inputs:   map[string]graph.Input{"in": {Schema: schema.String(), Description: "d"}},
		Fields:   map[string]graph.Field{"f": {Schema: schema.List(schema.String()), Reducer: reducer.Append()}},
		Outputs:  map[string]graph.Output{"o": {Source: "f", Required: true}},
		Nodes:    map[string]graph.Node{"n": {Implementation: "x", Label: "N"}},
		Edges:    map[string]graph.Edge{"e": {From: []string{graph.Start}, To: "n", Label: "go"}},
		Policies: graph.Policies{MaxSupersteps: 7},
		Metadata: map[string]any{"k": 2},
	}
	if !g.Equal(want) {
		got, _ := g.JSON(nil)
		t.Errorf("got %s", got)
	}
	g, err = g.Apply(graph.DeletePolicies())
	if err != nil || g.Policies != (graph.Policies{}) {
		t.Errorf("DeletePolicies: %v, %v", g.Policies, err)
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	counter := graph.Field{Schema: schema.Integer().WithDefault(1), Reducer: reducer.Sum()}
	g, err := small(t).Apply(
		graph.PutNode("b", graph.Node{}, graph.DeclareField("count", counter), graph.DeclareInput("who", graph.Input{Schema: schema.String()})),
		// The same again, spelled differently: nothing changes.
		graph.PutNode("c", graph.Node{}, graph.DeclareField("count", graph.Field{
			Schema: schema.Schema{Type: schema.TypeInteger, Default: value.Some(1.0), Metadata: map[string]any{}}, Reducer: reducer.Sum(),
		})),
		graph.DeleteNode("b"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := g.Fields["count"]; !ok {
		t.Error("deleting a node took a shared field with it")
	}
	if _, ok := g.Inputs["who"]; !ok {
		t.Error("deleting a node took an input with it")
	}
}

func TestSuccessClearsDiagnosticsOfTheNewGraphOnly(t *testing.T) {
	t.Parallel()
	g := small(t)
	g.Diagnostics = []graph.Diagnostic{{Code: "stale"}}
	if !g.Equal(small(t)) {
		t.Error("diagnostics count towards equality")
	}
	next, err := g.Apply(graph.Rename("n"))
	if err != nil || len(next.Diagnostics) != 0 || len(g.Diagnostics) != 1 {
		t.Errorf("got %v and %v (%v)", next.Diagnostics, g.Diagnostics, err)
	}
}

func TestEditsShareNothing(t *testing.T) {
	t.Parallel()
	config := map[string]any{"list": []any{"a"}}
	from := []string{"b", "a"}
	test := guard.Equals(guard.Field("x"), map[string]any{"k": []any{"v"}})
	metadata := map[string]any{"m": []any{"a"}}
	g, err := small(t).Apply(
		graph.PutNode("b", graph.Node{Config: config, Policies: graph.NodePolicies{Retry: &graph.Retry{MaxAttempts: 1}}}),
		graph.PutEdge("e", graph.Edge{From: from, To: "a", Guard: &test}),
		graph.PutMetadata("k", metadata),
	)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := g.JSON(nil)
	config["list"].([]any)[0] = "boom"
	from[0] = "boom"
	test.Ref.Field = "boom"
	metadata["m"].([]any)[0] = "boom"
	next, err := g.Apply(
		graph.UpdateNode("b", func(n graph.Node) graph.Node {
			n.Config["list"].([]any)[0] = "boom"
			n.Policies.Retry.MaxAttempts = 9
			return n
		}),
		graph.UpdateEdge("e", func(e graph.Edge) graph.Edge { e.From[0] = "boom"; e.Guard.Ref.Field = "boom"; return e }),
		graph.UpdateMetadata("k", func(v any) any { v.(map[string]any)["m"].([]any)[0] = "boom"; return v }),
	)
	if err != nil {
		t.Fatal(err)
	}
	for id := range next.Nodes {
		if c := next.Nodes[id].Config; c != nil {
			c["more"] = "boom"
		}
	}
	clone := g.Clone()
	clone.Nodes["b"].Config["list"].([]any)[0] = "boom"
	clone.Edges["e"].From[0] = "boom"
	clone.Metadata["k"] = "boom"
	got, _ := g.JSON(nil)
	if string(got) != string(want) {
		t.Errorf("the graph changed under its owner:\n%s\n%s", want, got)
	}
}
