package conformance

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/ports"
)

var updateReports = flag.Bool("update", false, "rewrite the golden files of reports")

// sample is a report with one of everything: what a reader may meet.
func sample() Report {
	result := func(id string, o Outcome, level Level, clauses, reason string) Result {
		return Result{ID: id, Level: level, Clauses: on(clauses), Rule: "It is so.", Outcome: o, Reason: reason, Elapsed: 12 * time.Millisecond}
	}
	red := result("commit/stale-is-refused", Fail, LevelCore, "RUN-2", "")
	red.Rule = "A commit whose token isn't the stored one is ErrStale and writes nothing."
	red.Failures = []string{`committing under another token: succeeded, want "docket: fence moved"`}
	red.Log = []string{
		`#1 InsertRun {Owner:{Tenant:"acme"} Transition:{…} Now:T} → {Now:T}`,
		`#2 CommitClaimed {Scope:system RunID:"r" Token:"guess" ExpectedSeq:1 Transition:{…} TTL:1m0s Now:T} → {Now:T}`,
	}
	undeclared := result("wakes/due-now-is-told", Skip, LevelWakes, "WAK-1", "needs wake source")
	undeclared.Undeclared = true
	together := result("tx/commits-together", Pass, LevelTx, "TX-1", "")
	together.Requires = []Need{NeedTransactor}
	r := Report{
		Suite: "0.1.0", Digest: "9d42f31ef2cf5a0d", Backend: "paper 2.0", Seed: 7, Started: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC),
		Elapsed: 1234567 * time.Microsecond, Environment: Environment{Go: "go1.26.8", OS: "linux", Arch: "amd64"},
		Capabilities: ports.Capabilities{Transactor: true, Pruner: true},
		Waivers:      map[string]string{"prune/dry-run": "planned for 2.1"},
		Reproduce:    []string{"conformance-runner", "--exec", "./paper", "--seed", "7", "--", "--data dir"},
		Results: []Result{
			result("claims/exactly-n-launch", Pass, LevelCore, "CLM-3 CLM-2", ""),
			red,
			result("durable/survives-a-crash", Skip, LevelDurable, "LIF-1", "needs harness crash"),
			result("durable/two-handles-see-one-truth", Skip, LevelDurable, "LIF-2", "needs harness reopen"),
			result("prune/dry-run", Waived, LevelRetention, "PRN-7", "planned for 2.1"),
			together,
			undeclared,
		},
	}
	r.Levels, r.Questions = judgeLevels(r.Results), judgeQuestions(r.Results)
	return r
}

// Every form of a report says what it is meant to say, to the letter.
func TestReportForms(t *testing.T) {
	t.Parallel()
	r := sample()
	for name, write := range map[string]func(io.Writer) error{
		"report.txt": r.WriteText,
		"report.md":  r.WriteMarkdown,
		"report.svg": r.WriteBadge,
		"report.xml": func(w io.Writer) error { return WriteJUnit(w, r) },
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name)
			if *updateReports {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(want, got.Bytes()) {
				t.Errorf("%s is out of date (run the test with -update); it would be:\n%s", file, got.Bytes())
			}
		})
	}
}

func TestBadge(t *testing.T) {
	t.Parallel()
	green := sample()
	green.Results = slices.DeleteFunc(green.Results, func(r Result) bool { return r.Outcome == Fail })
	green.Levels = judgeLevels(green.Results)
	lacking := green
	lacking.Required = []Level{LevelTx, LevelDurable}
	broke := sample()
	broke.Results = []Result{{Outcome: Broke}}
	for _, c := range []struct {
		report Report
		text   string
	}{{green, "core +tx"}, {lacking, "core +tx"}, {sample(), "not conformant"}, {broke, "not certified"}} {
		if text, _ := c.report.badge(); text != c.text {
			t.Errorf("%q, want %q", text, c.text)
		}
	}
	_, good := green.badge()
	if _, bad := lacking.badge(); bad == good {
		t.Error("a badge that lacks a required level has the colour of one that doesn't")
	}
}

// A level that is required and isn't granted is told, and is a failure though
// every case passes.
func TestRequire(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		require string
		code    int
		says    string
	}{
		{"", ExitConformant, "fake: CONFORMANT; 1 of 2"},
		{"core", ExitConformant, "fake: CONFORMANT; 1 of 2"},
		{"core, +tx", ExitNonConformant, "fake: NOT WHAT IS REQUIRED: +tx is not declared; 1 of 2"},
		{"+tx,+durable,+tx", ExitNonConformant, "fake: NOT WHAT IS REQUIRED: +tx is not declared, +durable is not"},
	} {
		o, err := ReadOptions("", 1, c.require)
		if err != nil {
			t.Fatal(err)
		}
		report, err := check(t.Context(), harnessOf(&fake{}), []Case{
			{ID: "a/1", Clauses: []string{"RUN-1"}, run: func(*env) {}},
			{ID: "b/1", Clauses: []string{"TX-1"}, Level: LevelTx, Requires: []Need{NeedTransactor}, run: func(*env) {}},
		}, o)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := report.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if code := report.ExitCode(); code != c.code || !strings.HasPrefix(text.String(), c.says) {
			t.Errorf("--require %q: exit code %d, want %d and %q in:\n%s", c.require, code, c.code, c.says, text.String())
		}
	}
	for _, wrong := range []string{"tx", "core,", ",", "+speed"} {
		if _, err := ParseLevels(wrong); err == nil || !strings.Contains(err.Error(), "+retention") {
			t.Errorf("%q passes for levels, or the names aren't told: %v", wrong, err)
		}
	}
	if _, err := check(t.Context(), harnessOf(&fake{}), nil, Options{Require: []Level{"tx"}}); err == nil {
		t.Error("an unknown level in Options.Require was accepted")
	}
}

// A clause about a capability is proved by cases that require it, so a backend
// without it isn't said to keep the clause.
func TestWhatIsNotDeclaredIsNotProved(t *testing.T) {
	t.Parallel()
	declared := Case{ID: "a/declared", Clauses: []string{"TX-1", "WAK-1", "RUN-1"}, run: func(*env) {}}
	together := Case{ID: "b/together", Clauses: []string{"TX-1"}, Level: LevelTx, Requires: []Need{NeedTransactor}, run: func(*env) {}}
	for _, c := range []struct {
		has    bool
		proved string
		cases  int
	}{{false, "RUN-1", 1}, {true, "RUN-1 TX-1", 2}} {
		h := harnessOf(&fake{caps: ports.Capabilities{Transactor: c.has}})
		report, err := check(t.Context(), h, []Case{declared, together}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		atomicity := report.Questions[0]
		if got := strings.Join(report.ProvedClauses(), " "); got != c.proved || strings.Join(atomicity.Clauses, " ") != c.proved || atomicity.Cases != c.cases {
			t.Errorf("transactor %t: proved %q, and for atomicity %+v; want %q by %d cases", c.has, got, atomicity, c.proved, c.cases)
		}
	}
}

// The outputs of a program that links the suite are those of the runner.
func TestMainWritesItsOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var out, errs bytes.Buffer
	code := mainIn(t.Context(), harnessOf(&fake{}), []string{"/tmp/certify", "-run", "^capabilities/declared", "-require", "core", "-v",
		"-json", at("r.json"), "-junit", at("r.xml"), "-markdown", at("r.md"), "-badge", at("r.svg")}, &out, &errs)
	if code != ExitNonConformant || errs.Len() > 0 { // one case isn't the level
		t.Errorf("exit code %d, and on the error output %q", code, errs.String())
	}
	for _, says := range []string{"NOT WHAT IS REQUIRED: core is not certified", "pass    capabilities/declared-is-present",
		"again: certify --seed 1 --run '^capabilities/declared' --require core\n"} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("the output lacks %q:\n%s", says, out.String())
		}
	}
	for name, says := range map[string]string{"r.json": `"required": [`, "r.xml": "<testsuite ", "r.md": "NOT WHAT IS REQUIRED", "r.svg": "<svg"} {
		if data, err := os.ReadFile(at(name)); err != nil || !strings.Contains(string(data), says) {
			t.Errorf("%s lacks %q (%v):\n%s", name, says, err, data)
		}
	}
	if err := (Outputs{Badge: at("b.svg")}).Check(true); err == nil {
		t.Error("one badge of several backends was accepted")
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	if d := sample().Differences(sample()); d != nil {
		t.Errorf("a report differs from itself: %q", d)
	}
	later := sample()
	later.Elapsed, later.Started, later.Environment.Go = 0, time.Time{}, "go2"
	later.Results[1].Failures, later.Results[1].Log, later.Results[0].Elapsed = []string{"in other words"}, nil, 1
	if d := sample().Differences(later); d != nil {
		t.Errorf("times and wording count: %q", d)
	}
	for says, change := range map[string]func(*Report){
		"suite: was 0.1.0, is 0.2.0":                         func(r *Report) { r.Suite = "0.2.0" },
		"digest: was":                                        func(r *Report) { r.Digest = "00" },
		"backend: was paper 2.0, is stone":                   func(r *Report) { r.Backend = "stone" },
		"capabilities: was":                                  func(r *Report) { r.Capabilities.WakeSource = true },
		"seed: was 7, is 8":                                  func(r *Report) { r.Seed = 8 },
		`selected: was "", is "x"`:                           func(r *Report) { r.Selected = "x" },
		`required: was "", is "core,+tx"`:                    func(r *Report) { r.Required = []Level{LevelCore, LevelTx} },
		"waivers: was":                                       func(r *Report) { r.Waivers = nil },
		"case commit/stale-is-refused: was fail, is pass":    func(r *Report) { r.Results[1].Outcome = Pass },
		"case claims/exactly-n-launch: was pass, is absent":  func(r *Report) { r.Results = r.Results[1:] },
		"case wakes/due-now-is-told: was skip (needs wake s": func(r *Report) { r.Results[6].Reason = "not selected" },
		"level core: was refused 1/2, is granted 1/2":        func(r *Report) { r.Levels[0].Verdict = Granted },
		"question claim fencing: was":                        func(r *Report) { r.Questions[1].Clauses = nil },
	} {
		again := sample()
		again.Results = slices.Clone(again.Results)
		change(&again)
		if d := strings.Join(sample().Differences(again), "\n"); !strings.Contains(d, says) {
			t.Errorf("%q, want it to say %q", d, says)
		}
	}
}
