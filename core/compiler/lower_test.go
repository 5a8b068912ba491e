package compiler_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/value"
)

func sum(document string) string {
	h := sha256.Sum256([]byte(document))
	return hex.EncodeToString(h[:])
}

func compiled(t testing.TB, g graph.Graph) *compiler.Graph {
	t.Helper()
	out, _, err := compiler.Compile(g, registry(t, implementations()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// transcript writes down a compiled graph.
func transcript(g *compiler.Graph) []byte {
	var b []byte
	b = fmt.Appendf(b, "graph %s executable=%t max=%d\n", g.Ref.ID, g.Executable, g.MaxSupersteps)
	for _, in := range g.Inputs {
		b = fmt.Appendf(b, "%s default=%v\n", in.ID, in.Default)
	}
	for _, f := range g.Fields {
		b = fmt.Appendf(b, "%s %s default=%v\n", f.ID, f.Reducer.Kind(), f.Reducer.Default())
	}
	for _, o := range g.Outputs {
		b = fmt.Appendf(b, "%s from %s input=%t required=%t schema=%t\n", o.ID, o.Source, o.FromInput, o.Required, o.Schema != nil)
	}
	for _, n := range g.Nodes {
		config, _ := value.Encode(n.Config)
		b = fmt.Appendf(b, "%s %s config=%s timeout=%v retry=%v out=", n.RuntimeID, n.Implementation, config, n.Timeout, n.Retry != nil)
		for _, e := range n.Out {
			b = fmt.Appendf(b, "%s ", e.ID)
		}
		b = append(b, '\n')
	}
	for _, e := range g.Edges {
		b = fmt.Appendf(b, "%s %v -> %s barrier=%t", e.RuntimeID, e.Sources, e.Target, e.Barrier)
		if e.Guard != nil {
			b = fmt.Appendf(b, " if %s", e.Guard)
		}
		b = append(b, '\n')
	}
	for _, e := range g.StartEdges {
		b = fmt.Appendf(b, "start %s\n", e.ID)
	}
	return b
}

func TestLoweringGolden(t *testing.T) {
	t.Parallel()
	golden(t, "full.lowered.txt", transcript(compiled(t, full())))
}

func TestLoadingLowersLikeCompiling(t *testing.T) {
	t.Parallel()
	reg := registry(t, implementations())
	for _, g := range []graph.Graph{chain(), loop(), full()} {
		p, _, err := compiler.Publish(g, reg)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := compiler.Load(p.Ref, p.Document, reg)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := transcript(loaded), transcript(compiled(t, g)); string(a) != string(b) {
			t.Errorf("loaded\n%s\ncompiled\n%s", a, b)
		}
	}
}

func TestLookupBothWays(t *testing.T) {
	t.Parallel()
	g := compiled(t, full())
	var ids []string
	for _, n := range g.Nodes {
		if got, ok := g.Node(n.ID); !ok || got.ID != n.ID || got.Impl == nil {
			t.Errorf("Node(%s) = %v", n.ID, got)
		}
		ids = append(ids, n.RuntimeID)
	}
	for _, e := range g.Edges {
		if got, ok := g.Edge(e.ID); !ok || got.ID != e.ID {
			t.Errorf("Edge(%s) = %v", e.ID, got)
		}
		ids = append(ids, e.RuntimeID)
	}
	for _, in := range g.Inputs {
		if got, ok := g.Input(in.Name); !ok || got.Name != in.Name {
			t.Errorf("Input(%s) = %v", in.Name, got)
		}
		ids = append(ids, in.ID)
	}
	for _, f := range g.Fields {
		if got, ok := g.Field(f.Name); !ok || got.Name != f.Name {
			t.Errorf("Field(%s) = %v", f.Name, got)
		}
		ids = append(ids, f.ID)
	}
	for _, o := range g.Outputs {
		if got, ok := g.Output(o.Name); !ok || got.Name != o.Name {
			t.Errorf("Output(%s) = %v", o.Name, got)
		}
		ids = append(ids, o.ID)
	}
	for _, runtimeID := range ids {
		kind, id, ok := g.Parse(runtimeID)
		if !ok || g.RuntimeID(kind, id) != runtimeID || !strings.HasSuffix(runtimeID, ":"+id) {
			t.Errorf("Parse(%s) = %s, %s, %t", runtimeID, kind, id, ok)
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("runtime ids collide: %v", ids)
	}
	for _, bad := range []string{"", "node", "node:", "node:nope", "task:write", ":write", "state:topic", "input:draft", "edge:nope", "output:nope"} {
		if kind, id, ok := g.Parse(bad); ok || kind != "" || id != "" {
			t.Errorf("Parse(%q) = %s, %s", bad, kind, id)
		}
	}
	if g.RuntimeID(compiler.KindNode, "nope") != "" || g.RuntimeID("task", "write") != "" {
		t.Error("RuntimeID invents parts")
	}
}

func TestCompiledValues(t *testing.T) {
	t.Parallel()
	g := compiled(t, full())
	big, _ := g.Input("big")
	if big.Default != value.Some(int64(9007199254740993)) {
		t.Errorf("big: %v", big.Default)
	}
	opts, _ := g.Input("opts")
	if !value.Equal(opts.Default.Value, map[string]any{"deep": 0.1}) {
		t.Errorf("the default of an object lacks its fields' defaults: %v", opts.Default)
	}
	write, _ := g.Node("write")
	if write.Timeout != 30*time.Second || write.Retry.MaxAttempts != 3 {
		t.Errorf("write: %v, %v", write.Timeout, write.Retry)
	}
	if n, err := write.ConfigReader.Int("tokens"); err != nil || n != 1024 {
		t.Errorf("tokens: %d, %v", n, err)
	}
	ship, _ := g.Node("ship")
	if len(ship.Out) != 1 || !ship.Out[0].Barrier || ship.Out[0].Target != graph.Finish {
		t.Errorf("ship feeds %v", ship.Out)
	}
	again, _ := g.Edge("both")
	if ship.Out[0] != again {
		t.Error("a node's edge is a copy")
	}
}
