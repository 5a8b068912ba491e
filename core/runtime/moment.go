package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/core/run"
)

// Moment is one calculated transition: what to store, all or nothing.
type Moment struct {
	Run         *run.Run    // the proposal: CheckpointSeq is the committed run's + 1
	Events      []run.Event // numbered on from the committed run's EventSeq; the last is the checkpoint's
	Type        run.CheckpointType
	Disposition Disposition
	Time        time.Time // never before the committed run's UpdatedAt

	document []byte // Run encoded, once it was needed
}

// Kind says what happens to a run after its moment is committed.
type Kind string

// The kinds of disposition.
const (
	Continue      Kind = "continue"       // go on at once, keeping the claim
	ParkImmediate Kind = "park_immediate" // due at once, for whoever comes
	ParkExternal  Kind = "park_external"  // a signal continues the run
	ParkAt        Kind = "park_at"        // due at Disposition.At
	ParkTerminal  Kind = "park_terminal"  // the run has ended
)

// Disposition is a Kind with its wake and its reason.
type Disposition struct {
	Kind   Kind
	At     time.Time // only for ParkAt
	Reason string
}

// The reasons that moments give.
const (
	ReasonWork              = "work"               // a next superstep is due
	ReasonDelayedStart      = "delayed_start"      // the run starts later
	ReasonRetryBackoff      = "retry_backoff"      // an attempt waits
	ReasonInterrupt         = "interrupt"          // answers are missing
	ReasonInterruptResolved = "interrupt_resolved" // an answer arrived
	ReasonCompleted         = "completed"
	ReasonFailed            = "failed"
	ReasonCancelled         = "cancelled"
	ReasonDrainBudget       = "drain_budget" // a worker yields so that others get their turn
)

// Document returns the proposed run's canonical bytes, encoded once. The caller
// must not change them.
func (m *Moment) Document() ([]byte, error) {
	if m.document == nil {
		data, err := run.Encode(m.Run)
		if err != nil {
			return nil, fmt.Errorf("runtime: encode run %q: %w", m.Run.ID, err)
		}
		m.document = data
	}
	return m.document, nil
}

// ErrNotContinuing says that only a moment that continues can yield.
var ErrNotContinuing = errors.New("runtime: only a moment that continues can yield")

// Yield returns m as a moment that parks at once instead of continuing, the one
// legal rewrite. It fails with ErrNotContinuing on any other moment; m is
// unchanged.
func Yield(m *Moment, reason string) (*Moment, error) {
	if m.Disposition.Kind != Continue {
		return nil, fmt.Errorf("%w: run %q is %s", ErrNotContinuing, m.Run.ID, m.Disposition.Kind)
	}
	y := *m
	y.Disposition = Disposition{Kind: ParkImmediate, Reason: reason}
	last := len(m.Events) - 1
	y.Events = append(append([]run.Event(nil), m.Events[:last]...), m.Events[last])
	y.Events[last].Payload = envelope(y.Run, y.Type, y.Disposition)
	return &y, nil
}
