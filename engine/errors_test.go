package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/ports"
)

// Every error of a backend has a code, and what caused it stays in reach.
func TestStoreErrorCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[ports.Code]Code{
		ports.CodeInvalid: CodeInvalidInput, ports.CodeNotFound: CodeNotFound, ports.CodeInactive: CodeInactive,
		ports.CodeExists: CodeConflict, ports.CodeStale: CodeContended, ports.CodeUnsupported: CodeUnsupported,
		ports.CodeConflict: CodeConflict, ports.CodeCorrupt: CodeCorrupt, ports.CodeUnavailable: CodeUnavailable,
		ports.CodeUncertain: CodeUncertain, ports.CodeClosed: CodeUnavailable,
	} {
		err := storeError("r", &ports.Error{Code: code, Err: errDriver})
		if CodeOf(err) != want || !errors.Is(err, code.Err()) || !errors.Is(err, errDriver) {
			t.Errorf("%s: %v, want %s", code, err, want)
		}
	}
	for _, c := range ports.Codes() {
		if CodeOf(storeError("", c.Err())) == CodeInternal {
			t.Errorf("%s has no code here", c)
		}
	}
	// A write that may have been sent is told as such, also when its context ended.
	both := ports.Uncertain("CommitClaimed", context.Canceled)
	if got := CodeOf(storeError("r", both)); got != CodeUncertain {
		t.Errorf("uncertain and cancelled: %s", got)
	}
	if got := CodeOf(storeError("r", ports.Unavailable("FetchRun", context.DeadlineExceeded))); got != CodeTimeout {
		t.Errorf("ended before it was sent: %s", got)
	}
	if storeError("r", nil) != nil {
		t.Error("no error became one")
	}
	if got := storeError("r", &Error{Code: CodeInvalidClock}); CodeOf(got) != CodeInvalidClock {
		t.Errorf("an engine error was told anew: %v", got)
	}
}

// What a signal's refusal says names the run, the code and the interrupt once.
func TestSignalErrorSaysItOnce(t *testing.T) {
	t.Parallel()
	for want, refused := range map[string]*runtime.SignalError{
		`docket: already_resolved: run "r": interrupt "q": it was answered`: {
			Code: runtime.SignalResolved, RunID: "r", InterruptID: "q", Message: "it was answered"},
		`docket: inactive_run: run "r": the run is done`: {
			Code: runtime.SignalInactive, RunID: "r", Message: "the run is done"},
	} {
		err := signalError("r", refused)
		if err.Error() != want || !errors.Is(err, refused) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	reasons := []schema.Reason{{Path: "x", Code: "required"}}
	var e *Error
	if !errors.As(signalError("r", &runtime.SignalError{Code: runtime.SignalInvalid, InterruptID: "q", Reasons: reasons}), &e) ||
		len(e.Details["reasons"].([]schema.Reason)) != 1 || e.Details["interrupt_id"] != "q" {
		t.Errorf("the details are lost: %+v", e)
	}
}
