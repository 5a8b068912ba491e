package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

// docket runs one command line.
func docket(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = execute(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// expect runs a command line and checks its exit code and words of its output.
func expect(t *testing.T, wantCode int, words string, args ...string) {
	t.Helper()
	code, stdout, stderr := docket(t, args...)
	if code != wantCode {
		t.Errorf("docket %q: exit %d, want %d\n%s%s", args, code, wantCode, stdout, stderr)
	}
	for _, word := range strings.Split(words, "|") {
		if !strings.Contains(stdout+stderr, word) {
			t.Errorf("docket %q doesn't say %q:\n%s%s", args, word, stdout, stderr)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	expect(t, exitDone, "Exit codes", "--help")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"needs a command", []string{"runs"}},
		{"no command", []string{"runs", "bogus"}},
		{"unknown command", []string{"bogus"}},
		{"unknown flag", []string{"cancel", "--bogus"}},
		{"store", []string{"runs", "list"}},
		{"accepts 1 arg", []string{"graph", "check"}},
		{"--format", []string{"graph", "draw", "x.json", "--format", "png"}},
		{"go together", []string{"graph", "draw", "--run", "r"}},
		{"draw a FILE, or a run", []string{"graph", "draw"}},
		{"draw a FILE, or a run", []string{"graph", "draw", "x.json", "--store", "s", "--run", "r"}},
		{"no such file", []string{"graph", "check", "nowhere.json"}},
		{"--status", []string{"runs", "list", "--store", "s", "--status", "created"}},
		{"--limit", []string{"runs", "list", "--store", "s", "--limit", "0"}},
		{"--after", []string{"runs", "events", "--store", "s", "r", "--after", "-1"}},
		{"isn't JSON", []string{"signal", "--store", "s", "r", "i", "approve"}},
	} {
		expect(t, exitUsage, c.says+"|Try: docket --help", c.args...)
	}
}

func TestStoreCannotBeUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.db")
	expect(t, exitStore, "no such file", "runs", "list", "--store", missing)
	if _, err := os.Stat(missing); err == nil {
		t.Error("looking at a store that isn't there created it")
	}
	expect(t, exitStore, "is a directory", "runs", "list", "--store", dir)
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, exitStore, "text.db", "runs", "list", "--store", text)
}

func TestGraph(t *testing.T) {
	t.Parallel()
	g, _ := testGraph(t)
	good, err := g.JSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	clean := file("good.json", string(good))
	expect(t, exitDone, "letter: 2 nodes, 3 edges; 0 errors, 0 warnings", "graph", "check", clean)
	expect(t, exitDone, `flowchart|n_ask --> n_print`, "graph", "draw", clean)
	expect(t, exitDone, `digraph|"ask" -> "print"`, "graph", "draw", clean, "--format", "dot")
	expect(t, exitNo, "unknown_edge_target at edges.answered.to|1 error,|has errors", "graph", "check",
		file("bad.json", strings.Replace(string(good), `"to":"print"`, `"to":"nowhere"`, 1)))
	expect(t, exitNo, "unknown_key", "graph", "check", file("key.json", strings.Replace(string(good), `"nodes"`, `"knots"`, 1)))
	expect(t, exitNo, "invalid_document", "graph", "draw", file("broken.json", "{"))
}

func TestRuns(t *testing.T) {
	t.Parallel()
	onEachStore(t, testRuns)
}

func testRuns(t *testing.T, s *testStore) {
	s.start("", "letter 1")
	s.start("", "letter-2")
	s.start("acme", "letter-3")
	s.poison("letter-4")
	at := s.on

	expect(t, exitDone, "letter 1|letter-2|asks 1 question|poisoned: max_claim_attempts_exceeded", at("runs", "list")...)
	expect(t, exitDone, "letter-3", at("runs", "list", "--tenant", "acme")...)
	if _, out, _ := docket(t, at("runs", "list")...); strings.Contains(out, "letter-3") {
		t.Errorf("a tenant's run is listed without the tenant:\n%s", out)
	}
	if _, out, _ := docket(t, at("runs", "list", "--poisoned")...); strings.Contains(out, "letter-2") || !strings.Contains(out, "letter-4") {
		t.Errorf("--poisoned lists:\n%s", out)
	}
	expect(t, exitDone, "There are more", at("runs", "list", "--limit", "1")...)
	expect(t, exitDone, "status|waiting|question 1:ask:1|What now?|docket signal --store STORE 'letter 1' 1:ask:1 JSON", at("runs", "inspect", "letter 1")...)
	expect(t, exitDone, "poisoned|docket recover", at("runs", "inspect", "letter-4")...)
	expect(t, exitNo, "not_found", at("runs", "inspect", "letter-3")...)
	expect(t, exitDone, "run_initialized|interrupt_requested", at("runs", "events", "letter-2")...)
	expect(t, exitDone, "There are more: --after 2", at("runs", "events", "letter-2", "--limit", "2")...)
	expect(t, exitNo, "not_found", at("runs", "events", "nothing")...)
	expect(t, exitDone, `n_ask["ask"]:::waiting`, at("graph", "draw", "--run", "letter-2")...)
	expect(t, exitNo, "not_found", at("graph", "draw", "--run", "nothing")...)
}

func TestSignals(t *testing.T) {
	t.Parallel()
	onEachStore(t, testSignals)
}

func testSignals(t *testing.T, s *testStore) {
	for _, id := range []string{"jams", "ends", "cancelled"} {
		s.start("", id)
	}
	at := s.on

	expect(t, exitNo, "not_found", at("signal", "ends", "1:ask:2", `"go"`)...)
	expect(t, exitNo, "invalid_input|at most 8 characters", at("signal", "ends", "1:ask:1", `"much too long"`)...)
	expect(t, exitDone, "answered 1:ask:1; the run is running", at("signal", "ends", "1:ask:1", `"go"`)...)
	expect(t, exitNo, "already_resolved", at("signal", "ends", "1:ask:1", `"go"`)...)
	expect(t, exitDone, "answered", at("signal", "jams", "1:ask:1", `"jam"`)...)
	expect(t, exitDone, "cancelled since", at("cancel", "cancelled")...)
	expect(t, exitDone, "cancelled since", at("cancel", "cancelled")...)
	s.drain()
	expect(t, exitDone, `done|"said": "go"`, at("runs", "inspect", "ends")...)
	expect(t, exitDone, "failed|node_failed: paper jam|failed node  print", at("runs", "inspect", "jams")...)
	expect(t, exitDone, `n_ask["ask"]:::done|n_print["print"]:::failed`, at("graph", "draw", "--run", "jams")...)
	expect(t, exitNo, "inactive_run", at("signal", "ends", "1:ask:1", `"go"`)...)
	expect(t, exitNo, "inactive_run", at("cancel", "ends")...)
}

func TestRecover(t *testing.T) {
	t.Parallel()
	onEachStore(t, testRecover)
}

func testRecover(t *testing.T, s *testStore) {
	s.poison("stuck")
	expect(t, exitDone, "stuck: is due again", s.on("recover", "stuck")...)
	expect(t, exitDone, "stuck: was not poisoned", s.on("recover", "stuck")...)
	expect(t, exitNo, "not_found", s.on("recover", "nothing")...)
	s.drain()
	expect(t, exitDone, "waiting", s.on("runs", "inspect", "stuck")...)
}

func TestShellWord(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"order-7":    "order-7",
		"4:review:1": "4:review:1",
		"a b":        "'a b'",
		"it's":       `'it'\''s'`,
		"$HOME":      "'$HOME'",
	} {
		if got := shellWord(in); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", in, got, want)
		}
	}
}

// TestPrunedMarks draws a run whose log is gone.
func TestPrunedMarks(t *testing.T) {
	t.Parallel()
	r := engine.Run{
		Interrupts: []run.Interrupt{{NodeID: "ask"}},
		Failure:    &run.Failure{NodeID: "print"},
	}
	m := marks(r, nil)
	if m["ask"] != graph.MarkWaiting || m["print"] != graph.MarkFailed || m[graph.Start] != graph.MarkDone {
		t.Errorf("marks %v", m)
	}
}
