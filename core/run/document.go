package run

import (
	"maps"
	"slices"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Format is the number that documents and event payloads of this version open
// with.
const Format int64 = 1

// Run is the run document. See Validate for what always holds.
type Run struct {
	ID      string
	Graph   graph.Ref
	Status  Status
	Step    int64 // committed supersteps
	Input   map[string]any
	Output  map[string]any // only when Status is Done
	Failure *Failure       // only when Status is Failed

	// Channels holds the written state fields by runtime id ("state:draft").
	// Inputs need none: an input is its own channel at version 1.
	Channels map[string]Channel
	// Changed lists, sorted, the runtime ids whose channels the last superstep
	// changed: fields ("state:"), inputs at initialisation ("input:"), and the
	// edges it triggered ("edge:"), whose activation lives one step.
	Changed []string
	// Barriers holds, by runtime id, the sources (sorted) that completed since
	// the barrier edge last fired.
	Barriers map[string][]string
	// Pending lists, sorted, the nodes that interrupted and haven't run again.
	Pending []string
	// Active is the superstep that is parked for a retry; nil when none is.
	Active     *Superstep
	Interrupts map[string]Interrupt

	CheckpointSeq int64
	EventSeq      int64
	StartedAt     time.Time
	UpdatedAt     time.Time
	FinishedAt    time.Time // zero until Status is terminal
	Metadata      map[string]any
}

// Channel is a state field's committed value.
type Channel struct {
	Value   any
	Unset   bool  // the field was reset: its default applies again
	Version int64 // committed changes, from 1
}

// Superstep is a superstep that some tasks still have to finish.
type Superstep struct {
	// Snapshot and Versions are the committed values every task of the superstep
	// sees, by field name, whatever answers arrive meanwhile.
	Snapshot  map[string]any
	Versions  map[string]int64
	InputHash string // SHA-256 of the snapshot's canonical bytes
	Tasks     map[string]Task
	Writes    map[string]PendingWrite // finished siblings by task id
}

// Task is an activation that will be attempted again.
type Task struct {
	NodeID         string
	Attempt        int64 // the next attempt, from 2
	IdempotencyKey string
	DueAt          time.Time // its timer
	Failures       []AttemptFailure
}

// AttemptFailure tells how an attempt failed.
type AttemptFailure struct {
	Attempt int64
	Reason  string // error, panic, exit, timeout
	Message string
}

// PendingWrite is a finished task's result, invisible until the barrier.
type PendingWrite struct {
	NodeID     string
	Attempt    int64
	Update     map[string]any
	Reset      []string
	Interrupts []Interrupt
}

// InterruptStatus is where an interrupt is in its life.
type InterruptStatus string

// The interrupt statuses.
const (
	InterruptOpen     InterruptStatus = "open"
	InterruptResolved InterruptStatus = "resolved" // answered; its node has still to run with the answer
	InterruptConsumed InterruptStatus = "consumed" // answered, and its node has run
	InterruptClosed   InterruptStatus = "closed"   // its run ended before an answer came
)

// Answered reports whether an answer was accepted.
func (s InterruptStatus) Answered() bool { return s == InterruptResolved || s == InterruptConsumed }

// Interrupt is a question that a node asked. A consumed one has lost its schema,
// metadata and answer; the id stays, so that a late answer is told apart from an
// unknown one.
type Interrupt struct {
	ID         string
	NodeID     string
	Field      string
	Step       int64
	Status     InterruptStatus
	Schema     schema.Schema
	Metadata   map[string]any
	Answer     any
	CreatedAt  time.Time
	ResolvedAt time.Time
}

// Failure is the durable cause of a failed run. It doesn't depend on events.
type Failure struct {
	Code    FailureCode
	Message string // at most value.MaxText bytes
	NodeID  string // empty when no single node is at fault
	Details map[string]any
}

// OpenInterrupts returns the unanswered interrupts, sorted by id.
func (r *Run) OpenInterrupts() []Interrupt {
	var open []Interrupt
	for _, id := range value.Keys(r.Interrupts) {
		if i := r.Interrupts[id]; i.Status == InterruptOpen {
			open = append(open, i.clone())
		}
	}
	return open
}

// CountOpen returns how many interrupts are unanswered.
func (r *Run) CountOpen() int64 {
	var n int64
	for _, i := range r.Interrupts { // order-free: a count
		if i.Status == InterruptOpen {
			n++
		}
	}
	return n
}

// State returns a copy of the written state fields by name.
func (r *Run) State() map[string]any {
	state := make(map[string]any, len(r.Channels))
	for id, c := range r.Channels { // order-free: fills a map
		if !c.Unset {
			state[FieldName(id)] = value.Clone(c.Value)
		}
	}
	return state
}

// NextDue returns the earliest timer of a parked superstep; ok is false when
// none is parked.
func (r *Run) NextDue() (due time.Time, ok bool) {
	if r.Active == nil {
		return time.Time{}, false
	}
	for _, t := range r.Active.Tasks { // order-free: a minimum
		if !ok || t.DueAt.Before(due) {
			due, ok = t.DueAt, true
		}
	}
	return due, ok
}

// Clone returns a deep copy.
func (r *Run) Clone() *Run {
	c := *r
	c.Input, c.Output, c.Metadata = value.CloneMap(r.Input), value.CloneMap(r.Output), value.CloneMap(r.Metadata)
	if r.Failure != nil {
		f := *r.Failure
		f.Details = value.CloneMap(f.Details)
		c.Failure = &f
	}
	c.Channels = cloneEach(r.Channels, func(ch Channel) Channel { ch.Value = value.Clone(ch.Value); return ch })
	c.Changed, c.Pending = slices.Clone(r.Changed), slices.Clone(r.Pending)
	c.Barriers = cloneEach(r.Barriers, slices.Clone[[]string])
	c.Active = r.Active.clone()
	c.Interrupts = cloneEach(r.Interrupts, Interrupt.clone)
	return &c
}

func (s *Superstep) clone() *Superstep {
	if s == nil {
		return nil
	}
	return &Superstep{
		Snapshot:  value.CloneMap(s.Snapshot),
		Versions:  maps.Clone(s.Versions),
		InputHash: s.InputHash,
		Tasks: cloneEach(s.Tasks, func(t Task) Task {
			t.Failures = slices.Clone(t.Failures)
			return t
		}),
		Writes: cloneEach(s.Writes, func(w PendingWrite) PendingWrite {
			w.Update, w.Reset = value.CloneMap(w.Update), slices.Clone(w.Reset)
			w.Interrupts = slices.Clone(w.Interrupts)
			for i := range w.Interrupts {
				w.Interrupts[i] = w.Interrupts[i].clone()
			}
			return w
		}),
	}
}

func (i Interrupt) clone() Interrupt {
	i.Schema = i.Schema.Clone()
	i.Metadata, i.Answer = value.CloneMap(i.Metadata), value.Clone(i.Answer)
	return i
}

func cloneEach[V any](m map[string]V, clone func(V) V) map[string]V {
	if m == nil {
		return nil
	}
	c := make(map[string]V, len(m))
	for k, v := range m { // order-free: fills a map
		c[k] = clone(v)
	}
	return c
}
