package simulation

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
)

var (
	seeds = flag.Int("sim.seeds", 24, "worlds to simulate")
	first = flag.Uint64("sim.seed", 1, "the first world's seed; the others follow")
	runs  = flag.Int("sim.runs", 25, "runs in each world")
)

// TestSimulation lives through worlds with all faults.
func TestSimulation(t *testing.T) {
	began, total := time.Now(), map[string]int{}
	for i := range *seeds {
		seed := *first + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			report := simulate(t, Config{Seed: seed, Runs: *runs})
			tell(t, seed, report)
			for what, n := range report.Figures {
				total[what] += n
			}
		})
	}
	t.Logf("%d worlds of %d runs in %v\n%s", *seeds, *runs, time.Since(began).Round(time.Millisecond), table(total))
	if *seeds >= 24 && *runs >= 25 {
		checkFigures(t, total)
	}
}

// TestCalm lives through worlds in which nothing goes wrong: then no attempt is
// made twice, unless an answer or a cancellation comes meanwhile, and no run is
// given back or taken from anybody.
func TestCalm(t *testing.T) {
	for seed := range uint64(3) {
		report := simulate(t, Config{Seed: seed, Runs: *runs, Calm: true})
		tell(t, seed, report)
		for _, what := range []string{
			"node attempts made more than once, without a signal in between", "claims stolen after they ran out",
			"runs given back for want of an implementation", "runs poisoned after too many launches",
		} {
			if n := report.Figures[what]; n > 0 {
				t.Errorf("seed %d: %d %s", seed, n, what)
			}
		}
		for what, n := range report.Figures {
			if strings.HasPrefix(what, "fault: ") {
				t.Errorf("seed %d: %d times %s", seed, n, what)
			}
		}
	}
}

// TestKeptSeeds repeats the worlds in which something was once wrong.
func TestKeptSeeds(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "seeds.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		seed, err := strconv.ParseUint(fields[0], 10, 64)
		if err != nil || len(fields) != 2 {
			t.Fatalf("%q: want a seed and a number of runs", lines.Text())
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fields[0], func(t *testing.T) {
			for range 3 { // the scheduler keeps some freedom
				tell(t, seed, simulate(t, Config{Seed: seed, Runs: n}))
			}
		})
	}
}

// simulate lives through one world. What the engines draw from the system's
// randomness comes from the seed too. A goroutine that outlives the world fails
// the test.
func simulate(t *testing.T, cfg Config) (report Report) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, cfg.Seed)
	synctest.Test(t, func(t *testing.T) { report = Simulate(t.Context(), cfg) })
	return report
}

// maxTold bounds what one failing world prints.
const maxTold = 3

// tell fails the test with what is wrong, the run with the shortest trace first.
func tell(t *testing.T, seed uint64, report Report) {
	t.Helper()
	if len(report.Violations) == 0 {
		return
	}
	t.Errorf("seed %d: %d violations; repeat with -sim.seeds=1 -sim.seed=%d", seed, len(report.Violations), seed)
	for _, v := range shortest(report.Violations) {
		t.Errorf("%s: run %q: %s\n%s", v.Check, v.RunID, v.Message, strings.Join(v.Trace, "\n"))
	}
}

func shortest(all []Violation) []Violation {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Violation) int { return len(a.Trace) - len(b.Trace) })
	return all[:min(len(all), maxTold)]
}

func table(figures map[string]int) string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(figures)) {
		fmt.Fprintf(&b, "%8d  %s\n", figures[what], what)
	}
	return b.String()
}

// checkFigures wants proof that the faults did happen: without them the test would
// show nothing.
func checkFigures(t *testing.T, figures map[string]int) {
	t.Helper()
	for _, what := range []string{
		"fault: request lost (unavailable)", "fault: answer lost (uncertain, applied)",
		"fault: request late (uncertain, applied later if at all)", "fault: slow call",
		"fault: wake lost", "fault: wake repeated", "fault: process killed before CommitClaimed",
		"fault: process killed after CommitClaimed", "fault: process frozen, past its lease",
		"fault: process restarted gracefully", "fault: process lacks an implementation",
		"fault: the store's clock jumps", "fault: moments of a process with a skewed clock",
		"late requests that were applied", "late requests that were refused",
		"claims stolen after they ran out", "CommitClaimed refused by the fence",
		"runs poisoned after they were given back too often", "waits that ended with their run",
		"node attempts made more than once", "committed: retry_scheduled", "committed: interrupt_resolved",
		"runs done", "runs failed", "runs cancelled",
	} {
		if figures[what] == 0 {
			t.Errorf("it never happened: %s", what)
		}
	}
}

// TestRandomGraphsCompile wants every graph of the generator to be publishable.
func TestRandomGraphsCompile(t *testing.T) {
	w := &world{}
	registry, err := w.registry(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 500 {
		g, err := randomGraph(chance(n).at("graph"), "g")
		if err != nil {
			t.Fatalf("seed %d: %v", n, err)
		}
		if err := compiles(g, registry); err != nil {
			t.Errorf("seed %d: %v", n, err)
		}
	}
}

func compiles(g graph.Graph, registry *node.Registry) error {
	_, _, err := compiler.Compile(g, registry)
	return err
}
