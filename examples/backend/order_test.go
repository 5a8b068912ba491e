package backend

import (
	"context"
	"regexp"
	"testing"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/ports"
)

// order is the order to build a backend in: after each step the cases that match
// pass, although the rest isn't there yet.
var order = []struct {
	build string
	cases string
	store func(*Store) ports.Backend
}{
	{
		"the frame, and Graphs",
		`^graphs/`,
		func(s *Store) ports.Backend { return unfinished{store: s, Graphs: s} },
	},
	{
		"InsertRun, the reads of Runs, and Events",
		`^(insert/(stores|taken|graph|shape)|list/(newest|pages|shape)|events/(pages|default|missing|an-empty))`,
		func(s *Store) ports.Backend { return unfinished{store: s, Graphs: s, Runs: uncommitted{s}, Events: s} },
	},
	{
		"Claims, and RecoverRun",
		`^(capabilities|inspect)/|^claims/(a-lease|due|expired|end|limit|tokens|exactly|inside|both|preferred)|^recover/poisoned`,
		func(s *Store) ports.Backend { return unfinished{s, s, uncommitted{s}, s, s} },
	},
	{
		"the two commits",
		``,
		func(s *Store) ports.Backend { return s },
	},
}

// TestOrder certifies a store step by step.
func TestOrder(t *testing.T) {
	t.Parallel()
	for _, step := range order[:len(order)-1] { // the last one is TestConformance
		report, err := conformance.Check(t.Context(), conformance.Harness{
			Name: step.build,
			Open: func(context.Context) (ports.Backend, error) { return step.store(New()), nil },
		}, conformance.Options{Select: regexp.MustCompile(step.cases)})
		if err != nil {
			t.Fatal(err)
		}
		if report.ExitCode() != conformance.ExitConformant || report.Count(conformance.Pass) < 8 {
			t.Errorf("%s: %s", step.build, report.Sentence())
			for _, r := range report.Results {
				if r.Outcome == conformance.Fail {
					t.Logf("%s: %v", r.ID, r.Failures)
				}
			}
		}
	}
}

// unfinished is a store of which some roles are there: calls of the others find
// nil.
type unfinished struct {
	store *Store
	ports.Graphs
	ports.Runs
	ports.Claims
	ports.Events
}

func (u unfinished) Capabilities() ports.Capabilities { return u.store.Capabilities() }

func (u unfinished) Close() error { return u.store.Close() }

// uncommitted is the role Runs before its commits are built.
type uncommitted struct{ ports.Runs }

func (uncommitted) CommitClaimed(context.Context, ports.CommitClaimed) (ports.Committed, error) {
	return ports.Committed{}, ports.Unsupported("CommitClaimed", "not built yet")
}

func (uncommitted) CommitUnclaimed(context.Context, ports.CommitUnclaimed) (ports.Committed, error) {
	return ports.Committed{}, ports.Unsupported("CommitUnclaimed", "not built yet")
}
