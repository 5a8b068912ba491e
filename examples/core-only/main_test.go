package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/core/graph"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestOutput runs the program and compares what it tells.
func TestOutput(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	if err := tell(&got); err != nil {
		t.Fatalf("%v\nafter\n%s", err, got.Bytes())
	}
	golden(t, "output.txt", got.Bytes())
}

// TestUnexpected makes sure that the program notices what isn't as it must be.
func TestUnexpected(t *testing.T) {
	t.Parallel()
	g, err := claim()
	if err != nil {
		t.Fatal(err)
	}
	reg, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	edited := func(edits ...graph.Edit) graph.Graph {
		g, err := g.Apply(edits...)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	retries := func(attempts int64) graph.Edit {
		return graph.UpdateNode("convert", func(n graph.Node) graph.Node {
			n.Policies.Retry.MaxAttempts = attempts
			return n
		})
	}
	for name, got := range map[string]error{
		"a flaw more":            showFlaws(io.Discard, edited(graph.DeleteNode("screen"), graph.PutNode("screen", graph.Node{})), reg),
		"a flaw less":            showFlaws(io.Discard, edited(graph.DeleteOutput("booking")), reg),
		"a graph that can't run": play(io.Discard, edited(graph.DeleteNode("book")), reg),
		"a run that fails":       play(io.Discard, edited(retries(2)), reg),
		"another output":         play(io.Discard, edited(graph.DeleteOutput("remarks")), reg),
	} {
		if got == nil {
			t.Errorf("%s goes unnoticed", name)
		}
	}
}

// TestDocument keeps the graph's interchange form, which the guide quotes, and
// proves that it reads back as the graph.
func TestDocument(t *testing.T) {
	t.Parallel()
	g, err := claim()
	if err != nil {
		t.Fatal(err)
	}
	reg, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	data, err := g.JSON(reg)
	if err != nil {
		t.Fatal(err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	golden(t, "claim.json", pretty.Bytes())
	file, err := os.ReadFile(filepath.Join("testdata", "claim.json"))
	if err != nil {
		t.Fatal(err)
	}
	back, err := graph.Parse(file, reg)
	if err != nil {
		t.Fatal(err)
	}
	if !back.Equal(g) {
		t.Error("testdata/claim.json doesn't hold the graph that claim authors")
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs (run with -update when the change is meant):\n%s\nwant\n%s", path, got, want)
	}
}
