package compiler_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
)

// FuzzCompile looks for documents that make the compiler panic, answer twice
// differently, or accept what it then can't publish and load.
func FuzzCompile(f *testing.F) {
	for _, g := range []graph.Graph{chain(), loop(), full(), fork()} {
		data, err := g.JSON(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"schema_version":1,"id":"g","edges":{"e":{"from":["b","$start","b"],"to":"$start"}},"nodes":{"a":{"implementation":"explode"}}}`))
	reg := registry(f, implementations())
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := graph.Parse(data, nil)
		if err != nil {
			return
		}
		found := compiler.Check(g, reg)
		if again := compiler.Check(g.Clone(), reg); !slices.Equal(found, again) {
			t.Fatalf("checked twice:\n%v\n%v", found, again)
		}
		bare, _, err := compiler.Compile(g, nil)
		if err == nil && bare == nil {
			t.Fatal("neither a graph nor an error")
		}
		p, _, err := compiler.Publish(g, reg)
		stops := slices.ContainsFunc(found, func(d graph.Diagnostic) bool { return d.Severity == graph.SeverityError })
		if stops != (err != nil) {
			t.Fatalf("Check says %v, Publish %v", found, err)
		}
		if err != nil {
			return
		}
		if bare == nil {
			t.Fatalf("published, but its structure doesn't compile: %s", data)
		}
		loaded, err := compiler.Load(p.Ref, p.Document, reg)
		if err != nil {
			t.Fatalf("published but not loaded: %v", err)
		}
		compiled, _, err := compiler.Compile(g, reg)
		if err != nil || compiled.Ref != p.Ref || !bytes.Equal(transcript(compiled), transcript(loaded)) {
			t.Fatalf("compiling and loading differ (%v)", err)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	reg := registry(b, implementations())
	p, _, err := compiler.Publish(full(), reg)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compiler.Load(p.Ref, p.Document, reg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	reg := registry(b, implementations())
	g := full()
	b.ReportAllocs()
	for b.Loop() {
		compiler.Check(g, reg)
	}
}
