package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire"
	"github.com/docket-go/docket/ports"
)

// liar commits under whatever token the run has.
type liar struct{ ports.Backend }

func (l liar) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	run, err := l.Backend.FetchRun(ctx, ports.FetchRun{Scope: req.Scope, RunID: req.RunID, Now: req.Now})
	if err == nil && run.Token != "" && req.Token != "" {
		req.Token = run.Token
	}
	return l.Backend.CommitClaimed(ctx, req)
}

func (liar) Capabilities() ports.Capabilities { return ports.Capabilities{} }

// liarAgent is SQLite with that lie.
func liarAgent() wire.Agent {
	agent := sqliteAgent()
	agent.Name, agent.Corrupt, agent.RawWrite = "liar", nil, nil
	open := agent.Open
	agent.Open = func(ctx context.Context, s wire.Store) (ports.Backend, error) {
		b, err := open(ctx, s)
		return liar{b}, err
	}
	return agent
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The unmodified runner certifies SQLite through a pipe, for every level. Under
// the race detector a part of the cases must do.
func TestExecCertifiesSQLite(t *testing.T) {
	t.Parallel()
	args := []string{"--exec", self(t)}
	levels := []string{"core", "+tx", "+wakes", "+retention", "+durable"}
	if underRace {
		args, levels = append(args, "--run", "^(durable|tx|wakes|fence)/|damage|^shape/"), []string{"+wakes", "+durable"}
	}
	code, out := runIn(t, append(args, "--", "serve", "sqlite")...)
	if code != conformance.ExitConformant {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	for _, level := range levels {
		if !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool {
			fields := strings.Fields(line)
			return len(fields) > 1 && fields[0] == level && fields[1] == "granted"
		}) {
			t.Errorf("%s isn't granted:\n%s", level, out)
		}
	}
	if !strings.Contains(out, "again: conformance-runner --exec "+self(t)+" --seed 1") {
		t.Errorf("the certificate doesn't tell how it is made again:\n%s", out)
	}
}

// A lying agent goes red through the pipe: by the cases about fences, and by a
// process that froze and wins when it thaws.
func TestExecSeesALie(t *testing.T) {
	t.Parallel()
	code, out := runIn(t, "--exec", self(t), "--run", "^(commit|fence)/|^durable/crash-frozen-before", "--", "serve", "liar")
	if code != conformance.ExitNonConformant {
		t.Errorf("exit code %d", code)
	}
	for _, says := range []string{"liar: NOT CONFORMANT", "[RUN-2", "FAIL  durable/crash-frozen-before-send"} {
		if !strings.Contains(out, says) {
			t.Errorf("the output lacks %q:\n%s", says, out)
		}
	}
}

func TestExecThatCanNotRunExitsTwo(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--exec", "/no/such/agent"},
		{"--exec", self(t), "--", "serve", "paper"}, // dies with a message
		{"--exec", self(t), "--backend", "sqlite"},
		{"--name", "mine"},
		{"--", "serve", "sqlite"},
		{"--exec", self(t), "--run", "no/such-case", "--", "serve", "sqlite"},
		{"--badge", filepath.Join(t.TempDir(), "b.svg")}, // of two backends
		{"--backend", "memory", "--waive", "no/such-case: why"},
		{"--backend", "memory", "--waive", "insert/taken"},
		{"verify"}, {"verify", "/no/such/report.json"},
		{"serve"},
	} {
		if code, out := runIn(t, args...); code != conformance.ExitCouldNotRun {
			t.Errorf("%q exits %d, want %d:\n%s", args, code, conformance.ExitCouldNotRun, out)
		}
	}
}

// One seed, one outcome: a second certification has no difference, whatever the
// times were.
func TestTheSameSeedGivesTheSameOutcomes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var reports [2]conformance.Report
	for i, name := range []string{"one.json", "two.json"} {
		file := filepath.Join(dir, name)
		if code, out := runIn(t, "--backend", "memory", "--json", file); code != conformance.ExitConformant {
			t.Fatalf("exit code %d:\n%s", code, out)
		}
		read, err := readReports(file)
		if err != nil || len(read) != 1 {
			t.Fatalf("%d reports, %v", len(read), err)
		}
		reports[i] = read[0]
	}
	if d := reports[0].Differences(reports[1]); d != nil {
		t.Errorf("differences: %q", d)
	}
	for i := range reports {
		for j := range reports[i].Results {
			reports[i].Results[j].Elapsed = 0
		}
	}
	one, _ := json.Marshal(reports[0].Results)
	two, _ := json.Marshal(reports[1].Results)
	if !bytes.Equal(one, two) {
		t.Errorf("results differ")
	}
}

// tamper changes a report on disk.
func tamper(t *testing.T, file string, change func(*conformance.Report)) {
	t.Helper()
	reports, err := readReports(file)
	if err != nil {
		t.Fatal(err)
	}
	change(&reports[0])
	if err := conformance.WriteJSON(file, reports); err != nil {
		t.Fatal(err)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.json")
	if code, out := runIn(t, "--backend", "memory", "--run", "^(insert|commit)/", "--seed", "7", "--json", file); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	if code, out := runIn(t, "verify", file); code != 0 || !strings.Contains(out, "memory: the same") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if code, out := runIn(t, "verify", file, "--exec", self(t)); code != conformance.ExitCouldNotRun {
		t.Errorf("a program for a report of an embedded backend: exit code %d:\n%s", code, out)
	}
	tamper(t, file, func(r *conformance.Report) {
		r.Results[0].Outcome = conformance.Fail
		r.Capabilities.Pruner = false
	})
	code, out := runIn(t, "verify", file)
	if code != conformance.ExitNonConformant || !strings.Contains(out, "memory: DIFFERENT") || !strings.Contains(out, "was fail, is pass") || !strings.Contains(out, "capabilities") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// A report never decides what is executed.
func TestVerifyOfAProgramWantsItsName(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.json")
	if code, out := runIn(t, "--exec", self(t), "--run", "^insert/", "--json", file, "--", "serve", "sqlite"); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	if code, out := runIn(t, "verify", file); code != conformance.ExitCouldNotRun {
		t.Errorf("without --exec: exit code %d:\n%s", code, out)
	}
	if code, out := runIn(t, "verify", file, "--exec", self(t), "--", "serve", "sqlite"); code != 0 || !strings.Contains(out, "sqlite: the same") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

func TestVerifyRefusesWhatIsNoReport(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "[]", "{}", `[{"suite":"0.1.0"}]`, "null"} {
		file := filepath.Join(t.TempDir(), "r.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readReports(file); err == nil {
			t.Errorf("%q passes for a report", text)
		}
	}
}

// Every output is well-formed and says what the report says.
func TestOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	code, out := runIn(t, "--exec", self(t), "--name", "li<a>r", "--run", "^commit/", "--json", at("r.json"), "--junit", at("r.xml"),
		"--markdown", at("r.md"), "--badge", at("r.svg"), "--", "serve", "liar")
	if code != conformance.ExitNonConformant {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	for name, says := range map[string][]string{
		"r.json": {`"reproduce"`, `"digest"`, `"environment"`, `"capabilities"`, `"seed": "1"`},
		"r.xml":  {"<failure", "testsuite", "li&lt;a&gt;r"},
		"r.md":   {"NOT CONFORMANT", "| `core` | refused |", "## fail: commit/", "--name 'li<a>r'"},
		"r.svg":  {"not conformant", "<svg"},
	} {
		data, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range says {
			if !strings.Contains(string(data), part) {
				t.Errorf("%s lacks %q:\n%s", name, part, data)
			}
		}
		if strings.HasSuffix(name, ".xml") || strings.HasSuffix(name, ".svg") {
			wellFormed(t, name, data)
		}
	}
}

func wellFormed(t *testing.T, name string, data []byte) {
	t.Helper()
	for dec := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := dec.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Errorf("%s isn't XML: %v", name, err)
			return
		}
	}
}

// The table fits a terminal of 80 columns.
func TestTheTableFits(t *testing.T) {
	t.Parallel()
	_, out := runIn(t, "--backend", "memory")
	for _, line := range strings.Split(out, "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("blanks at the end of %q", line)
		}
	}
	if !strings.Contains(out, "+durable is not certified: this harness can't") {
		t.Errorf("it doesn't say why +durable is not certified:\n%s", out)
	}
}
