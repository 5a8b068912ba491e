package engine

import (
	"testing"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/record"
)

func TestGraphCacheForgetsWhatWasUsedLeast(t *testing.T) {
	t.Parallel()
	c := NewGraphCache(2)
	key := func(id string) GraphKey { return GraphKey{Ref: graph.Ref{ID: id}} }
	a, b := &compiler.Graph{}, &compiler.Graph{}
	c.Put(key("a"), a)
	c.Put(key("b"), b)
	if got, ok := c.Get(key("a")); !ok || got != a {
		t.Fatal("a is gone")
	}
	c.Put(key("c"), &compiler.Graph{})
	if _, ok := c.Get(key("b")); ok {
		t.Error("b, used least, is still there")
	}
	if got, ok := c.Get(key("a")); !ok || got != a {
		t.Error("a is gone")
	}
	c.Put(key("a"), b)
	if got, _ := c.Get(key("a")); got != b {
		t.Error("a wasn't replaced")
	}
	none := NewGraphCache(0)
	none.Put(key("a"), a)
	if _, ok := none.Get(key("a")); ok {
		t.Error("a cache of none keeps one")
	}
}

// A compiled graph never crosses an owner, a namespace or a generation of code.
func TestGraphKeysTellGenerationsApart(t *testing.T) {
	t.Parallel()
	calls := 0
	one, err := node.NewRegistry(map[string]node.Node{"a": logNode(&calls)})
	must(t, err)
	two, err := node.NewRegistry(map[string]node.Node{"a": logNode(&calls), "b": logNode(&calls)})
	must(t, err)
	seen := map[GraphKey]string{}
	add := func(name string, cfg Config, r *node.Registry, o record.Owner) {
		g := newGraphs(cfg.withDefaults(), r, nil)
		k := g.key(o, graph.Ref{ID: "g"}, g.generation)
		if other, taken := seen[k]; taken {
			t.Errorf("%s and %s share a key", name, other)
		}
		seen[k] = name
	}
	add("one", Config{}, one, record.Owner{})
	add("two", Config{}, two, record.Owner{})
	add("a release", Config{Release: "v1"}, one, record.Owner{})
	add("the next release", Config{Release: "v2"}, one, record.Owner{})
	add("a namespace", Config{CacheNamespace: "n"}, one, record.Owner{})
	add("a tenant", Config{}, one, record.Owner{Tenant: "t"})
}
