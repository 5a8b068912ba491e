package run_test

import (
	"slices"
	"testing"

	"github.com/docket-go/docket/core/run"
)

// TestTransitionMatrix checks every pair of statuses, both the allowed and the
// refused.
func TestTransitionMatrix(t *testing.T) {
	allowed := map[run.Status][]run.Status{
		run.Created:   {run.Running},
		run.Running:   {run.Running, run.Waiting, run.Done, run.Failed, run.Cancelled},
		run.Waiting:   {run.Running, run.Cancelled},
		run.Done:      nil,
		run.Failed:    nil,
		run.Cancelled: nil,
	}
	all := append([]run.Status{run.Created, "", "unknown"}, run.Statuses()...)
	for _, from := range all {
		for _, to := range all {
			if got, want := run.CanTransition(from, to), slices.Contains(allowed[from], to); got != want {
				t.Errorf("CanTransition(%q, %q) = %v, want %v", from, to, got, want)
			}
		}
	}
}

func TestStatusClasses(t *testing.T) {
	for _, s := range run.Statuses() {
		if !s.Durable() {
			t.Errorf("%s isn't durable", s)
		}
		terminal := s == run.Done || s == run.Failed || s == run.Cancelled
		if s.Terminal() != terminal {
			t.Errorf("%s.Terminal() = %v", s, s.Terminal())
		}
	}
	for _, s := range []run.Status{run.Created, "", "RUNNING"} {
		if s.Durable() || s.Terminal() {
			t.Errorf("%q is durable or terminal", s)
		}
	}
}
