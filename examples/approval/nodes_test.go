package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/inline"
	"github.com/docket-go/docket/core/run"
)

// compiled returns the example's graph, ready to run.
func compiled() (*compiler.Graph, map[string]any, error) {
	registry, err := implementations(newWorld("", nil))
	if err != nil {
		return nil, nil, err
	}
	g, input, err := readDocuments(registry)
	if err != nil {
		return nil, nil, err
	}
	ready, _, err := compiler.Compile(g, registry)
	return ready, input, err
}

// A graph is tested without a store: in this goroutine, on a clock that only
// moves when the run sleeps.
func Example() {
	ctx := context.Background()
	g, input, err := compiled()
	if err != nil {
		panic(err)
	}
	r, err := inline.Run(ctx, g, input, inline.Config{RunID: "article"})
	if err != nil {
		panic(err)
	}
	for _, verdict := range []string{"revise", "approve"} {
		question := r.Run().OpenInterrupts()[0]
		fmt.Println(r.Run().Status, "at", question.ID)
		if _, err := r.Resolve(question.ID, map[string]any{"verdict": verdict}); err != nil {
			panic(err)
		}
		if err := r.Drive(ctx); err != nil {
			panic(err)
		}
	}
	fmt.Println(r.Run().Status, "after", r.Run().Output["drafts"], "drafts")
	// Output:
	// waiting at 4:review:1
	// waiting at 7:review:1
	// done after 2 drafts
}

func TestGraphIsClean(t *testing.T) {
	t.Parallel()
	registry, err := implementations(newWorld("", nil))
	if err != nil {
		t.Fatal(err)
	}
	g, _, err := readDocuments(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range compiler.Check(g, registry) {
		t.Errorf("graph.json: %s", d)
	}
}

// TestPressFails sees the flaky node through all its fates.
func TestPressFails(t *testing.T) {
	t.Parallel()
	g, input, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	r, err := inline.Run(t.Context(), g, input, inline.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resolve(r.Run().OpenInterrupts()[0].ID, map[string]any{"verdict": "approve"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Drive(t.Context()); err != nil {
		t.Fatal(err)
	}
	end := r.Run()
	if end.Status != run.Done {
		t.Fatalf("the run is %s: %+v", end.Status, end.Failure)
	}
	var types []string
	for _, c := range r.Checkpoints() {
		types = append(types, string(c.Type()))
	}
	if !slices.Contains(types, string(run.CheckpointRetry)) {
		t.Errorf("no retry was parked: %v", types)
	}
	published, _ := end.Output["published"].(map[string]any)
	if want := "inline:6:publish:2"; published["receipt"] != want {
		t.Errorf("receipt %v, want %q: the second attempt's key", published["receipt"], want)
	}
}

// TestRefusedAnswers keeps a wrong decision out of the run.
func TestRefusedAnswers(t *testing.T) {
	t.Parallel()
	g, input, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	r, err := inline.Run(t.Context(), g, input, inline.Config{})
	if err != nil {
		t.Fatal(err)
	}
	id := r.Run().OpenInterrupts()[0].ID
	for _, answer := range []any{"approve", map[string]any{"verdict": "maybe"}, map[string]any{}, map[string]any{"verdict": "approve", "by": "me"}} {
		if _, err := r.Resolve(id, answer); err == nil {
			t.Errorf("%v was accepted", answer)
		}
	}
	if len(r.Run().OpenInterrupts()) != 1 {
		t.Error("a refused answer closed the question")
	}
}

func TestFlow(t *testing.T) {
	t.Parallel()
	g, err := graph.Parse(graphJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(flow(g), " ")
	if want := "research facts quotes write review publish"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	g, _, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range []map[string]any{{}, {"topic": "x"}, {"topic": "tides", "mood": "calm"}, {"topic": 7}} {
		if _, err := inline.Start(g, input, inline.Config{}); err == nil {
			t.Errorf("input %v was accepted", input)
		}
	}
}
