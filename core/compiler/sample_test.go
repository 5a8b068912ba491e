package compiler_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/node"
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

// plain is an implementation with a config schema and nothing to say about its
// writes.
type plain struct{ config schema.Schema }

func (p *plain) ConfigSchema() schema.Schema { return p.config }

func (p *plain) Call(context.Context, node.Input) (node.Result, error) { return node.Result{}, nil }

// declaring is one that says what it uses.
type declaring struct {
	plain
	writes, reads []string
}

func (d *declaring) Writes() []string { return d.writes }
func (d *declaring) Reads() []string  { return d.reads }

// panicking is one whose methods panic.
type panicking struct{ in string }

func (p *panicking) ConfigSchema() schema.Schema {
	if p.in == "config" {
		panic(p)
	}
	return schema.Schema{}
}

func (p *panicking) Writes() []string {
	if p.in == "writes" {
		panic("no writes today")
	}
	return nil
}

func (p *panicking) Call(context.Context, node.Input) (node.Result, error) { return node.Result{}, nil }

// Error makes the panic value itself panic when it is printed.
func (p *panicking) Error() string { panic("again") }

func implementations() map[string]node.Node {
	return map[string]node.Node{
		"nop": &plain{},
		"llm": &plain{config: schema.Object(map[string]schema.Schema{
			"model":  schema.String().Require(),
			"tokens": schema.Integer().Between(1, 100000).WithDefault(1024),
			"tool":   schema.Object(map[string]schema.Schema{"name": schema.String().WithDefault("search"), "extra": schema.Map()}),
		})},
		"open":     &plain{config: schema.Object(map[string]schema.Schema{"known": schema.Boolean()}).Opened()},
		"preset":   &plain{config: schema.Map().WithDefault(map[string]any{"$mode": "fast", "n": 1})},
		"textual":  &plain{config: schema.String()},
		"broken":   &plain{config: schema.Object(map[string]schema.Schema{"p": schema.String().Match("(")})},
		"explode":  &panicking{in: "config"},
		"secret":   &panicking{in: "writes"},
		"writes-x": &declaring{writes: []string{"x", "x"}},
		"also-x":   &declaring{writes: []string{"x"}},
		"reads-x":  &declaring{reads: []string{"x"}},
		"writes-y": &declaring{writes: []string{"y"}},
	}
}

func registry(t testing.TB, nodes map[string]node.Node) *node.Registry {
	t.Helper()
	reg, err := node.NewRegistry(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

func edge(to string, from ...string) graph.Edge { return graph.Edge{From: from, To: to} }

func guarded(to, from string) graph.Edge {
	g := guard.Changed("x")
	return graph.Edge{From: []string{from}, To: to, Guard: &g}
}

// chain is $start → a → $finish, with a state field x.
func chain() graph.Graph {
	return graph.Graph{
		ID:      "chain",
		Fields:  map[string]graph.Field{"x": {Schema: schema.Integer()}},
		Outputs: map[string]graph.Output{"x": {Source: "x"}},
		Nodes:   map[string]graph.Node{"a": {Implementation: "nop"}},
		Edges:   map[string]graph.Edge{"begin": edge("a", graph.Start), "end": edge(graph.Finish, "a")},
	}
}

// loop is a cycle with a guarded way out.
func loop() graph.Graph {
	again := guard.Not(guard.VersionAtLeast("count", 3))
	done := guard.VersionAtLeast("count", 3)
	return graph.Graph{
		ID:     "loop",
		Fields: map[string]graph.Field{"count": {Schema: schema.Integer().WithDefault(10), Reducer: reducer.Sum()}},
		Nodes:  map[string]graph.Node{"a": {Implementation: "llm", Config: map[string]any{"model": "m"}}},
		Edges: map[string]graph.Edge{
			"begin": edge("a", graph.Start),
			"again": {From: []string{"a"}, To: "a", Guard: &again},
			"end":   {From: []string{"a"}, To: graph.Finish, Guard: &done},
		},
		Outputs: map[string]graph.Output{"count": {Source: "count", Required: true}},
	}
}

// full has every feature of a document, and every kind of default.
func full() graph.Graph {
	yes := guard.All(guard.Exists(guard.Field("topic")), guard.Equals(guard.Path("review", "verdict"), "approve"))
	no := guard.Any(guard.Changed("notes"), guard.Not(guard.Equals(guard.Path("review", "verdict"), map[string]any{"$tag": 1})))
	review := map[string]schema.Schema{"verdict": schema.String(), "by": schema.String().WithDefault("nobody")}
	return graph.Graph{
		ID: "full", Name: "Everything <&>\u2028", Description: "é e\u0301 \U0001f600",
		Inputs: map[string]graph.Input{
			"topic": {Schema: schema.String().Require().Length(1, 80).Match("^[a-z]"), Description: "what about"},
			"big":   {Schema: schema.Integer().WithDefault(int64(9007199254740993)), Metadata: map[string]any{"max": int64(9223372036854775807)}},
			"opts":  {Schema: schema.Object(map[string]schema.Schema{"deep": schema.Float().WithDefault(0.1)}).WithDefault(map[string]any{})},
		},
		Fields: map[string]graph.Field{
			"draft":  {Schema: schema.String()},
			"review": {Schema: schema.Object(review).Opened()},
			"notes":  {Schema: schema.List(schema.Map()).Items(0, 10), Reducer: reducer.Union("id")},
			"first":  {Schema: schema.Enum("a", 1, []any{true}), Reducer: reducer.First()},
			"log":    {Schema: schema.List(schema.String()), Reducer: reducer.Append().OnlyUnique().KeepLast(100)},
			"facts":  {Schema: schema.Map(), Reducer: reducer.DeepMerge(), Metadata: map[string]any{"$x": []any{1e21, 1e-7, 5e-324}}},
			"spent":  {Schema: schema.Float().WithDefault(0.5), Reducer: reducer.Sum(), Description: "EUR"},
		},
		Outputs: map[string]graph.Output{
			"article": {Source: "draft", Required: true, Schema: schema.String(), Description: "text"},
			"topic":   {Source: "topic", Metadata: map[string]any{"echo": true}},
		},
		Nodes: map[string]graph.Node{
			"write": {
				Implementation: "llm", Label: "Write", Config: map[string]any{"model": "m", "tool": map[string]any{"extra": map[string]any{"$k": 1}}},
				Policies: graph.NodePolicies{TimeoutMS: 30000, Retry: &graph.Retry{MaxAttempts: 3, BackoffMS: 200, Backoff: graph.Exponential, MaxBackoffMS: 5000, Jitter: 0.25}},
			},
			"check":  {Implementation: "open", Config: map[string]any{"other": []any{1, 2.5}}, Description: "facts"},
			"review": {Implementation: "nop", Branches: map[string][]string{"verdict": {"yes", "no"}}, Policies: graph.NodePolicies{Retry: &graph.Retry{MaxAttempts: 1}}},
			"ship":   {Implementation: "preset", Metadata: map[string]any{"x": 1}},
		},
		Edges: map[string]graph.Edge{
			"begin":  edge("write", graph.Start),
			"check":  edge("check", "write"),
			"people": {From: []string{"write"}, To: "review", SourceHandle: "out", TargetHandle: "in"},
			"yes":    {From: []string{"review"}, To: "ship", Guard: &yes, Label: "accepted"},
			"no":     {From: []string{"review"}, To: "write", Guard: &no},
			"both":   {From: []string{"ship", "check"}, To: graph.Finish, Metadata: map[string]any{"y": 2}},
		},
		Policies: graph.Policies{MaxSupersteps: 50},
		Metadata: map[string]any{"team": "news"},
	}
}
