package history

import (
	"fmt"
	"testing"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
)

// register is a state with one number: the sequence of a run.
func register() *model.State {
	s := model.New()
	s.Put(model.Row{Run: record.Run{ID: "r", Graph: graph.Ref{}, CheckpointSeq: 1}})
	return s
}

// swap is a compare-and-set that answered that it succeeded, or not.
func swap(from, to int64, succeeded bool) func(*model.State) bool {
	return func(s *model.State) bool {
		r, _ := s.Row("r")
		if (r.Run.CheckpointSeq == from) != succeeded {
			return false
		}
		if succeeded {
			r.Run.CheckpointSeq = to
			s.Put(r)
		}
		return true
	}
}

// read is a read that answered n.
func read(n int64) func(*model.State) bool {
	return func(s *model.State) bool {
		r, _ := s.Row("r")
		return r.Run.CheckpointSeq == n
	}
}

// during is a call that began and ended at given times.
func during(from, to int64, step func(*model.State) bool) Call {
	return Call{Invoked: from, Returned: to, Step: step}
}

func lost(from int64, step func(*model.State) bool) Call {
	return Call{Invoked: from, Returned: 1 << 62, Maybe: true, Step: step}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		calls []Call
		want  bool
	}{
		"no calls":                       {nil, true},
		"one after another":              {[]Call{during(1, 2, swap(1, 2, true)), during(3, 4, read(2))}, true},
		"overlapping, the later first":   {[]Call{during(1, 4, read(2)), during(2, 3, swap(1, 2, true))}, true},
		"one of two wins":                {[]Call{during(1, 3, swap(1, 2, true)), during(2, 4, swap(1, 3, false))}, true},
		"lost update":                    {[]Call{during(1, 3, swap(1, 2, true)), during(2, 4, swap(1, 3, true))}, false},
		"stale read":                     {[]Call{during(1, 2, swap(1, 2, true)), during(3, 4, read(1))}, false},
		"reads that go back":             {[]Call{during(1, 9, swap(1, 2, true)), during(2, 3, read(2)), during(4, 5, read(1))}, false},
		"nobody won":                     {[]Call{during(1, 3, swap(1, 2, false)), during(2, 4, swap(1, 3, false))}, false},
		"lost and applied":               {[]Call{lost(1, swap(1, 2, true)), during(2, 3, read(2))}, true},
		"lost and not applied":           {[]Call{lost(1, swap(1, 2, true)), during(2, 3, read(1))}, true},
		"lost and applied late":          {[]Call{lost(1, swap(1, 2, true)), during(2, 3, read(1)), during(4, 5, read(2))}, true},
		"lost and undone":                {[]Call{lost(1, swap(1, 2, true)), during(2, 3, read(2)), during(4, 5, read(1))}, false},
		"lost, seen before it was begun": {[]Call{during(1, 2, read(2)), lost(3, swap(1, 2, true))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			initial := register()
			before := initial.Fingerprint()
			got := Check(initial, c.calls)
			if got.Linearizable != c.want || got.Undecided {
				t.Errorf("%+v, want linearizable %v", got, c.want)
			}
			if initial.Fingerprint() != before {
				t.Error("the initial state was changed")
			}
			if got.Linearizable && len(got.Longest) < len(c.calls)-countMaybe(c.calls) {
				t.Errorf("the explanation %v leaves calls out", got.Longest)
			}
		})
	}
}

func countMaybe(calls []Call) int {
	n := 0
	for _, c := range calls {
		if c.Maybe {
			n++
		}
	}
	return n
}

// TestCheckIsBounded: what is too long, or takes too many steps, is undecided
// and not wrong.
func TestCheckIsBounded(t *testing.T) {
	t.Parallel()
	var long []Call
	for i := range int64(MaxCalls + 1) {
		long = append(long, during(2*i, 2*i+1, read(1)))
	}
	if got := Check(register(), long); !got.Undecided || got.Linearizable {
		t.Errorf("a history of %d calls: %+v", len(long), got)
	}
	if got := Check(register(), long[:MaxCalls]); got.Undecided || !got.Linearizable {
		t.Errorf("a history of %d calls: %+v", MaxCalls, got)
	}
	var wide []Call // any subset of 40 no-ops may come first: too many to try
	for i := range int64(40) {
		wide = append(wide, during(i, 1000, read(1)))
	}
	wide = append(wide, during(50, 1001, read(7)))
	if got := check(register(), wide, 3000); !got.Undecided || got.Linearizable {
		t.Errorf("a search without end: %+v", got)
	}
}

func TestRecorder(t *testing.T) {
	t.Parallel()
	var r Recorder
	first, second := r.Begin(1), r.Begin(2)
	second.End("second", read(1))
	first.Lost("first", read(1))
	got := ""
	for _, c := range r.Calls() {
		got += fmt.Sprintf("%d %s from %d maybe %v; ", c.Worker, c.Text, c.Invoked, c.Maybe)
	}
	if want := "1 first from 1 maybe true; 2 second from 2 maybe false; "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
