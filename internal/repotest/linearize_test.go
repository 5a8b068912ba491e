package repotest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/docket-go/docket/adapters/memory"
	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/history"
	"github.com/docket-go/docket/conformance/model"
)

// specification is the model of the contract as porcupine wants it.
func specification(initial *model.State) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, _ any) (bool, any) {
			next := state.(*model.State).Clone()
			return input.(history.Call).Step(next), next
		},
		Equal: func(a, b any) bool {
			return a.(*model.State).Fingerprint() == b.(*model.State).Fingerprint()
		},
	}
}

// agree has both checkers judge a history and returns the verdict.
func agree(t *testing.T, what string, initial *model.State, calls []history.Call) bool {
	t.Helper()
	var operations []porcupine.Operation
	for _, c := range calls {
		operations = append(operations, porcupine.Operation{ClientId: c.Worker, Input: c, Call: c.Invoked, Return: c.Returned})
	}
	theirs := porcupine.CheckOperations(specification(initial), operations)
	ours := history.Check(initial, calls)
	if ours.Undecided || ours.Linearizable != theirs {
		t.Errorf("%s: porcupine says %v, the suite's checker %+v", what, theirs, ours)
	}
	return theirs
}

// TestHistoriesAgainstPorcupine cross-checks the suite's own checker with an
// independent one, on histories of a real backend and on the same ones spoiled.
func TestHistoriesAgainstPorcupine(t *testing.T) {
	t.Parallel()
	for name, workload := range map[string]conformance.Workload{
		"commits": conformance.CommitsAndSignals, "claims": conformance.ClaimsAndReleases, "everything": conformance.Everything,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := 0
			for seed := range uint64(15) {
				workload.Seed = seed
				initial, calls := recordHistory(t, workload)
				if !agree(t, fmt.Sprintf("seed %d", seed), initial, calls) {
					t.Errorf("seed %d: a history of the memory backend has no order", seed)
				}
				r := rand.New(rand.NewPCG(seed, 1))
				for n := range 6 {
					if !agree(t, fmt.Sprintf("seed %d, spoiled %d", seed, n), initial, spoiled(r, calls)) {
						wrong++
					}
				}
			}
			if wrong < 10 {
				t.Errorf("only %d of 90 spoiled histories are wrong: they prove little", wrong)
			}
		})
	}
}

func recordHistory(t *testing.T, w conformance.Workload) (*model.State, []history.Call) {
	t.Helper()
	b := memory.New(memory.Config{})
	defer b.Close()
	initial, calls, err := conformance.History(context.WithoutCancel(t.Context()), b, w)
	if err != nil {
		t.Fatal(err)
	}
	return initial, calls
}

// spoiled loses a call, or moves one to another time.
func spoiled(r *rand.Rand, calls []history.Call) []history.Call {
	i := r.IntN(len(calls))
	if r.IntN(2) == 0 {
		return append(append([]history.Call(nil), calls[:i]...), calls[i+1:]...)
	}
	moved := append([]history.Call(nil), calls...)
	j := r.IntN(len(calls))
	a, b := &moved[i], &moved[j]
	a.Invoked, a.Returned, b.Invoked, b.Returned = b.Invoked, b.Returned, a.Invoked, a.Returned
	// Calls of one worker may overlap now; both checkers take that.
	for n := range moved {
		moved[n].Worker = n
	}
	return moved
}
