package conformance

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docket-go/docket/ports"
)

// fake is a backend of which the frame needs only the methods that a test sets.
type fake struct {
	ports.Backend // nil: anything else panics, as a broken backend does
	caps          ports.Capabilities
	fetch         func(context.Context) error
	closed        *int
}

func (f *fake) Capabilities() ports.Capabilities { return f.caps }

func (f *fake) Close() error {
	if f.closed != nil {
		*f.closed++
	}
	return nil
}

func (f *fake) FetchRun(ctx context.Context, _ ports.FetchRun) (ports.FetchedRun, error) {
	if f.fetch == nil {
		return ports.FetchedRun{}, ports.ErrNotFound
	}
	return ports.FetchedRun{}, f.fetch(ctx)
}

func harnessOf(f *fake) Harness {
	return Harness{Name: "fake", Open: func(context.Context) (ports.Backend, error) { return f, nil }}
}

func fetches(e *env) {
	_, err := e.open().FetchRun(e.Context(), ports.FetchRun{Scope: ports.System(), RunID: "r"})
	e.want(err, ports.ErrNotFound, "fetching")
}

// outcomeOf runs one case under the frame.
func outcomeOf(t *testing.T, h Harness, c Case) Result {
	t.Helper()
	if c.ID == "" {
		c.ID = "test/case"
	}
	report, err := check(t.Context(), h, []Case{c}, Options{Deadline: 200 * time.Millisecond})
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	if len(report.Results) != 1 {
		t.Fatalf("%d results, want 1", len(report.Results))
	}
	return report.Results[0]
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	lying := &fake{fetch: func(context.Context) error { return nil }}
	hanging := &fake{fetch: func(context.Context) error { select {} }}
	for name, c := range map[string]struct {
		h    Harness
		c    Case
		want Outcome
		says string // a part of what is told
	}{
		"an honest backend passes":     {harnessOf(&fake{}), Case{run: fetches}, Pass, ""},
		"a lying backend fails":        {harnessOf(lying), Case{run: fetches}, Fail, "succeeded, want"},
		"a panicking case is an error": {harnessOf(&fake{}), Case{run: func(*env) { panic("oops") }}, Broke, "oops"},
		"a panicking backend fails": {harnessOf(&fake{}), Case{run: func(e *env) {
			_, _ = e.open().LatestEvent(e.Context(), ports.LatestEvent{})
		}}, Fail, "the backend panicked in LatestEvent"},
		"a panic after a failure is a failure": {harnessOf(&fake{}), Case{run: func(e *env) { e.Errorf("wrong"); panic("oops") }}, Fail, "wrong"},
		"a panicking clean-up is an error":     {harnessOf(&fake{}), Case{run: func(e *env) { e.Cleanup(func() { panic("late") }) }}, Broke, "late"},
		"a failing clean-up fails":             {harnessOf(&fake{}), Case{run: func(e *env) { e.Cleanup(func() { e.Errorf("late") }) }}, Fail, "late"},
		"a backend that hangs fails":           {harnessOf(hanging), Case{run: fetches}, Fail, "FetchRun for"},
		"a case that hangs is an error":        {harnessOf(&fake{}), Case{run: func(*env) { select {} }}, Broke, "didn't end by its deadline"},
		"a case may skip":                      {harnessOf(&fake{}), Case{run: func(e *env) { e.Skipf("not here") }}, Skip, "not here"},
		"an absent hook skips":                 {harnessOf(&fake{}), Case{Requires: []Need{NeedReopen}, run: fetches}, Skip, "harness reopen"},
		"an undeclared capability skips":       {harnessOf(&fake{}), Case{Requires: []Need{NeedPruner}, run: fetches}, Skip, "pruner"},
		"a failing hook is an error": {withCorrupt(harnessOf(&fake{})), Case{run: func(e *env) {
			e.open().damage(Target{RunID: "r"})
		}}, Broke, "no such run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := outcomeOf(t, c.h, c.c)
			told := r.Reason + strings.Join(r.Failures, "\n")
			if r.Outcome != c.want || !strings.Contains(told, c.says) {
				t.Errorf("outcome %s, told %q; want %s and %q", r.Outcome, told, c.want, c.says)
			}
		})
	}
}

func withCorrupt(h Harness) Harness {
	h.Corrupt = func(context.Context, ports.Backend, Target) error { return errors.New("no such run") }
	return h
}

func TestOpenThatFailsIsAnError(t *testing.T) {
	t.Parallel()
	opened := 0
	h := Harness{Name: "fake", Open: func(context.Context) (ports.Backend, error) {
		if opened++; opened > 1 { // the first is for the capabilities
			return nil, errors.New("disk full")
		}
		return &fake{}, nil
	}}
	if r := outcomeOf(t, h, Case{run: fetches}); r.Outcome != Broke {
		t.Errorf("outcome %s, want %s", r.Outcome, Broke)
	}
	h.Open = func(context.Context) (ports.Backend, error) { return nil, errors.New("disk full") }
	if _, err := check(t.Context(), h, nil, Options{}); err == nil {
		t.Error("a harness that can't open at all was started")
	}
}

func TestWaivers(t *testing.T) {
	t.Parallel()
	h := harnessOf(&fake{})
	h.Waive = map[string]string{"test/case": "known since May"}
	if r := outcomeOf(t, h, Case{run: func(e *env) { e.Errorf("wrong") }}); r.Outcome != Waived || r.Reason != "known since May" {
		t.Errorf("a waived case that fails: %s (%s)", r.Outcome, r.Reason)
	}
	if r := outcomeOf(t, h, Case{run: fetches}); r.Outcome != Fail || !strings.Contains(r.Text(), "remove the waiver") {
		t.Errorf("a waived case that passes: %s", r.Text())
	}
	for name, c := range map[string]Case{
		"a case of the questions": {ID: "test/case", Clauses: []string{"CLM-7"}, run: fetches},
		"an unknown case":         {ID: "test/other", run: fetches},
	} {
		if _, err := check(t.Context(), h, []Case{c}, Options{}); err == nil {
			t.Errorf("waiving %s was accepted", name)
		}
	}
	h.Waive["test/case"] = ""
	if _, err := check(t.Context(), h, []Case{{ID: "test/case", run: fetches}}, Options{}); err == nil {
		t.Error("a waiver without a reason was accepted")
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	pass, fail, broke := Result{Outcome: Pass}, Result{Outcome: Fail}, Result{Outcome: Broke}
	skip, waived := Result{Outcome: Skip}, Result{Outcome: Waived}
	for _, c := range []struct {
		results []Result
		want    int
	}{
		{nil, ExitCouldNotRun}, {[]Result{skip}, ExitCouldNotRun}, {[]Result{pass, skip}, ExitConformant},
		{[]Result{pass, waived}, ExitConformant}, {[]Result{pass, fail}, ExitNonConformant},
		{[]Result{pass, broke}, ExitCouldNotRun}, {[]Result{broke, fail}, ExitNonConformant},
	} {
		if got := (Report{Results: c.results}).ExitCode(); got != c.want {
			t.Errorf("exit code of %v is %d, want %d", c.results, got, c.want)
		}
	}
	var out, errs bytes.Buffer
	for _, args := range [][]string{
		{"-run", "nothing-matches-this"}, {"-run", "("}, {"-no-such-flag"}, {"surplus"}, {"-seed", "0"}, {"-require", "core,+speed"},
		{"-json", filepath.Join(t.TempDir(), "no", "such", "dir")},
	} {
		if code := mainIn(t.Context(), harnessOf(&fake{}), append([]string{"certify"}, args...), &out, &errs); code != ExitCouldNotRun {
			t.Errorf("Main with %v exits %d, want %d", args, code, ExitCouldNotRun)
		}
	}
}

func TestLevelsAndQuestions(t *testing.T) {
	t.Parallel()
	h := harnessOf(&fake{})
	good, bad := func(*env) {}, func(e *env) { e.Errorf("wrong") }
	cases := []Case{
		{ID: "a/1", Clauses: []string{"RUN-1"}, run: good},
		{ID: "a/2", Clauses: []string{"CLM-7"}, run: bad},
		{ID: "b/1", Clauses: []string{"TX-1"}, Level: LevelTx, Requires: []Need{NeedTransactor}, run: bad},
		{ID: "c/1", Clauses: []string{"LIF-1"}, Level: LevelDurable, Requires: []Need{NeedReopen}, run: bad},
		{ID: "d/1", Clauses: []string{"EVT-1"}, Level: LevelWakes, run: good},
	}
	report, err := check(t.Context(), h, cases, Options{})
	if err != nil {
		t.Fatal(err)
	}
	levels := map[Level]Verdict{}
	for _, l := range report.Levels {
		levels[l.Level] = l.Verdict
	}
	want := map[Level]Verdict{
		LevelCore: Refused, LevelTx: NotDeclared, LevelWakes: Granted, LevelDurable: NotCertified,
		LevelRetention: NotCertified, LevelAdmission: NotCertified,
	}
	if diff := cmp.Diff(want, levels); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	answers := map[string]Verdict{}
	for _, q := range report.Questions {
		answers[q.Question] = q.Verdict
	}
	wantAnswers := map[string]Verdict{"transaction atomicity": Granted, "claim fencing": Refused, "checkpoint sequencing": Granted}
	if diff := cmp.Diff(wantAnswers, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	some, err := check(t.Context(), h, cases, Options{Select: regexp.MustCompile("^d/")})
	if err != nil {
		t.Fatal(err)
	}
	if v := some.Levels[0]; v.Verdict != NotCertified || len(some.Results) != 1 {
		t.Errorf("core with no case selected: %+v", v)
	}
}

func TestCleanUpsRunLastFirst(t *testing.T) {
	t.Parallel()
	var order []int
	closed := 0
	outcomeOf(t, harnessOf(&fake{closed: &closed}), Case{run: func(e *env) {
		for i := range 3 {
			e.Cleanup(func() { order = append(order, i) })
		}
		e.Cleanup(func() { e.Cleanup(func() { order = append(order, 9) }) })
		e.open()
		e.Fatalf("in the middle")
	}})
	if diff := cmp.Diff([]int{9, 2, 1, 0}, order); diff != "" {
		t.Errorf("order of clean-ups (-want +got):\n%s", diff)
	}
	if closed != 2 { // once for the capabilities, once for the case
		t.Errorf("the store was closed %d times, want 2", closed)
	}
}

func TestSeedsReproduce(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64, id string) uint64 {
		return newEnv(newTrial(t.Context()), Harness{}, Case{ID: id}, seed).rand.Uint64()
	}
	first := draw(7, "a/b")
	if again := draw(7, "a/b"); again != first {
		t.Error("one seed gives two sequences")
	}
	if first == draw(8, "a/b") || first == draw(7, "a/c") {
		t.Error("another seed or case gives the same sequence")
	}
}

// TestCasesAreWellFormed keeps the catalogue honest.
func TestCasesAreWellFormed(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`^[a-z]+/[a-z0-9]+(-[a-z0-9]+)*$`)
	clause := regexp.MustCompile(`^(SCP|GRF|RUN|CLM|EVT|VAL|LIM|WAK|PRN|TX|LIF|ADM)-[1-9][0-9]?$`)
	cases := Cases()
	seen := map[string]bool{}
	cited := map[string]bool{}
	for i, c := range cases {
		if !id.MatchString(c.ID) || seen[c.ID] {
			t.Errorf("case %q: malformed or repeated id", c.ID)
		}
		seen[c.ID] = true
		if i > 0 && cases[i-1].ID >= c.ID {
			t.Errorf("case %q is out of order", c.ID)
		}
		if len(c.Clauses) == 0 || c.run == nil || !strings.HasSuffix(c.Rule, ".") {
			t.Errorf("case %q lacks a clause, a function or a rule that is a sentence", c.ID)
		}
		for _, name := range c.Clauses {
			if !clause.MatchString(name) {
				t.Errorf("case %q cites %q", c.ID, name)
			}
			cited[name] = true
		}
	}
	for _, c := range cases {
		for _, name := range c.Clauses {
			// The exception asks those that declare nothing, too.
			if r := (Result{Requires: c.Requires}); !r.mayProve(name) && c.ID != "capabilities/declared-is-present" {
				t.Errorf("case %q cites %s and doesn't require the capability", c.ID, name)
			}
		}
	}
	for _, q := range Questions() {
		for _, name := range q.Clauses {
			if !cited[name] {
				t.Errorf("question %q asks about %s, which no case proves", q.Name, name)
			}
		}
	}
}

func TestTextShowsRuleAndCalls(t *testing.T) {
	t.Parallel()
	lying := &fake{fetch: func(context.Context) error { return nil }}
	r := outcomeOf(t, harnessOf(lying), Case{ID: "test/lies", Clauses: []string{"RUN-1"}, Rule: "It doesn't lie.", run: fetches})
	want := `FAIL  test/lies  [RUN-1]
  rule: It doesn't lie.
  - fetching: succeeded, want "docket: not found"
  calls (T is 2031-05-06T07:08:09.123457Z):
    #1 FetchRun {Scope:system RunID:"r"} → {}`
	if diff := cmp.Diff(want, r.Text()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestLogKeepsTheLatestCalls(t *testing.T) {
	t.Parallel()
	var log opLog
	for range 500 {
		log.end(log.begin("", "Op", nil), nil, nil)
	}
	lines := log.lines()
	if len(lines) != logLength+1 || lines[0] != "(460 earlier calls are left out)" || lines[logLength] != "#500 Op → ok" {
		t.Errorf("%d lines, first %q, last %q", len(lines), lines[0], lines[len(lines)-1])
	}
}
