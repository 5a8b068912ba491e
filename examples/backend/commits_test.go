package backend

import (
	"errors"
	"testing"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// TestAdvanceRefuses shows what the suite can't ask for, since callers guarantee
// it: a transition that would give a run another graph or another beginning.
func TestAdvanceRefuses(t *testing.T) {
	t.Parallel()
	started := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	stored := record.Run{ID: "r", Graph: graph.Ref{ID: "g", Hash: "a"}, StartedAt: started, EventSeq: 2}
	for _, c := range []struct {
		path   string
		change func(*record.Run)
	}{
		{"", func(*record.Run) {}},
		{"Transition.Run.Graph", func(r *record.Run) { r.Graph.Hash = "b" }},
		{"Transition.Run.StartedAt", func(r *record.Run) { r.StartedAt = started.Add(time.Microsecond) }},
		{"Transition.Events", func(r *record.Run) { r.EventSeq++ }},
	} {
		r, next := row{run: stored, attempts: 1}, stored
		c.change(&next)
		err := r.advance("CommitClaimed", record.Transition{Run: next})
		var told *ports.Error
		switch {
		case c.path == "" && (err != nil || r.attempts != 0):
			t.Errorf("the next transition: %v, attempts %d", err, r.attempts)
		case c.path != "" && (!errors.As(err, &told) || told.Code != ports.CodeInvalid || told.Path != c.path):
			t.Errorf("%s: %v", c.path, err)
		case c.path != "" && r.attempts != 1:
			t.Errorf("%s: refused, and it changed the row", c.path)
		}
	}
}
