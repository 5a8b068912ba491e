package graph_test

import (
	"strings"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
)

func TestDrawingGolden(t *testing.T) {
	t.Parallel()
	marks := graph.Marks{
		graph.Start: graph.MarkDone, "write": graph.MarkDone, "check": graph.MarkActive, "review": graph.MarkWaiting,
		"ship": graph.MarkFailed, "absent": graph.MarkDone,
	}
	golden(t, "full.mmd", []byte(full().Mermaid(nil)))
	golden(t, "full.dot", []byte(full().DOT(nil)))
	golden(t, "marked.mmd", []byte(full().Mermaid(marks)))
	golden(t, "marked.dot", []byte(full().DOT(marks)))
}

func TestDrawingAsksForEscapes(t *testing.T) {
	t.Parallel()
	quoted := guard.Equals(guard.Path("f", `a"]`), "x|y\n<script>")
	g := graph.Graph{
		ID: "end", Name: "a: \"b\" # c\nd",
		Nodes: map[string]graph.Node{
			"end":   {Label: "x\"];\nclick n_end \"javascript:1\" #quot; `**b**` \\N\t\x00"},
			"a-b":   {},
			"a_hb":  {},
			"a--b":  {},
			"class": {},
		},
		Edges: map[string]graph.Edge{
			"e": {From: []string{"end"}, To: "gone", Guard: &quoted, Label: "|\"|"},
			"s": {From: []string{graph.Start}, To: "end"},
		},
	}
	golden(t, "escapes.mmd", []byte(g.Mermaid(nil)))
	golden(t, "escapes.dot", []byte(g.DOT(nil)))
	// One line a statement: text can't begin a statement of its own.
	for _, line := range strings.Split(g.Mermaid(nil), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "click") {
			t.Errorf("a label became a statement: %s", line)
		}
	}
}

func TestDrawingOfAnyGraph(t *testing.T) {
	t.Parallel()
	for _, g := range []graph.Graph{
		{}, {ID: "\xff\"", Nodes: map[string]graph.Node{"\x00": {Label: "\xff"}}},
		{Edges: map[string]graph.Edge{"e": {}}},
	} {
		if g.Mermaid(nil) == "" || g.DOT(graph.Marks{"x": "unknown"}) == "" {
			t.Error("nothing drawn")
		}
	}
}
