package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// State is everything that is stored. Make one with New; it is not safe for
// concurrent use.
type State struct {
	graphs map[graphKey]record.GraphVersion
	runs   map[string]row
}

type graphKey struct {
	owner record.Owner
	ref   graph.Ref
}

// row is a stored run. Rows are values: an operation that is refused has changed
// a copy.
type row struct {
	owner  record.Owner
	run    record.Run
	events []record.Event

	wake      time.Time // zero: none
	token     string    // "": unclaimed
	claimedAt time.Time
	claimEnd  time.Time
	attempts  int64
	abandons  int64
	poison    ports.Poison
}

// New returns an empty store.
func New() *State {
	return &State{graphs: map[graphKey]record.GraphVersion{}, runs: map[string]row{}}
}

// Clone returns an independent copy.
func (s *State) Clone() *State {
	c := New()
	for k, v := range s.graphs {
		c.graphs[k] = v.Clone()
	}
	for id, r := range s.runs {
		c.runs[id] = r.clone()
	}
	return c
}

func (r row) clone() row {
	r.run = r.run.Clone()
	events := make([]record.Event, len(r.events))
	for i, e := range r.events {
		events[i] = e.Clone()
	}
	r.events = events
	return r
}

func (r row) terminal() bool {
	return r.run.Status == "done" || r.run.Status == "failed" || r.run.Status == "cancelled"
}

func (r row) poisoned() bool { return r.poison != ports.Poison{} }

func (r row) claimed() bool { return r.token != "" }

// unclaim takes the claim away.
func (r *row) unclaim() { r.token, r.claimedAt, r.claimEnd = "", time.Time{}, time.Time{} }

// poisonAs takes the run out of delivery: neither wake nor claim (RUN-11).
func (r *row) poisonAs(reason ports.PoisonReason, now time.Time) {
	r.unclaim()
	r.wake, r.poison = time.Time{}, ports.Poison{At: now, Reason: reason}
}

// visible finds a run inside a scope: unknown and foreign are one answer (SCP-3).
// Its bytes are the state's own: whatever leaves the model is a copy.
func (s *State) visible(op string, scope ports.Scope, id string) (row, error) {
	r, ok := s.runs[id]
	if !ok || !scope.Matches(r.owner) {
		return row{}, ports.NotFound(op)
	}
	return r, nil
}

// held finds a run whose claim is held under exactly the token (CLM-6). An
// expired claim is still held (CLM-11).
func (s *State) held(op string, scope ports.Scope, id, token string) (row, error) {
	r, err := s.visible(op, scope, id)
	if err == nil && r.token != token {
		return row{}, ports.Stale(op)
	}
	return r, err
}

func (s *State) put(r row) { s.runs[r.run.ID] = r }

// RunIDs lists every run, by id.
func (s *State) RunIDs() []string {
	ids := make([]string, 0, len(s.runs))
	for id := range s.runs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Token tells a run's current token, "" when it is unclaimed or unknown.
func (s *State) Token(id string) string { return s.runs[id].token }

// byTimeAndID orders newest first (RUN-9, GRF-3).
func byTimeAndID(a, b time.Time, idA, idB string) int {
	return cmp.Or(b.Compare(a), cmp.Compare(idB, idA))
}
