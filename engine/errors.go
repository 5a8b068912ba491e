package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// Code is the stable reason of an Error.
type Code string

// The codes.
const (
	CodeInvalidConfig Code = "invalid_config"   // New: the configuration contradicts itself
	CodeInvalidTenant Code = "invalid_tenant"   // the call's tenant doesn't suit the tenancy
	CodeInvalidInput  Code = "invalid_input"    // an argument, a run input or an answer that can't be accepted
	CodeInvalidGraph  Code = "invalid_graph"    // the graph has error diagnostics
	CodeInvalidClock  Code = "invalid_clock"    // the injected clock returned the zero time
	CodeNotFound      Code = "not_found"        // no such thing for this owner
	CodeInactive      Code = "inactive_run"     // the run is terminal
	CodeResolved      Code = "already_resolved" // the interrupt has its answer
	CodeConflict      Code = "conflict"         // the id is taken by something else
	CodeContended     Code = "contended"        // others kept winning; safe to repeat
	CodePoisoned      Code = "poisoned"         // the run is out of delivery until RetryPoisonedRun
	CodeTimeout       Code = "timeout"          // ctx, or the bound of a store call, ended first
	CodeCorrupt       Code = "corrupt"          // stored data is damaged
	CodeUnsupported   Code = "unsupported"      // this engine or its backend doesn't do that
	CodeIncompatible  Code = "incompatible"     // written by a newer version, or needs implementations this host lacks
	CodeUnavailable   Code = "unavailable"      // the store can't be reached; nothing was applied
	CodeUncertain     Code = "uncertain"        // may have been applied: repeat the call or read
	CodeBusy          Code = "busy"             // Run or Drain is already at work in this engine
	CodeAbandoned     Code = "abandoned"        // Run ended, and left nodes behind that ignore the end of their context
	CodeInternal      Code = "internal"         // a fault of the backend or of docket
)

// Error is what every method of the engine returns.
type Error struct {
	Code    Code
	Message string
	RunID   string         // empty when no run is concerned
	NodeID  string         // empty when no node is concerned
	Details map[string]any // what else helps, by code
	Err     error          // the cause; errors.Is sees the sentinels of package ports
}

// Error returns the message with its code and run.
func (e *Error) Error() string {
	if e.RunID != "" {
		return fmt.Sprintf("docket: %s: run %q: %s", e.Code, e.RunID, e.Message)
	}
	return fmt.Sprintf("docket: %s: %s", e.Code, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of an engine error, "" when err is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// PoisonedError is the halt of AwaitRun on a run that is out of delivery. It is
// not a time-out: nothing will happen until somebody recovers the run.
type PoisonedError struct {
	Info RunInfo
}

// Error says which run is poisoned and why.
func (e *PoisonedError) Error() string {
	return fmt.Sprintf("docket: %s: run %q is out of delivery: %s", CodePoisoned, e.Info.Run.ID, e.Info.Poison.Reason)
}

// Causes of a node context that ended, as context.Cause reports them. A missed
// deadline has the executor's own cause.
var (
	// ErrShutdown says that this process stops; another one will run the node.
	ErrShutdown = errors.New("docket: the process is shutting down")
	// ErrClaimLost says that another worker took the run over.
	ErrClaimLost = errors.New("docket: the claim on the run was lost")
	// ErrRunCancelled says that the run was cancelled.
	ErrRunCancelled = errors.New("docket: the run was cancelled")
)

// portCodes is in order of precedence: an uncertain outcome must not be told as
// an ended context, although it may be both (LIF-3).
var portCodes = []struct {
	is   error
	code Code
}{
	{ports.ErrUncertain, CodeUncertain},
	{ports.ErrInvalid, CodeInvalidInput},
	{ports.ErrNotFound, CodeNotFound},
	{ports.ErrInactive, CodeInactive},
	{ports.ErrExists, CodeConflict},
	{ports.ErrStale, CodeContended},
	{ports.ErrConflict, CodeConflict},
	{ports.ErrCorrupt, CodeCorrupt},
	{ports.ErrUnsupported, CodeUnsupported},
	{context.DeadlineExceeded, CodeTimeout},
	{context.Canceled, CodeTimeout},
	{ports.ErrUnavailable, CodeUnavailable},
	{ports.ErrClosed, CodeUnavailable},
}

// storeError tells a backend's error in the engine's terms. The text of
// ErrNotFound is the same whatever hides the row (SCP-3).
func storeError(runID string, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	e := &Error{Code: CodeInternal, Message: err.Error(), RunID: runID, Err: err}
	for _, p := range portCodes {
		if errors.Is(err, p.is) {
			e.Code = p.code
			break
		}
	}
	if e.Code == CodeNotFound {
		e.Message = "not found"
	}
	return e
}

func invalid(path, format string, args ...any) *Error {
	return &Error{
		Code:    CodeInvalidInput,
		Message: path + ": " + fmt.Sprintf(format, args...),
		Details: map[string]any{"path": path},
		Err:     ports.ErrInvalid,
	}
}

// documentError tells a document that can't be read: a later format is
// incompatible with this host, everything else is damage.
func documentError(runID string, err error) *Error {
	code := CodeCorrupt
	if unsupportedFormat(err) {
		code = CodeIncompatible
	}
	return &Error{Code: code, Message: err.Error(), RunID: runID, Err: err}
}

func unsupportedFormat(err error) bool {
	return errors.Is(err, run.ErrUnsupportedFormat) || errors.Is(err, record.ErrUnsupported)
}
