package graph_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares got with a file under testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (run with -update if that is meant)\n got: %s\nwant: %s", path, got, want)
	}
}

// full is a graph with every feature that a document has.
func full() graph.Graph {
	approved := guard.Equals(guard.Path("review", "verdict", 0), "approve")
	rejected := guard.Not(approved)
	return graph.Graph{
		ID: "publish-article", Name: `Review "A" & <B>`, Description: "a\nb\u2028c",
		Inputs: map[string]graph.Input{
			"topic": {Schema: schema.String().Require().Length(1, 80), Description: "what to write about"},
			"limit": {Schema: schema.Integer().WithDefault(int64(9007199254740993)), Metadata: map[string]any{"unit": "words"}},
		},
		Fields: map[string]graph.Field{
			"draft":  {Schema: schema.String()},
			"review": {Schema: schema.Object(map[string]schema.Schema{"verdict": schema.List(schema.Enum("approve", "reject"))}).Opened()},
			"notes":  {Schema: schema.List(schema.Map()), Reducer: reducer.Union("id", int64(0)), Description: "all remarks"},
			"spent":  {Schema: schema.Float(), Reducer: reducer.Sum(), Metadata: map[string]any{"$unit": "EUR"}},
		},
		Outputs: map[string]graph.Output{
			"article": {Source: "draft", Required: true, Schema: schema.String().Length(1, -1), Description: "the text"},
			"topic":   {Source: "topic", Metadata: map[string]any{"echo": true}},
		},
		Nodes: map[string]graph.Node{
			"write": {
				Implementation: "llm/write", Label: "Write the draft",
				Config:   map[string]any{"model": "m", "seed": 7, "stop": []string{"\n"}, "tool": map[string]any{"$ref": "#/x"}},
				Policies: graph.NodePolicies{TimeoutMS: 30000, Retry: &graph.Retry{MaxAttempts: 3, BackoffMS: 200, Backoff: graph.Exponential, MaxBackoffMS: 5000, Jitter: 0.25}},
			},
			"check":  {Implementation: "check", Description: "facts"},
			"review": {Implementation: "human.review", Branches: map[string][]string{"verdict": {"accept", "again"}}},
			"ship":   {Implementation: "ship", Metadata: map[string]any{"x": 1.5, "y": math.Copysign(0, -1)}},
		},
		Edges: map[string]graph.Edge{
			"begin":  {From: []string{graph.Start}, To: "write"},
			"facts":  {From: []string{"write"}, To: "check"},
			"people": {From: []string{"write"}, To: "review", SourceHandle: "out", TargetHandle: "in"},
			"accept": {From: []string{"review"}, To: "ship", Guard: &approved, Label: "accepted"},
			"again":  {From: []string{"review"}, To: "write", Guard: &rejected},
			"both":   {From: []string{"ship", "check"}, To: graph.Finish, Metadata: map[string]any{"at": []any{1, 2.5}}},
		},
		Policies: graph.Policies{MaxSupersteps: 50},
		Metadata: map[string]any{"team": "news", "literal": map[string]any{"$literal": "kept"}},
	}
}

// small is the least graph that does something.
func small(t *testing.T) graph.Graph {
	t.Helper()
	g, err := graph.New("small",
		graph.PutField("x", graph.Field{Schema: schema.Integer()}),
		graph.PutNode("a", graph.Node{Implementation: "a"}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "a"}),
		graph.PutEdge("end", graph.Edge{From: []string{"a"}, To: graph.Finish}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
