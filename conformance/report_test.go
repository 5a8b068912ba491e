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
			result("tx/commits-together", Pass, LevelTx, "TX-1", ""),
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
	broke := sample()
	broke.Results = []Result{{Outcome: Broke}}
	for _, c := range []struct {
		report Report
		text   string
	}{{green, "core +tx"}, {sample(), "not conformant"}, {broke, "not certified"}} {
		if text, _ := c.report.badge(); text != c.text {
			t.Errorf("%q, want %q", text, c.text)
		}
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
