package graph_test

import (
	"bytes"
	"testing"

	"github.com/docket-go/docket/core/graph"
)

// FuzzParse looks for documents that are accepted but don't keep their meaning,
// and for panics.
func FuzzParse(f *testing.F) {
	data, err := full().JSON(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema_version":1,"id":"g"}`))
	f.Add([]byte(`{"schema_version":1,"id":"g","edges":{"e":{"from":["b","a","b"],"to":"$finish","guard":{"$not":{"$changed":"x"}}}}}`))
	f.Add([]byte(`{"schema_version":1,"id":"g","nodes":{"n":{"config":{"$literal":{"$a":{"$literal":1}}}}}}`))
	f.Add([]byte(`{"schema_version":1,"id":"g","fields":{"f":{"reducer":{"kind":"union","by":["a",0]},"schema":{"type":"list","item":{"type":"enum","values":[1,1.5,"x",{"$a":1}]}}}}}`))
	f.Add([]byte(`{"schema_version":1,"id":"g","policies":{"max_supersteps":-1},"nodes":{"n":{"policies":{"timeout_ms":-5,"retry":{"jitter":1e300}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := graph.Parse(data, nil)
		if err != nil {
			return
		}
		first, err := g.JSON(nil)
		if err != nil {
			t.Fatalf("%s was accepted but can't be written: %v", data, err)
		}
		back, err := graph.Parse(first, nil)
		if err != nil {
			t.Fatalf("%s was written but isn't accepted: %v", first, err)
		}
		second, err := back.JSON(nil)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("bytes moved (%v):\n%s\n%s", err, first, second)
		}
		if !g.Equal(back) || !g.Clone().Equal(g) {
			t.Fatalf("%s isn't equal to what it was read from", first)
		}
		if g.Mermaid(nil) != back.Mermaid(nil) || g.DOT(nil) != back.DOT(nil) {
			t.Fatalf("equal graphs are drawn differently: %s", first)
		}
	})
}
