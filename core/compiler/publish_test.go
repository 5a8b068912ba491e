package compiler_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Published documents and their hashes never change: a run that an older release
// pinned must find its graph, and publishing it again must find that version.
func TestPublishedGolden(t *testing.T) {
	t.Parallel()
	reg := registry(t, implementations())
	var refs []byte
	for _, g := range []graph.Graph{chain(), loop(), full()} {
		p, _, err := compiler.Publish(g, reg)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, g.ID+".json", p.Document)
		refs = fmt.Appendf(refs, "%s %s\n", p.Ref.Hash, p.Ref.ID)
		again, _, err := compiler.Publish(p.Graph, reg)
		if err != nil || again.Ref != p.Ref || !bytes.Equal(again.Document, p.Document) {
			t.Errorf("publishing the effective graph again gave %v (%v), not %v", again.Ref, err, p.Ref)
		}
		read, err := graph.Parse(p.Document, reg)
		if err != nil || !read.Equal(p.Graph) {
			t.Errorf("%s: the document isn't the graph (%v)", g.ID, err)
		}
	}
	golden(t, "refs.txt", refs)
}

// The refs in testdata/refs.txt are the ones older releases wrote.
func TestGoldenDocumentsLoad(t *testing.T) {
	t.Parallel()
	reg := registry(t, implementations())
	lines, err := os.ReadFile("testdata/refs.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		hash, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		document, err := os.ReadFile("testdata/" + id + ".json")
		if err != nil {
			t.Fatal(err)
		}
		g, err := compiler.Load(graph.Ref{ID: id, Hash: hash}, document, reg)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := g.Document.JSON(reg); err != nil || !bytes.Equal(again, document) {
			t.Errorf("%s: loading changed the document (%v)", id, err)
		}
	}
}

func TestPublishFillsInConfigDefaults(t *testing.T) {
	t.Parallel()
	p, _, err := compiler.Publish(full(), registry(t, implementations()))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]any{
		"write":  map[string]any{"model": "m", "tokens": int64(1024), "tool": map[string]any{"name": "search", "extra": map[string]any{"$k": int64(1)}}},
		"ship":   map[string]any{"$mode": "fast", "n": int64(1)},
		"check":  map[string]any{"other": []any{int64(1), 2.5}},
		"review": map[string]any{},
	}
	for id, want := range tests {
		got := p.Graph.Nodes[id].Config
		if got == nil {
			got = map[string]any{}
		}
		if !value.Equal(got, want) {
			t.Errorf("%s: %v", id, got)
		}
	}
}

func TestEqualGraphsHaveOneHash(t *testing.T) {
	t.Parallel()
	reg := registry(t, implementations())
	a := chain()
	a.SchemaVersion, a.Inputs, a.Metadata = 1, map[string]graph.Input{}, map[string]any{}
	a.Diagnostics = []graph.Diagnostic{{Code: "transient"}}
	a.Nodes["a"] = graph.Node{Implementation: "nop", Config: map[string]any{}, Policies: graph.NodePolicies{TimeoutMS: 0}}
	b := chain()
	first, _, err := compiler.Publish(a, reg)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := compiler.Publish(b, reg)
	if err != nil || first.Ref != second.Ref {
		t.Errorf("%v and %v (%v)", first.Ref, second.Ref, err)
	}
	compiled, _, err := compiler.Compile(b, reg)
	if err != nil || compiled.Ref != first.Ref {
		t.Errorf("Compile pins %v, Publish %v (%v)", compiled.Ref, first.Ref, err)
	}
	// An explicit default is the effective value too.
	c := loop()
	c.Nodes["a"] = graph.Node{Implementation: "llm", Config: map[string]any{"model": "m", "tokens": 1024.0}}
	implicit, _, _ := compiler.Publish(loop(), reg)
	explicit, _, _ := compiler.Publish(c, reg)
	if implicit.Ref != explicit.Ref {
		t.Error("writing a default out made another graph")
	}
	c.Description = "changed"
	if other, _, _ := compiler.Publish(c, reg); other.Ref == explicit.Ref {
		t.Error("another document has the same hash")
	}
}

func TestNewDefaultsReachNewPublicationsOnly(t *testing.T) {
	t.Parallel()
	with := func(s schema.Schema) *node.Registry {
		impls := implementations()
		impls["llm"] = &plain{config: s}
		return registry(t, impls)
	}
	model := schema.String()
	older := with(schema.Object(map[string]schema.Schema{"model": model, "tokens": schema.Integer().WithDefault(1024)}))
	newer := with(schema.Object(map[string]schema.Schema{"model": model, "tokens": schema.Integer().WithDefault(4096), "seed": schema.Integer().WithDefault(1)}))
	p, _, err := compiler.Publish(loop(), older)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := compiler.Load(p.Ref, p.Document, newer)
	if err != nil {
		t.Fatal(err)
	}
	if got := loaded.Nodes[0].Config; !value.Equal(got, map[string]any{"model": "m", "tokens": int64(1024)}) {
		t.Errorf("loading injected defaults: %v", got)
	}
	again, _, err := compiler.Publish(loop(), newer)
	if err != nil || again.Ref == p.Ref {
		t.Errorf("publishing with new defaults gave %v (%v)", again.Ref, err)
	}
}

func TestPublishNeedsARegistry(t *testing.T) {
	t.Parallel()
	var refused *compiler.Error
	if _, _, err := compiler.Publish(chain(), nil); !errors.As(err, &refused) || refused.Code != compiler.CodeIncompatible {
		t.Errorf("got %v", err)
	}
	g, _, err := compiler.Compile(full(), nil)
	if err != nil || g.Executable || g.Ref.Hash != "" || g.Nodes[0].Impl != nil {
		t.Errorf("structure only: %+v, %v", g, err)
	}
}

func TestTooDeepToPublish(t *testing.T) {
	t.Parallel()
	deep := map[string]any{}
	for range value.MaxDocumentDepth - 1 {
		deep = map[string]any{"d": deep}
	}
	g := chain()
	g.Nodes["a"] = graph.Node{Implementation: "open", Config: deep}
	_, _, err := compiler.Publish(g, registry(t, implementations()))
	var refused *compiler.Error
	if !errors.As(err, &refused) || refused.Code != compiler.CodeInvalidGraph {
		t.Fatalf("got %v", err)
	}
	found := compiler.Check(g, nil)
	if len(found) != 1 || found[0].Code != graph.CodeInvalidRecord || !strings.HasPrefix(found[0].Path, "nodes.a.config.d.") {
		t.Errorf("got %v", found)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	reg := registry(t, implementations())
	p, _, err := compiler.Publish(loop(), reg)
	if err != nil {
		t.Fatal(err)
	}
	without := implementations()
	delete(without, "llm")
	stricter := implementations()
	stricter["llm"] = &plain{config: schema.Object(map[string]schema.Schema{"model": schema.String(), "region": schema.String().Require().WithDefault("eu")})}
	text := func(old, new string) string { return strings.Replace(string(p.Document), old, new, 1) }
	tests := map[string]struct {
		document string
		rehash   bool
		reg      *node.Registry
		code     string
	}{
		"flipped byte":      {text("count", "kount"), false, reg, compiler.CodeGraphCorrupt},
		"truncated":         {text("}", ""), false, reg, compiler.CodeGraphCorrupt},
		"re-serialised":     {text(":", ": "), false, reg, compiler.CodeGraphCorrupt},
		"empty":             {"", false, reg, compiler.CodeGraphCorrupt},
		"another graph":     {text(`"id":"loop"`, `"id":"pool"`), true, reg, compiler.CodeGraphCorrupt},
		"newer version":     {text(`"schema_version":1`, `"schema_version":2`), true, reg, compiler.CodeUnsupportedFormat},
		"newer key":         {text(`"id":"loop"`, `"id":"loop","priority":1`), true, reg, compiler.CodeUnsupportedFormat},
		"newer expression":  {text(`"model":"m"`, `"model":{"$env":"M"}`), true, reg, compiler.CodeUnsupportedFormat},
		"no document":       {`[]`, true, reg, compiler.CodeInvalidGraph},
		"broken rules":      {text(`"to":"a"`, `"to":"b"`), true, reg, compiler.CodeInvalidGraph},
		"missing node":      {string(p.Document), true, registry(t, without), compiler.CodeIncompatible},
		"stricter schema":   {string(p.Document), true, registry(t, stricter), compiler.CodeIncompatible},
		"empty registry":    {string(p.Document), true, registry(t, nil), compiler.CodeIncompatible},
		"rules come before": {text(`"to":"a"`, `"to":"b"`), true, registry(t, without), compiler.CodeInvalidGraph},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := p.Ref
			if test.rehash {
				ref.Hash = sum(test.document)
			}
			g, err := compiler.Load(ref, []byte(test.document), test.reg)
			var refused *compiler.Error
			if !errors.As(err, &refused) || refused.Code != test.code || refused.Ref != ref || g != nil {
				t.Fatalf("got %v, %v; want %s", g, err, test.code)
			}
			if !strings.Contains(err.Error(), test.code) || !strings.Contains(err.Error(), "loop@") {
				t.Errorf("the text hides what happened: %v", err)
			}
		})
	}
	if g, err := compiler.Load(p.Ref, p.Document, nil); err != nil || g.Executable || g.Ref != p.Ref {
		t.Errorf("without a registry: %v, %v", g, err)
	}
}

func TestUnreadableDocumentKeepsItsReason(t *testing.T) {
	t.Parallel()
	document := `{"schema_version":1,"id":"g","nodes":{"n":{"label":1}}}`
	_, err := compiler.Load(graph.Ref{ID: "g", Hash: sum(document)}, []byte(document), nil)
	var refused *graph.Error
	if !errors.As(err, &refused) || refused.Path != "nodes.n.label" {
		t.Errorf("got %v", err)
	}
}
