package history

import (
	"math"

	"github.com/docket-go/docket/conformance/model"
)

// MaxCalls is the longest history that Check takes.
const MaxCalls = 64

// maxSteps bounds one search; a history of the suite takes some hundreds.
const maxSteps = 200_000

// Verdict is what Check found.
type Verdict struct {
	Linearizable bool
	Undecided    bool  // the search took more steps than it may, or the history is too long
	Longest      []int // the longest explained order, as indexes of the calls
	Steps        int   // applications of a call to a state
	States       int   // different (calls done, state) pairs
}

// Check searches an order of the calls that explains them, from the initial
// state, which it leaves alone.
func Check(initial *model.State, calls []Call) Verdict {
	return check(initial, calls, maxSteps)
}

func check(initial *model.State, calls []Call, budget int) Verdict {
	if len(calls) > MaxCalls {
		return Verdict{Undecided: true}
	}
	s := search{calls: calls, budget: budget, seen: map[node]bool{}}
	for i, c := range calls {
		if !c.Maybe {
			s.needed |= 1 << i
		}
	}
	s.verdict.Linearizable = s.explain(0, initial, nil)
	s.verdict.States = len(s.seen)
	if s.verdict.Linearizable {
		s.verdict.Undecided = false
	}
	return s.verdict
}

// node is a point of the search that failed, or is being tried.
type node struct {
	done  uint64
	state string
}

type search struct {
	calls   []Call
	needed  uint64
	budget  int
	seen    map[node]bool
	verdict Verdict
}

// explain tries every call that may come next.
func (s *search) explain(done uint64, state *model.State, order []int) bool {
	if len(order) > len(s.verdict.Longest) {
		s.verdict.Longest = append([]int(nil), order...)
	}
	if done&s.needed == s.needed {
		return true
	}
	at := node{done, state.Fingerprint()}
	if s.seen[at] {
		return false
	}
	s.seen[at] = true
	first := s.firstEnd(done)
	for i, c := range s.calls {
		if done&(1<<i) != 0 || c.Invoked > first {
			continue
		}
		if s.verdict.Steps++; s.verdict.Steps > s.budget {
			s.verdict.Undecided = true
			return false
		}
		next := state.Clone()
		if c.Step(next) && s.explain(done|1<<i, next, append(order, i)) {
			return true
		}
	}
	return false
}

// firstEnd is when the first of the calls that aren't done ended: none of the
// others may come before it unless it had begun by then.
func (s *search) firstEnd(done uint64) int64 {
	first := int64(math.MaxInt64)
	for i, c := range s.calls {
		if done&(1<<i) == 0 {
			first = min(first, c.Returned)
		}
	}
	return first
}
