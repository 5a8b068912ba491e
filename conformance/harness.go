package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// Harness is how the suite reaches a backend. Name and Open are required; a nil
// hook leaves the cases that need it skipped and their level uncertified. Hooks
// are called concurrently for different stores.
type Harness struct {
	// Name of the backend in reports. Nothing is decided by it.
	Name string

	// Open returns a fresh backend: empty, and isolated from every other one
	// that Open returned. The suite closes it.
	Open func(ctx context.Context) (ports.Backend, error)

	// Reopen returns one more handle on the storage of b, which came from Open
	// or Reopen and may be in use, closed or crashed. Nil: storage ends with its
	// handle, as in memory; the level +durable isn't certified.
	Reopen func(ctx context.Context, b ports.Backend) (ports.Backend, error)

	// Crash drops b as a killed process would: nothing is flushed, finished or
	// closed in good order. Calls on b are undefined afterwards.
	Crash func(ctx context.Context, b ports.Backend) error

	// Spawn returns one more handle on the storage of b in a process of its own,
	// which the crash cases kill and freeze.
	Spawn func(ctx context.Context, b ports.Backend) (Peer, error)

	// Corrupt flips bits of one stored document or payload behind b's back,
	// leaving its stored checksum alone.
	Corrupt func(ctx context.Context, b ports.Backend, target Target) error

	// RawWrite writes one forbidden row shape behind b's back and returns the
	// store's refusal, or nil if the row was taken; an error that is ErrHook says
	// that it couldn't try. Only for stores that enforce shapes (RUN-11).
	RawWrite func(ctx context.Context, b ports.Backend, runID string, shape Shape) error

	// Clock moves the store's own clock (the one that a zero Now means) forward.
	// Nil: the class clock/* waits for real microseconds.
	Clock func(ctx context.Context, b ports.Backend, by time.Duration) error

	// Waive maps IDs of cases that are known to fail to the reason. A waived
	// case that passes is a failure; a case of the three questions can't be
	// waived.
	Waive map[string]string
}

// Target names what Harness.Corrupt damages: the graph version Ref of Owner when
// Ref is set, else the event Seq of RunID, or its run document when Seq is 0.
type Target struct {
	Owner record.Owner
	Ref   graph.Ref
	RunID string
	Seq   int64
}

// Shape is a row that RUN-11 forbids.
type Shape string

// The forbidden shapes, each as a change of a healthy, due, running row unless
// it says otherwise.
const (
	ShapeFinishedRunning  Shape = "running with finished_at"
	ShapeTokenAlone       Shape = "a token without claimed_at and claim end"
	ShapeReasonAlone      Shape = "a poison reason without its time"
	ShapeNothingDue       Shape = "healthy and running with neither wake nor claim"
	ShapeWakeAndClaim     Shape = "a wake beside a claim"
	ShapePoisonAndWake    Shape = "a poison beside a wake"
	ShapeTerminalWake     Shape = "status done with a wake"
	ShapeTerminalUnended  Shape = "status done without finished_at"
	ShapeUnknownStatus    Shape = "status created"
	ShapeNegativeAttempts Shape = "negative attempts"
)

// Shapes lists the shapes that RawWrite may be asked for.
func Shapes() []Shape {
	return []Shape{
		ShapeFinishedRunning, ShapeTokenAlone, ShapeReasonAlone, ShapeNothingDue, ShapeWakeAndClaim,
		ShapePoisonAndWake, ShapeTerminalWake, ShapeTerminalUnended, ShapeUnknownStatus, ShapeNegativeAttempts,
	}
}

// check tells whether the harness itself is usable against the given cases.
func (h Harness) check(cases []Case) error {
	var errs []error
	if h.Name == "" {
		errs = append(errs, errors.New("conformance: Harness.Name is empty"))
	}
	if h.Open == nil {
		errs = append(errs, errors.New("conformance: Harness.Open is nil"))
	}
	byID := map[string]Case{}
	for _, c := range cases {
		byID[c.ID] = c
	}
	for _, id := range sortedKeys(h.Waive) {
		c, known := byID[id]
		switch {
		case !known:
			errs = append(errs, fmt.Errorf("conformance: Harness.Waive[%q]: no such case", id))
		case h.Waive[id] == "":
			errs = append(errs, fmt.Errorf("conformance: Harness.Waive[%q]: a reason is required", id))
		case c.answersQuestion():
			errs = append(errs, fmt.Errorf("conformance: Harness.Waive[%q]: a case of the three questions can't be waived", id))
		}
	}
	return errors.Join(errs...)
}
