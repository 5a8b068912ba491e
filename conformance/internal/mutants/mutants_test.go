package mutants

import (
	"flag"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/conformance"
)

var update = flag.Bool("update", false, "write kills.txt and docs/mutants.md")

var (
	// generated cases depend on a seed: what they find is recorded, not asserted,
	// but for races.
	generated = regexp.MustCompile(`^(scripts|races)/`)
	// heavy cases are about sizes alone, and take most of the suite's time: they
	// run against the mutants of LIM.
	heavy = regexp.MustCompile(`^limits/(at-the-limit|over-the-limit|events-of)`)
	races = regexp.MustCompile(`^(race|races)/`)
	// concurrent cases depend on the scheduler: what they find is asserted for
	// racy mutants only.
	concurrent = regexp.MustCompile(`^(race|races)/|concurrent|two-handles-claim|cancelled-calls`)
)

// TestMain trades memory, of which little is used, for time, and runs more
// mutants at once than there are processors: some only wait.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	flag.Parse()
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// red runs the cases against a mutant and lists those that fail.
func red(t *testing.T, m Mutant, o conformance.Options) []string {
	t.Helper()
	o.Parallel, o.Patience = 8, time.Second // much of a case is waiting
	if m.alone {
		o.Parallel = 1
	}
	report, err := conformance.Check(t.Context(), Harness(m), o)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range report.Results {
		switch r.Outcome {
		case conformance.Fail:
			ids = append(ids, r.ID)
		case conformance.Broke:
			t.Errorf("the harness broke: %s", r.Text())
		}
	}
	return ids
}

// examples selects the cases that are asserted for a mutant.
func examples(m Mutant) conformance.Options {
	except := generated.String() + "|" + concurrent.String()
	if !strings.HasPrefix(m.Clause, "LIM-") {
		except += "|" + heavy.String()
	}
	return conformance.Options{Except: regexp.MustCompile(except)}
}

// TestMutantsAreKilled is the test of the suite: against each mutant exactly the
// listed cases go red, and one of them cites the mutant's clause.
func TestMutantsAreKilled(t *testing.T) {
	t.Parallel()
	all := All()
	found := newMatrix(all)
	t.Cleanup(func() {
		if !*update {
			return
		}
		if err := found.write(); err != nil {
			t.Error(err)
		}
	})
	for i, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			kills := examined(t, m)
			if !slices.ContainsFunc(kills, func(id string) bool { return cites(id, m.Clause) }) {
				t.Errorf("no case that cites %s kills it: %v", m.Clause, kills)
			}
			found.set(i, kills)
		})
	}
}

// examined asserts what a mutant turns red.
func examined(t *testing.T, m Mutant) []string {
	t.Helper()
	if m.Racy {
		return examinedRace(t, m)
	}
	got := red(t, m, examples(m))
	// A loaded machine may fail a case that waits: it has another try.
	for n := 1; n < tries && !*update && !slices.Equal(got, m.Kills); n++ {
		got = red(t, m, examples(m))
	}
	if !*update && !slices.Equal(got, m.Kills) {
		t.Errorf("red are\n  %s\nand listed are\n  %s", strings.Join(got, "\n  "), strings.Join(m.Kills, "\n  "))
	}
	return got
}

// examinedRace asserts that the listed cases go red, and none that isn't a race.
func examinedRace(t *testing.T, m Mutant) []string {
	t.Helper()
	if got := red(t, m, examples(m)); len(got) > 0 {
		t.Errorf("cases without concurrency go red: %v", got)
	}
	if *update {
		return reliable(t, m)
	}
	// The seed says what the calls are, the scheduler which of them overlap.
	left := m.Kills
	for range tries {
		got := red(t, m, conformance.Options{Select: races})
		if left = slices.DeleteFunc(slices.Clone(left), func(id string) bool { return slices.Contains(got, id) }); len(left) == 0 {
			return m.Kills
		}
	}
	t.Errorf("in %d tries it isn't killed by %v", tries, left)
	return m.Kills
}

const tries = 3

// reliable lists the races that go red time after time.
func reliable(t *testing.T, m Mutant) []string {
	t.Helper()
	kills := red(t, m, conformance.Options{Select: races})
	for range 2 * tries {
		again := red(t, m, conformance.Options{Select: races})
		kills = slices.DeleteFunc(kills, func(id string) bool { return !slices.Contains(again, id) })
	}
	return kills
}

func cites(id, clause string) bool {
	for _, c := range conformance.Cases() {
		if c.ID == id {
			return slices.Contains(c.Clauses, clause)
		}
	}
	return false
}

// TestTheTrueModelSurvives proves that what the mutants show is theirs.
func TestTheTrueModelSurvives(t *testing.T) {
	t.Parallel()
	if got := red(t, Mutant{}, conformance.Options{}); len(got) > 0 {
		t.Errorf("against the true model go red: %v", got)
	}
}

// TestCatalogue keeps the list of mutants itself in order.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	clauses := map[string]bool{}
	for _, m := range All() {
		if names[m.Name] || m.Name == "" || !strings.HasSuffix(m.Off, ".") {
			t.Errorf("mutant %q: a repeated name, or no sentence", m.Name)
		}
		names[m.Name], clauses[m.Clause] = true, true
	}
	for _, c := range conformance.Cases() {
		for _, clause := range c.Clauses {
			if !clauses[clause] {
				t.Errorf("%s, which %s cites, has no mutant", clause, c.ID)
				clauses[clause] = true // once
			}
		}
	}
	for line := range strings.Lines(kills) {
		if name, _, _ := strings.Cut(line, ":"); !names[name] {
			t.Errorf("kills.txt names %q, which is no mutant", name)
		}
	}
}

// TestScriptsFindMutants records how many mutants the random scripts notice with
// the plain seed.
func TestScriptsFindMutants(t *testing.T) {
	t.Parallel()
	found := 0
	for _, m := range All() {
		if m.Racy || m.wrap != nil {
			continue
		}
		if len(red(t, m, conformance.Options{Select: regexp.MustCompile(`^scripts/`)})) > 0 {
			found++
		}
	}
	t.Logf("random scripts find %d of %d mutants", found, len(All()))
	if found < 20 {
		t.Errorf("random scripts find only %d mutants", found)
	}
}
