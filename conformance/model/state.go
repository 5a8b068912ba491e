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
	runs   map[string]Row
}

type graphKey struct {
	owner record.Owner
	ref   graph.Ref
}

// Row is a stored run. Rows are values: an operation that is refused has changed
// a copy.
type Row struct {
	Owner  record.Owner
	Run    record.Run
	Events []Event

	Wake      time.Time // zero: none
	Token     string    // "": unclaimed
	ClaimedAt time.Time
	ClaimEnd  time.Time
	Attempts  int64
	Abandons  int64
	Poison    ports.Poison
}

// Event is a stored event with the store's time of writing it (PRN-6).
type Event struct {
	record.Event
	WrittenAt time.Time
}

// New returns an empty store.
func New() *State {
	return &State{graphs: map[graphKey]record.GraphVersion{}, runs: map[string]Row{}}
}

// Clone returns an independent copy.
func (s *State) Clone() *State {
	c := New()
	for k, v := range s.graphs {
		c.graphs[k] = v.Clone()
	}
	for id, r := range s.runs {
		c.runs[id] = r.Clone()
	}
	return c
}

// Clone returns a copy that shares no bytes with r.
func (r Row) Clone() Row {
	r.Run = r.Run.Clone()
	events := make([]Event, len(r.Events))
	for i, e := range r.Events {
		events[i] = Event{e.Event.Clone(), e.WrittenAt}
	}
	r.Events = events
	return r
}

// Row returns a stored run as it is, whoever owns it. Its bytes are the state's
// own.
func (s *State) Row(id string) (Row, bool) {
	r, ok := s.runs[id]
	return r, ok
}

// Put stores a row as it is, whatever rule it breaks.
func (s *State) Put(r Row) { s.runs[r.Run.ID] = r }

// Drop removes a row.
func (s *State) Drop(id string) { delete(s.runs, id) }

// Graph returns a stored version as it is. Its bytes are the state's own.
func (s *State) Graph(owner record.Owner, ref graph.Ref) (record.GraphVersion, bool) {
	v, ok := s.graphs[graphKey{owner, ref}]
	return v, ok
}

// PutGraph stores a version as it is.
func (s *State) PutGraph(owner record.Owner, v record.GraphVersion) {
	s.graphs[graphKey{owner, v.Ref}] = v
}

// DropGraph removes a version.
func (s *State) DropGraph(owner record.Owner, ref graph.Ref) {
	delete(s.graphs, graphKey{owner, ref})
}

// Terminal reports whether the run has ended.
func (r Row) Terminal() bool {
	return r.Run.Status == "done" || r.Run.Status == "failed" || r.Run.Status == "cancelled"
}

// Poisoned reports whether the run is out of delivery.
func (r Row) Poisoned() bool { return r.Poison != ports.Poison{} }

// Claimed reports whether somebody holds the run.
func (r Row) Claimed() bool { return r.Token != "" }

// Unclaim takes the claim away.
func (r *Row) Unclaim() { r.Token, r.ClaimedAt, r.ClaimEnd = "", time.Time{}, time.Time{} }

// PoisonAs takes the run out of delivery: neither wake nor claim (RUN-11).
func (r *Row) PoisonAs(reason ports.PoisonReason, now time.Time) {
	r.Unclaim()
	r.Wake, r.Poison = time.Time{}, ports.Poison{At: now, Reason: reason}
}

// visible finds a run inside a scope: unknown and foreign are one answer (SCP-3).
// Its bytes are the state's own: whatever leaves the model is a copy.
func (s *State) visible(op string, scope ports.Scope, id string) (Row, error) {
	r, ok := s.runs[id]
	if !ok || !scope.Matches(r.Owner) {
		return Row{}, ports.NotFound(op)
	}
	return r, nil
}

// held finds a run whose claim is held under exactly the token (CLM-6). An
// expired claim is still held (CLM-11).
func (s *State) held(op string, scope ports.Scope, id, token string) (Row, error) {
	r, err := s.visible(op, scope, id)
	if err == nil && r.Token != token {
		return Row{}, ports.Stale(op)
	}
	return r, err
}

// RunIDs lists every run, by id.
func (s *State) RunIDs() []string {
	ids := make([]string, 0, len(s.runs))
	for id := range s.runs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// byTimeAndID orders newest first (RUN-9, GRF-3).
func byTimeAndID(a, b time.Time, idA, idB string) int {
	return cmp.Or(b.Compare(a), cmp.Compare(idB, idA))
}
