package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/inline"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMain lets the test binary be a worker, as the program itself can.
func TestMain(m *testing.M) {
	if _, given, _ := roleFromEnvironment(); given {
		os.Exit(program(context.Background(), nil, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestStory runs the whole example, killed worker included, and compares what it
// tells.
func TestStory(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := program(t.Context(), nil, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out.String(), errs.String())
	}
	golden(t, "story.txt", timeless(out.String()))
}

// TestInteractive decides at the prompt, a wrong word included.
func TestInteractive(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "run.db")
	var out, errs bytes.Buffer
	typed := strings.NewReader("perhaps\nrevise\nmore numbers\nrevise\nshorter\napprove\n")
	if code := program(t.Context(), []string{"-interactive", "-store", store}, typed, &out, &errs); code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out.String(), errs.String())
	}
	for _, words := range []string{`"perhaps" is neither`, "| durable execution, draft 1", "added on request: shorter", `"drafts": 3`, "The store is kept"} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("the output doesn't say %q:\n%s", words, out.String())
		}
	}
	if code := program(t.Context(), []string{"-store", store}, strings.NewReader(""), &out, &errs); code != 1 || !strings.Contains(errs.String(), "exists") {
		t.Errorf("a second story on the same file: exit %d, %s", code, errs.String())
	}
}

func TestNobodyDecides(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := program(t.Context(), []string{"-interactive"}, strings.NewReader("revise\n"), &out, &errs); code != 1 {
		t.Errorf("exit %d without a decision", code)
	}
	if !strings.Contains(errs.String(), "no decision was given") {
		t.Errorf("stderr: %s", errs.String())
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		arg  string
		code int
		says string
	}{
		{"-help", 0, "-interactive"},
		{"-bogus", 1, "-bogus"},
		{"bogus", 1, "unexpected argument"},
	} {
		var errs bytes.Buffer
		if code := program(t.Context(), []string{c.arg}, strings.NewReader(""), &errs, &errs); code != c.code || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%s: exit %d, want %d: %s", c.arg, code, c.code, errs.String())
		}
	}
}

// TestFindingsCanFail turns each fact of a good story false in turn: the example
// must not be able to praise a run that wasn't durable.
func TestFindingsCanFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says  string
		spoil func(*findings)
	}{
		{"changed nothing", func(f *findings) { f.after.CheckpointSeq++ }},
		{"facts worked", func(f *findings) { f.calls[0].Key = "other" }},
		{"quotes worked", func(f *findings) { f.calls = append(f.calls[:1:1], f.calls[2:]...) }},
		{"research worked once", func(f *findings) { f.calls = append(f.calls, call{Node: "research"}) }},
		{"exactly once", func(f *findings) { f.events = append(f.events, f.events[1]) }},
		{"are there once", func(f *findings) { f.run.State["notes"] = make([]any, 8) }},
		{"without a gap", func(f *findings) { f.events[2].Seq++ }},
		{"retried durably", func(f *findings) { f.events[4].Payload = run.NodeCompleted{Attempt: 1} }},
		{"each answer", func(f *findings) { f.answered++ }},
		{"is done", func(f *findings) { f.run.Status = run.Failed }},
	} {
		f := goodFindings()
		if err := f.check(&bytes.Buffer{}); err != nil {
			t.Fatalf("the good findings: %v", err)
		}
		c.spoil(f)
		var out bytes.Buffer
		if err := f.check(&out); err == nil || !regexp.MustCompile(`NOT .*`+c.says).MatchString(out.String()) {
			t.Errorf("%s: not noticed:\n%s", c.says, out.String())
		}
	}
}

func goodFindings() *findings {
	return &findings{
		before: engine.Run{CheckpointSeq: 2, Step: 1},
		after:  engine.Run{CheckpointSeq: 2, Step: 1},
		dead:   1, second: 2, answered: 1,
		calls: []call{
			{Process: 1, Node: "facts", Step: 2, Key: "r:2:facts:1"}, {Process: 1, Node: "quotes", Step: 2, Key: "r:2:quotes:1"},
			{Process: 2, Node: "facts", Step: 2, Key: "r:2:facts:1"}, {Process: 2, Node: "quotes", Step: 2, Key: "r:2:quotes:1"},
			{Process: 1, Node: "research", Step: 1, Key: "r:1:research:1"},
		},
		run: engine.Run{
			ID: "r", Status: run.Done, EventSeq: 5,
			State: map[string]any{"notes": make([]any, 4)}, Output: map[string]any{"drafts": int64(1)},
		},
		events: []run.Event{
			{Seq: 1, Type: run.EventInitialized},
			{Seq: 2, Type: run.EventNodeCompleted, NodeID: "facts", Step: 2},
			{Seq: 3, Type: run.EventNodeFailed, NodeID: "publish", Step: 5},
			{Seq: 4, Type: run.EventCheckpoint, Payload: run.Checkpoint{Type: run.CheckpointRetry}},
			{Seq: 5, Type: run.EventNodeCompleted, NodeID: "publish", Step: 5, Payload: run.NodeCompleted{Attempt: 2}},
		},
	}
}

// TestPicture draws the run while it waits for a person: README shows it.
func TestPicture(t *testing.T) {
	t.Parallel()
	compiled, input, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.Parse(graphJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := inline.Run(t.Context(), compiled, input, inline.Config{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "waiting.mmd", g.Mermaid(run.Marks(r.Events())))
}

// timeless replaces what differs from story to story: processes and durations.
func timeless(text string) string {
	text = regexp.MustCompile(`(Worker|Process|kill -9) \d+`).ReplaceAllString(text, "$1 PID")
	return regexp.MustCompile(`after [\d.]+ s`).ReplaceAllString(text, "after N s")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update rewrites it):\n%s", path, got)
	}
}
