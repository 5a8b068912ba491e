package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/conformance"
)

// TestMain lets the test binary serve, as the program does, when crash cases
// start it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		agents["liar"] = liarAgent
		main()
	}
	os.Exit(m.Run())
}

// runIn runs the command line and gives its exit code and output.
func runIn(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := newCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	err := cmd.ExecuteContext(t.Context())
	if stderr.Len() > 0 {
		t.Errorf("progress was written to what isn't a terminal: %q", stderr.String())
	}
	return exitCode(err, os.Stderr), stdout.String()
}

func TestEmbeddedBackendsConform(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.json")
	code, out := runIn(t, "--json", file)
	if code != conformance.ExitConformant {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	for _, want := range []string{"memory: CONFORMANT", "sqlite: CONFORMANT", "transaction atomicity?", "+durable"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var reports []conformance.Report
	if err := json.Unmarshal(data, &reports); err != nil {
		t.Fatal(err)
	}
	if len(reports) != 2 || len(reports[0].Results) != len(conformance.Cases()) || reports[0].Seed != 1 {
		t.Errorf("%d reports, the first with %d results", len(reports), len(reports[0].Results))
	}
}

func TestWhatCanNotRunExitsTwo(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--backend", "paper"}, {"--backend", ""}, {"--run", "("}, {"--run", "no/such-case", "--backend", "memory"},
		{"--backend", "memory", "--require", "core,+speed"}, {"--backend", "memory", "--require", "tx"},
		{"--seed", "0"}, {"--seed", "x"}, {"--no-such-flag"}, {"surplus"},
		{"--backend", "memory", "--run", "^insert/taken", "--json", filepath.Join(t.TempDir(), "no", "such", "dir")},
	} {
		if code, out := runIn(t, args...); code != conformance.ExitCouldNotRun {
			t.Errorf("%q exits %d, want %d:\n%s", args, code, conformance.ExitCouldNotRun, out)
		}
	}
}

func TestSelectionIsTold(t *testing.T) {
	t.Parallel()
	code, out := runIn(t, "--backend", "memory", "--run", "^insert/taken", "--seed", "7", "-v")
	if code != conformance.ExitConformant || !strings.Contains(out, `the cases that match "^insert/taken" pass; 1 of 1`) || !strings.Contains(out, "seed 7") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if strings.Contains(out, "granted") {
		t.Errorf("a level was granted by one case:\n%s", out)
	}
}

// A required level that isn't granted is a failure, and the report that says so
// is made again with the same demand.
func TestRequiredLevels(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.json")
	code, out := runIn(t, "--backend", "memory", "--require", "core,+tx,+durable", "--json", file)
	for _, says := range []string{"memory: NOT WHAT IS REQUIRED: +durable is not certified;", "--require core,+tx,+durable"} {
		if code != conformance.ExitNonConformant || !strings.Contains(out, says) {
			t.Errorf("exit code %d, and it lacks %q:\n%s", code, says, out)
		}
	}
	if code, out := runIn(t, "verify", file); code != conformance.ExitConformant || !strings.Contains(out, "memory: the same") {
		t.Errorf("verify: exit code %d:\n%s", code, out)
	}
	if code, out := runIn(t, "--backend", "memory", "--require", "core,+tx,+wakes,+retention"); code != conformance.ExitConformant {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

func TestListShowsEveryRule(t *testing.T) {
	t.Parallel()
	code, out := runIn(t, "list")
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	for _, c := range conformance.Cases() {
		if !strings.Contains(out, c.ID) || !strings.Contains(out, c.Rule) {
			t.Errorf("the list lacks %s", c.ID)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	with := func(outcomes ...conformance.Outcome) (r conformance.Report) {
		for _, o := range outcomes {
			r.Results = append(r.Results, conformance.Result{Outcome: o})
		}
		return r
	}
	good, bad, broke := with(conformance.Pass), with(conformance.Fail), with(conformance.Broke)
	for _, c := range []struct {
		reports []conformance.Report
		want    exit
	}{
		{[]conformance.Report{good}, 0}, {[]conformance.Report{good, bad}, 1}, {[]conformance.Report{broke, good}, 2},
		{[]conformance.Report{broke, bad}, 1},
	} {
		var got exit
		if err := verdict(c.reports); err != nil && !errors.As(err, &got) {
			t.Errorf("verdict gives %v, no exit", err)
		}
		if got != c.want {
			t.Errorf("verdict %d, want %d", got, c.want)
		}
	}
}
