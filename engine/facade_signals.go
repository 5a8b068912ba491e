package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/value"
)

// ResolveInterrupt asks to answer one open interrupt.
type ResolveInterrupt struct {
	Tenant      string
	RunID       string
	InterruptID string
	Value       any
}

// ResolveInterrupt stores an answer and makes the run due. Of several answers to
// one interrupt exactly one is taken; the others get CodeResolved. An answer that
// doesn't fit changes nothing. It needs no implementation of any node.
func (e *Engine) ResolveInterrupt(ctx context.Context, req ResolveInterrupt) (Run, error) {
	if req.InterruptID == "" {
		return Run{}, invalid("InterruptID", "is empty: which of the run's interrupts is answered is never guessed")
	}
	answer, err := value.Normalize(req.Value)
	if err != nil {
		return Run{}, inputError(req.RunID, err)
	}
	given := runtime.Answer{InterruptID: req.InterruptID, Value: answer, ID: uuid.NewString()}
	return e.signal(ctx, signal{
		name: "docket.resolve_interrupt", tenant: req.Tenant, runID: req.RunID, needsGraph: true,
		decide: func(g *compiler.Graph, r *run.Run, now time.Time) (*runtime.Moment, error) {
			return runtime.Resolve(g, r, given, now)
		},
	})
}

// CancelRun asks to end a run.
type CancelRun struct {
	Tenant string
	RunID  string
}

// CancelRun ends a run, whatever it is doing: a node at work has its context
// ended, and what it returns is dropped. Cancelling a cancelled run changes
// nothing; a run that ended otherwise is CodeInactive.
func (e *Engine) CancelRun(ctx context.Context, req CancelRun) (Run, error) {
	return e.signal(ctx, signal{
		name: "docket.cancel_run", tenant: req.Tenant, runID: req.RunID,
		decide: func(_ *compiler.Graph, r *run.Run, now time.Time) (*runtime.Moment, error) {
			return runtime.Cancel(r, now)
		},
	})
}

// signalError maps what the machine says about a signal. Run and code are the
// error's own: its message doesn't name them again.
func signalError(runID string, err error) error {
	var s *runtime.SignalError
	if !errors.As(err, &s) {
		return &Error{Code: CodeInternal, Message: err.Error(), RunID: runID, Err: err}
	}
	e := &Error{Code: Code(s.Code), Message: s.Message, RunID: runID, Err: err}
	if s.InterruptID == "" {
		return e
	}
	e.Message = fmt.Sprintf("interrupt %q: %s", s.InterruptID, s.Message)
	e.Details = map[string]any{"interrupt_id": s.InterruptID}
	if len(s.Reasons) > 0 {
		e.Details["reasons"] = s.Reasons
	}
	return e
}
