package conformance

import (
	"os"
	"strconv"
)

// SeedVariable names the environment variable that gives Run another seed.
const SeedVariable = "CONFORMANCE_SEED"

// Run runs the suite against h as parallel subtests of t, a *testing.T. A case
// that fails shows its rule, its clauses, its seed and the calls it made.
func Run[S Testing[S]](t S, h Harness) {
	t.Helper()
	seed, err := seedFromEnvironment()
	if err != nil {
		t.Fatalf("%v", err)
	}
	p, err := newPlan(t.Context(), h, Cases(), Options{Seed: seed})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, c := range p.cases {
		t.Run(c.ID, func(t S) {
			t.Parallel()
			tell(t, p.run(t.Context(), c), p.seed)
		})
	}
}

func seedFromEnvironment() (uint64, error) {
	text := os.Getenv(SeedVariable)
	if text == "" {
		return 0, nil
	}
	return strconv.ParseUint(text, 10, 64)
}

// tell passes a result on to a test.
func tell(t T, r Result, seed uint64) {
	t.Helper()
	switch r.Outcome {
	case Pass:
	case Skip:
		t.Skipf("%s", r.Reason)
	case Waived:
		t.Skipf("waived: %s; it fails with: %v", r.Reason, r.Failures)
	default:
		t.Errorf("%s\n(reproduce with %s=%d)", r.Text(), SeedVariable, seed)
	}
}
