package graph_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/schema"
)

// text returns n incompressible bytes that are legal in a name.
func text(n int) string {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
	}
	return string(b)
}

func TestIDLimits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		id   string
		name bool // as a graph, node, edge, input, field or output id
		impl bool // as an implementation id
	}{
		{"a", true, true}, {"A-b_9", true, true}, {text(128), true, true}, {text(129), false, true}, {text(255), false, true},
		{text(256), false, false}, {text(2705), false, false}, {text(10000), false, false},
		{" a", false, true}, {"a ", false, true}, {"a\n", false, false}, {"../x", false, true}, {"é", false, true}, {"\xff", false, false},
		{"_a", false, true}, {"$start", false, true}, {"a:b", false, true},
	}
	for _, test := range tests {
		for kind, edit := range map[string]graph.Edit{
			"input": graph.PutInput(test.id, graph.Input{}), "field": graph.PutField(test.id, graph.Field{}),
			"output": graph.PutOutput(test.id, graph.Output{}), "node": graph.PutNode(test.id, graph.Node{}),
			"edge": graph.PutEdge(test.id, graph.Edge{From: []string{"a"}, To: "a"}),
		} {
			g, err := small(t).Apply(edit)
			var refused *graph.Error
			if test.name != (err == nil) || err != nil && (!errors.As(err, &refused) || refused.Code != graph.CodeInvalidPublicID) {
				t.Errorf("%s %.20q: %v", kind, test.id, err)
			}
			if _, err := g.JSON(nil); err != nil {
				t.Errorf("%s %.20q can't be written: %v", kind, test.id, err)
			}
		}
		if _, err := graph.New(test.id); test.name != (err == nil) {
			t.Errorf("graph %.20q: %v", test.id, err)
		}
		if _, err := small(t).Apply(graph.PutNode("n", graph.Node{Implementation: test.id})); test.impl != (err == nil) {
			t.Errorf("implementation %.20q: %v", test.id, err)
		}
	}
}

func TestCaseIsSignificant(t *testing.T) {
	t.Parallel()
	g, err := graph.New("g", graph.PutNode("a", graph.Node{Label: "lower"}), graph.PutNode("A", graph.Node{Label: "upper"}))
	if err != nil || len(g.Nodes) != 2 {
		t.Errorf("got %v, %v", g.Nodes, err)
	}
}

func TestGuardsAsDeepAsAllowed(t *testing.T) {
	t.Parallel()
	nest := func(levels int) graph.Edit {
		g := guard.Changed("x")
		for range levels - 1 {
			g = guard.Not(g)
		}
		return graph.PutEdge("e", graph.Edge{From: []string{"a"}, To: graph.Finish, Guard: &g})
	}
	g, err := small(t).Apply(nest(guard.MaxDepth))
	if err != nil {
		t.Fatal(err)
	}
	data, err := g.JSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := graph.Parse(data, nil); err != nil {
		t.Error(err)
	}
	for _, levels := range []int{guard.MaxDepth + 1, guard.MaxDepth + 2, 10000} {
		var refused *graph.Error
		if _, err := small(t).Apply(nest(levels)); !errors.As(err, &refused) || refused.Code != graph.CodeInvalidGuard {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
	itself := []guard.Guard{{Op: guard.OpAll}}
	itself[0].Guards = itself
	if _, err := small(t).Apply(graph.PutEdge("e", graph.Edge{From: []string{"a"}, To: "a", Guard: &itself[0]})); err == nil {
		t.Error("a guard that contains itself was accepted")
	}
}

func TestSchemaThatContainsItself(t *testing.T) {
	t.Parallel()
	s := schema.List(schema.String())
	s.Item = &s
	if _, err := graph.New("g", graph.PutField("f", graph.Field{Schema: s})); err == nil {
		t.Error("accepted")
	}
}

func TestTextForPeople(t *testing.T) {
	t.Parallel()
	if got := (graph.Ref{ID: "g", Hash: strings.Repeat("ab", 32)}).String(); got != "g@abababababab" {
		t.Error(got)
	}
	d := graph.Diagnostic{Code: "c", Severity: graph.SeverityWarning, Path: "p", Message: "m"}
	if got := d.String(); got != "warning c at p: m" {
		t.Error(got)
	}
	d.Path = ""
	if got := d.String(); got != "warning c: m" {
		t.Error(got)
	}
	list := []graph.Diagnostic{{Path: "b"}, {Path: "a", Code: "z"}, {Path: "a", Code: "y", Message: "2"}, {Path: "a", Code: "y", Message: "1"}}
	graph.SortDiagnostics(list)
	var order []string
	for _, d := range list {
		order = append(order, d.Path+d.Code+d.Message)
	}
	if got := strings.Join(order, " "); got != "ay1 ay2 az b" {
		t.Error(got)
	}
}
