package compiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
)

func TestValidGraphsHaveNothingToTell(t *testing.T) {
	t.Parallel()
	reg := registry(t, implementations())
	for _, g := range []graph.Graph{chain(), loop()} {
		if found := compiler.Check(g, reg); len(found) > 0 {
			t.Errorf("%s: %v", g.ID, found)
		}
		if found := compiler.Check(g, nil); len(found) > 0 {
			t.Errorf("%s without a registry: %v", g.ID, found)
		}
	}
	// The join of full waits for a node behind a guard: advice, no error.
	found := compiler.Check(full(), reg)
	if len(found) != 1 || found[0].Code != compiler.CodeMixedJoin || found[0].Severity != graph.SeverityWarning {
		t.Errorf("full: %v", found)
	}
}

// change is one mistake made in the chain, and all that must be told about it.
type change struct {
	edit func(*graph.Graph)
	want []string // severity code path
}

func TestEveryDiagnostic(t *testing.T) {
	t.Parallel()
	reg := registry(t, implementations())
	tests := diagnosticTests()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := chain()
			test.edit(&g)
			found := compiler.Check(g, reg)
			var got []string
			for _, d := range found {
				got = append(got, string(d.Severity)+" "+d.Code+" "+d.Path)
				if len(d.Message) < 10 {
					t.Errorf("%s says too little: %q", d.Code, d.Message)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %s\nwant %s\n%v", strings.Join(got, "\n    "), strings.Join(test.want, "\n     "), found)
			}
			// An error stops every way to a compiled graph.
			_, _, err := compiler.Compile(g, reg)
			_, _, published := compiler.Publish(g, reg)
			stops := slices.ContainsFunc(test.want, func(s string) bool { return strings.HasPrefix(s, "error") })
			if stops != (err != nil) || stops != (published != nil) {
				t.Errorf("Compile: %v, Publish: %v", err, published)
			}
		})
	}
}

func setNode(g *graph.Graph, n graph.Node) { g.Nodes["a"] = n }

func diagnosticTests() map[string]change {
	tests := recordTests()
	for name, test := range nodeTests() {
		tests[name] = test
	}
	for name, test := range edgeTests() {
		tests[name] = test
	}
	for name, test := range shapeTests() {
		tests[name] = test
	}
	return tests
}

func recordTests() map[string]change {
	return map[string]change{
		"version":      {func(g *graph.Graph) { g.SchemaVersion = 2 }, []string{"error unsupported_schema_version schema_version"}},
		"graph id":     {func(g *graph.Graph) { g.ID = "" }, []string{"error invalid_public_id id"}},
		"field id":     {func(g *graph.Graph) { g.Fields["é"] = graph.Field{Schema: schema.Map()} }, []string{`error invalid_public_id fields["é"]`}},
		"record":       {func(g *graph.Graph) { g.Name = "\xff" }, []string{"error invalid_record name"}},
		"metadata":     {func(g *graph.Graph) { g.Metadata = map[string]any{"f": func() {}} }, []string{"error invalid_record metadata.f"}},
		"duplicate id": {func(g *graph.Graph) { g.Inputs = map[string]graph.Input{"x": {Schema: schema.Map()}} }, []string{"error duplicate_state_id inputs.x"}},
		"no schema": {func(g *graph.Graph) {
			g.Inputs = map[string]graph.Input{"i": {}}
			g.Fields["f"] = graph.Field{}
		}, []string{"error invalid_field fields.f.schema", "error invalid_schema inputs.i.schema"}},
		"schemas": {func(g *graph.Graph) {
			g.Inputs = map[string]graph.Input{"i": {Schema: schema.Integer().Between(5, 1)}}
			g.Fields["f"] = graph.Field{Schema: schema.List(schema.String().Match("("))}
			g.Outputs["x"] = graph.Output{Source: "x", Schema: schema.Enum()}
		}, []string{"error invalid_schema fields.f.schema.item.pattern", "error invalid_schema inputs.i.schema.max", "error invalid_schema outputs.x.schema.values"}},
		"defaults": {func(g *graph.Graph) {
			g.Inputs = map[string]graph.Input{"i": {Schema: schema.Integer().WithDefault("1")}}
			g.Fields["f"] = graph.Field{Schema: schema.Object(map[string]schema.Schema{"k": schema.String().WithDefault(1)})}
		}, []string{"error invalid_default fields.f.schema.fields.k.default", "error invalid_default inputs.i.schema.default"}},
		"unknown type": {func(g *graph.Graph) { g.Fields["f"] = graph.Field{Schema: schema.Schema{Type: "date"}} }, []string{"error invalid_schema fields.f.schema.type"}},
		"reducer option": {func(g *graph.Graph) {
			g.Fields["f"] = graph.Field{Schema: schema.Map(), Reducer: reducer.Reducer{Kind: reducer.KindMerge, Unique: true}}
		}, []string{"error invalid_reducer fields.f.reducer.unique"}},
		"reducer kind": {func(g *graph.Graph) {
			g.Fields["f"] = graph.Field{Schema: schema.Map(), Reducer: reducer.Reducer{Kind: "max"}}
		}, []string{"error invalid_reducer fields.f.reducer"}},
		"reducer schema": {func(g *graph.Graph) { g.Fields["f"] = graph.Field{Schema: schema.String(), Reducer: reducer.Sum()} },
			[]string{"error reducer_schema_mismatch fields.f.reducer.kind"}},
		"list of lists": {func(g *graph.Graph) {
			g.Fields["f"] = graph.Field{Schema: schema.List(schema.List(schema.String())), Reducer: reducer.Append()}
		}, []string{"warning ambiguous_list_write fields.f.reducer.kind"}},
		"output source": {func(g *graph.Graph) { g.Outputs["o"] = graph.Output{Source: "nope"}; g.Outputs["p"] = graph.Output{} },
			[]string{"error unknown_output_source outputs.o.source", "error unknown_output_source outputs.p.source"}},
		"output schema": {func(g *graph.Graph) { g.Outputs["x"] = graph.Output{Source: "x", Schema: schema.String()} },
			[]string{"error incompatible_output_schema outputs.x.schema"}},
		"graph policy": {func(g *graph.Graph) { g.Policies.MaxSupersteps = -1 }, []string{"error invalid_policy policies.max_supersteps"}},
	}
}

func nodeTests() map[string]change {
	config := func(impl string, config map[string]any) func(*graph.Graph) {
		return func(g *graph.Graph) { setNode(g, graph.Node{Implementation: impl, Config: config}) }
	}
	policies := func(p graph.NodePolicies) func(*graph.Graph) {
		return func(g *graph.Graph) { setNode(g, graph.Node{Implementation: "nop", Policies: p}) }
	}
	return map[string]change{
		"no implementation":   {config("", nil), []string{"error missing_implementation nodes.a.implementation"}},
		"unregistered":        {config("v2.node", nil), []string{"error unregistered_implementation nodes.a.implementation"}},
		"implementation id":   {config("a\nb", nil), []string{"error invalid_record nodes.a.implementation", "error unregistered_implementation nodes.a.implementation"}},
		"schema panics":       {config("explode", nil), []string{"error invalid_config_schema nodes.a.implementation"}},
		"schema is malformed": {config("broken", nil), []string{"error invalid_config_schema nodes.a.implementation"}},
		"schema is no object": {config("textual", nil), []string{"error invalid_config_schema nodes.a.implementation"}},
		"writes panics":       {config("secret", nil), []string{"error unsupported_implementation nodes.a.implementation"}},
		"takes no config":     {config("nop", map[string]any{"b": 1, "a": 1}), []string{"error invalid_node_config nodes.a.config.a", "error invalid_node_config nodes.a.config.b"}},
		"config missing":      {config("llm", nil), []string{"error invalid_node_config nodes.a.config.model"}},
		"config wrong": {config("llm", map[string]any{"model": 1, "tokens": 0, "typo": true, "tool": map[string]any{"name": nil, "nmae": "x"}}),
			[]string{"error invalid_node_config nodes.a.config.model", "error invalid_node_config nodes.a.config.tokens", "error invalid_node_config nodes.a.config.tool.nmae", "error invalid_node_config nodes.a.config.typo"}},
		"config unportable": {config("llm", map[string]any{"model": "m", "tokens": []byte("x")}), []string{"error invalid_record nodes.a.config.tokens"}},
		"config is open":    {config("open", map[string]any{"known": true, "other": 1}), nil},
		"timeout":           {policies(graph.NodePolicies{TimeoutMS: -1}), []string{"error invalid_policy nodes.a.policies.timeout_ms"}},
		"timeout too long":  {policies(graph.NodePolicies{TimeoutMS: 1 << 62}), []string{"error invalid_policy nodes.a.policies.timeout_ms"}},
		"retry": {policies(graph.NodePolicies{Retry: &graph.Retry{BackoffMS: -1, MaxBackoffMS: -1, Jitter: 1.01}}), []string{
			"error invalid_policy nodes.a.policies.retry.backoff_ms", "error invalid_policy nodes.a.policies.retry.jitter",
			"error invalid_policy nodes.a.policies.retry.max_attempts", "error invalid_policy nodes.a.policies.retry.max_backoff_ms"}},
		"backoff": {policies(graph.NodePolicies{Retry: &graph.Retry{MaxAttempts: 1, Backoff: "linear"}}), []string{"error invalid_policy nodes.a.policies.retry.backoff"}},
		"branches": {func(g *graph.Graph) {
			g.Nodes["b"] = graph.Node{Implementation: "nop"}
			g.Edges["go"] = guarded("b", "a")
			g.Edges["join"] = edge(graph.Finish, "a", "b")
			setNode(g, graph.Node{Implementation: "nop", Branches: map[string][]string{"one": {"go", "end", "go"}, "two": {"go", "begin", "nope", "join"}, "on_error": nil}})
		}, []string{
			"warning mixed_join edges.join.from",
			"error reserved_on_error nodes.a.branches.on_error", "error unguarded_branch_edge nodes.a.branches.one[1]", "error duplicate_branch_edge nodes.a.branches.one[2]",
			"error duplicate_branch_edge nodes.a.branches.two[0]", "error mismatched_branch_edge nodes.a.branches.two[1]",
			"error unknown_branch_edge nodes.a.branches.two[2]", "error mismatched_branch_edge nodes.a.branches.two[3]"}},
	}
}

func edgeTests() map[string]change {
	put := func(e graph.Edge) func(*graph.Graph) { return func(g *graph.Graph) { g.Edges["e"] = e } }
	test := func(g guard.Guard) func(*graph.Graph) {
		return func(doc *graph.Graph) {
			doc.Edges["end"] = graph.Edge{From: []string{"a"}, To: graph.Finish, Guard: &g}
		}
	}
	return map[string]change{
		"$start in a barrier": {put(edge("a", graph.Start, "a")), []string{"error invalid_start_endpoint edges.e.from[0]", "warning unguarded_cycle nodes.a"}},
		"$start as a target":  {put(edge(graph.Start, "a")), []string{"error invalid_start_endpoint edges.e.to"}},
		"$finish as a source": {put(edge("a", graph.Finish)), []string{"error invalid_finish_endpoint edges.e.from"}},
		"straight through":    {put(edge(graph.Finish, graph.Start)), nil},
		"unknown ends":        {put(edge("c", "b")), []string{"error unknown_edge_source edges.e.from", "error unknown_edge_target edges.e.to"}},
		"unknown in a list":   {put(edge(graph.Finish, "b", "a", "$end")), []string{"error unknown_edge_source edges.e.from[0]", "error unknown_edge_source edges.e.from[2]"}},
		"duplicate source":    {put(edge(graph.Finish, "a", "a")), []string{"error duplicate_edge_source edges.e.from[1]"}},
		"no source":           {put(graph.Edge{To: "a"}), []string{"error invalid_record edges.e.from"}},
		"no target":           {put(edge("", "a")), []string{"error invalid_record edges.e.to"}},
		"on_error handle":     {put(graph.Edge{From: []string{"a"}, To: graph.Finish, SourceHandle: "on_error"}), []string{"error reserved_on_error edges.e.source_handle"}},
		"guard field":         {test(guard.All(guard.Changed("x"), guard.Equals(guard.Field("x"), guard.Field("nope")))), []string{"error unknown_guard_field edges.end.guard[\"$all\"][1][\"$equals\"][1]"}},
		"guard operation":     {test(guard.Not(guard.Guard{Op: "maybe"})), []string{"error invalid_guard edges.end.guard[\"$not\"]"}},
		"guard path":          {test(guard.Exists(guard.Path("x", -1))), []string{"error invalid_guard_path edges.end.guard[\"$exists\"][\"$path\"][1]"}},
		"no start": {func(g *graph.Graph) { delete(g.Edges, "begin") },
			[]string{"error no_start_edge edges", "warning unreachable_node nodes.a"}},
	}
}

func shapeTests() map[string]change {
	return map[string]change{
		"dead end": {func(g *graph.Graph) { delete(g.Edges, "end") },
			[]string{"warning no_terminal_edge edges", "warning dead_end_node nodes.a"}},
		"unreachable": {func(g *graph.Graph) {
			g.Nodes["b"] = graph.Node{Implementation: "nop"}
			g.Edges["e"] = edge(graph.Finish, "b")
		}, []string{"warning unreachable_node nodes.b"}},
		"behind an unreachable join": {func(g *graph.Graph) {
			g.Nodes["b"], g.Nodes["c"] = graph.Node{Implementation: "nop"}, graph.Node{Implementation: "nop"}
			g.Edges["e"] = edge("c", "a", "b")
			g.Edges["f"] = edge(graph.Finish, "c")
		}, []string{"warning unreachable_node nodes.b", "warning unreachable_node nodes.c"}},
		"self loop":     {func(g *graph.Graph) { g.Edges["e"] = edge("a", "a") }, []string{"warning unguarded_cycle nodes.a"}},
		"guarded loop":  {func(g *graph.Graph) { g.Edges["e"] = guarded("a", "a") }, nil},
		"unknown write": {func(g *graph.Graph) { setNode(g, graph.Node{Implementation: "writes-y"}) }, []string{"warning unknown_written_field nodes.a"}},
		"orphaned field": {func(g *graph.Graph) {
			setNode(g, graph.Node{Implementation: "writes-x"})
			g.Fields["y"] = graph.Field{Schema: schema.Map()}
		}, []string{"warning orphaned_field fields.y"}},
		"field in use": {func(g *graph.Graph) {
			setNode(g, graph.Node{Implementation: "reads-x"})
			delete(g.Outputs, "x")
		}, nil},
		"nobody knows": {func(g *graph.Graph) { g.Fields["y"] = graph.Field{Schema: schema.Map()} }, nil},
	}
}

func TestOneMistakeHidesNoOther(t *testing.T) {
	t.Parallel()
	g := chain()
	g.ID = ""
	g.Fields["x"] = graph.Field{Schema: schema.Schema{Type: "nope"}, Reducer: reducer.Reducer{Kind: "nope"}}
	g.Nodes["a"] = graph.Node{Config: map[string]any{"f": func() {}}}
	g.Nodes["$b"] = graph.Node{Implementation: "nope"}
	g.Edges["begin"] = edge("", graph.Finish)
	found := compiler.Check(g, registry(t, implementations()))
	want := []string{
		"no_start_edge", "invalid_finish_endpoint", "invalid_record", "invalid_reducer", "invalid_schema", "invalid_public_id",
		"missing_implementation", "unregistered_implementation", "unreachable_node", "dead_end_node",
	}
	for _, code := range want {
		if !slices.ContainsFunc(found, func(d graph.Diagnostic) bool { return d.Code == code }) {
			t.Errorf("%s is not told: %v", code, found)
		}
	}
	if !slices.IsSortedFunc(found, func(a, b graph.Diagnostic) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("not sorted: %v", found)
	}
}

func TestCheckLeavesTheGraphAlone(t *testing.T) {
	t.Parallel()
	g := full()
	g.Diagnostics = []graph.Diagnostic{{Code: "kept"}}
	before, _ := g.JSON(nil)
	compiler.Check(g, registry(t, implementations()))
	if _, _, err := compiler.Publish(g, registry(t, implementations())); err != nil {
		t.Fatal(err)
	}
	after, _ := g.JSON(nil)
	if string(before) != string(after) || len(g.Diagnostics) != 1 || len(g.Nodes["ship"].Config) != 0 {
		t.Error("checking or publishing changed its argument")
	}
}
