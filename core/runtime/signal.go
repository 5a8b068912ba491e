package runtime

import (
	"fmt"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// SignalCode says why a signal was refused.
type SignalCode string

// The codes.
const (
	SignalInactive SignalCode = "inactive_run"     // the run has ended
	SignalNotFound SignalCode = "not_found"        // the run never had that interrupt
	SignalResolved SignalCode = "already_resolved" // somebody answered before
	SignalInvalid  SignalCode = "invalid_input"    // the answer fits neither its schema nor its field
)

// SignalError refuses a signal. Nothing changed.
type SignalError struct {
	Code        SignalCode
	RunID       string
	InterruptID string // empty for a cancellation
	Message     string
	Reasons     []schema.Reason // with SignalInvalid
}

// Error tells what was refused and why.
func (e *SignalError) Error() string {
	if e.InterruptID == "" {
		return fmt.Sprintf("run %q: %s: %s", e.RunID, e.Code, e.Message)
	}
	return fmt.Sprintf("run %q, interrupt %q: %s: %s", e.RunID, e.InterruptID, e.Code, e.Message)
}

// Answer answers one interrupt.
type Answer struct {
	InterruptID string
	Value       any // normalised by Resolve
	// ID goes into the event of the answer, for callers who must be able to tell
	// theirs from another that was given in the same moment. Optional.
	ID string
}

// Resolve calculates the interrupt_resolved moment: the answer goes through its
// field's reducer, and the node that asked runs again once all its interrupts are
// answered. It needs only the graph's structure. A refused answer is a
// *SignalError; the run's end is checked before the interrupt is looked up.
func Resolve(g *compiler.Graph, r *run.Run, a Answer, now time.Time) (*Moment, error) {
	refuse := func(code SignalCode, message string, reasons []schema.Reason) (*Moment, error) {
		return nil, &SignalError{Code: code, RunID: r.ID, InterruptID: a.InterruptID, Message: message, Reasons: reasons}
	}
	if r.Status.Terminal() {
		return refuse(SignalInactive, "the run is "+string(r.Status), nil)
	}
	in, ok := r.Interrupts[a.InterruptID]
	switch {
	case !ok:
		return refuse(SignalNotFound, "the run has no such interrupt", nil)
	case in.Status != run.InterruptOpen:
		return refuse(SignalResolved, "it was answered at "+value.FormatTime(in.ResolvedAt), nil)
	}
	f, ok := g.Field(in.Field)
	if !ok {
		return nil, fmt.Errorf("runtime: run %q: the graph lacks field %q of interrupt %q", r.ID, in.Field, in.ID)
	}
	answer, next, reasons := applyAnswer(f, r, in, a)
	if len(reasons) > 0 {
		return refuse(SignalInvalid, reasonsText(reasons), reasons)
	}
	t := begin(g, r, now)
	t.step = in.Step
	in.Status, in.Answer, in.ResolvedAt = run.InterruptResolved, answer, t.now
	t.setInterrupt(in)
	t.emit(run.EventInterruptResolved, in.NodeID, run.InterruptAnswered{InterruptID: in.ID, Field: in.Field, AnswerID: a.ID})
	t.setChannel(f.Name, next, run.ChannelUpdated{InterruptID: in.ID})
	return t.moment(run.CheckpointInterruptResolved, t.wakeAfterAnswer()), nil
}

// applyAnswer validates an answer by its interrupt and its field and reduces it.
func applyAnswer(f *compiler.Field, r *run.Run, in run.Interrupt, a Answer) (answer any, next value.Optional, reasons []schema.Reason) {
	if a.ID != "" {
		if err := value.CheckID(a.ID); err != nil {
			return nil, next, []schema.Reason{{Path: "answer_id", Code: "invalid_id", Message: err.Error()}}
		}
	}
	answer, err := value.Normalize(a.Value)
	if err != nil {
		return nil, next, []schema.Reason{reasonOf(err)}
	}
	if !in.Schema.IsZero() {
		v, err := schema.Compile(in.Schema)
		if err != nil {
			return nil, next, []schema.Reason{{Path: "schema", Code: "invalid_schema", Message: err.Error()}}
		}
		reasons = v.Validate(answer)
	}
	if len(reasons) == 0 {
		reasons = f.Reducer.ValidateWrite(answer)
	}
	if len(reasons) > 0 {
		return nil, next, reasons
	}
	next, err = f.Reducer.Reduce(prior(f, r), []any{answer})
	if err != nil {
		return nil, next, []schema.Reason{{Code: "reducer_failed", Message: err.Error()}}
	}
	return answer, next, f.Reducer.Validate(next.Value)
}

// wakeAfterAnswer decides when the run goes on: at once, unless every attempt of a
// parked superstep waits for later. A run that lacks further answers finds that out
// when it is planned: an answer always leads a waiting run back to running.
func (t *transition) wakeAfterAnswer() Disposition {
	t.run.Status = run.Running
	if due, parked := t.run.NextDue(); parked && due.After(t.now) {
		return Disposition{Kind: ParkAt, At: due, Reason: ReasonRetryBackoff}
	}
	return Disposition{Kind: ParkImmediate, Reason: ReasonInterruptResolved}
}

// Cancel calculates the run_cancelled moment, absorbing whatever is parked. It
// returns no moment for a run that is cancelled already, and a *SignalError for one
// that ended otherwise.
func Cancel(r *run.Run, now time.Time) (*Moment, error) {
	switch {
	case r.Status == run.Cancelled:
		return nil, nil
	case r.Status.Terminal():
		return nil, &SignalError{Code: SignalInactive, RunID: r.ID, Message: "the run is " + string(r.Status)}
	}
	t := begin(nil, r, now)
	t.end(run.Cancelled)
	t.emit(run.EventCancelled, "", run.RunCancelled{})
	return t.moment(run.CheckpointCancelled, Disposition{Kind: ParkTerminal, Reason: ReasonCancelled}), nil
}
