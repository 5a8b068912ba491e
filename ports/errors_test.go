package ports_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docket-go/docket/ports"
)

func TestCodes(t *testing.T) {
	t.Parallel()
	answers := map[ports.Code]bool{
		ports.CodeInvalid: true, ports.CodeNotFound: true, ports.CodeInactive: true,
		ports.CodeExists: true, ports.CodeStale: true, ports.CodeUnsupported: true,
	}
	codes := ports.Codes()
	if len(codes) != 11 {
		t.Fatalf("the set has %d codes: %v", len(codes), codes)
	}
	for _, code := range codes {
		sentinel := code.Err()
		typed := fmt.Errorf("around: %w", &ports.Error{Code: code, Op: "FetchRun", Err: context.Canceled})
		for _, err := range []error{sentinel, typed, fmt.Errorf("around: %w", sentinel)} {
			if !errors.Is(err, sentinel) || ports.CodeOf(err) != code {
				t.Errorf("%v: is %v: %v, code %q", err, sentinel, errors.Is(err, sentinel), ports.CodeOf(err))
			}
			if ports.IsAnswer(err) != answers[code] || ports.IsFault(err) == answers[code] {
				t.Errorf("%v: answer %v, fault %v", err, ports.IsAnswer(err), ports.IsFault(err))
			}
		}
		for _, other := range codes {
			if other != code && errors.Is(typed, other.Err()) {
				t.Errorf("%s is also %s", code, other)
			}
		}
		if !errors.Is(typed, context.Canceled) {
			t.Errorf("%s lost its cause", code)
		}
	}
}

func TestErrorsOutsideTheSet(t *testing.T) {
	t.Parallel()
	alien := errors.New("alien")
	if ports.CodeOf(alien) != "" || ports.IsAnswer(alien) || !ports.IsFault(alien) {
		t.Error("an error outside the set is a fault without a code")
	}
	if ports.CodeOf(nil) != "" || ports.IsAnswer(nil) || ports.IsFault(nil) {
		t.Error("nil is neither answer nor fault")
	}
	odd := &ports.Error{Code: "odd"}
	if odd.Is(nil) || ports.Code("odd").Err() != nil || odd.Error() != "docket: odd" {
		t.Errorf("a code outside the set: %v", odd)
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial refused")
	for _, tt := range []struct {
		err  error
		want string
	}{
		// Nothing in these two may depend on which row or whose (SCP-3, RUN-1).
		{ports.NotFound("FetchRun"), "docket: not found"},
		{ports.Exists("InsertRun"), "docket: id is taken"},
		{ports.Stale("CommitClaimed"), "docket: fence moved: CommitClaimed"},
		{ports.Inactive("RecoverRun"), "docket: run is terminal: RecoverRun"},
		{ports.Invalid("ListRuns", "Limit", "too many"), "docket: invalid request: ListRuns.Limit: too many"},
		{ports.Unavailable("InsertRun", cause), "docket: store unavailable, not applied: InsertRun: dial refused"},
		{ports.Uncertain("InsertRun", cause), "docket: outcome unknown, may be applied: InsertRun: dial refused"},
		{ports.Corrupt("FetchRun", cause), "docket: stored data is damaged: FetchRun: dial refused"},
		{ports.Conflict("SaveGraph", "other bytes"), "docket: same key, other content: SaveGraph: other bytes"},
		{ports.Unsupported("InTx", "no"), "docket: unsupported by this backend: InTx: no"},
		{ports.Closed("FetchRun"), "docket: closed: FetchRun"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}

func TestEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	if err := ports.Ended(ctx, "FetchRun"); err != nil {
		t.Fatal(err)
	}
	cancel()
	err := ports.Ended(ctx, "FetchRun")
	if !errors.Is(err, context.Canceled) || !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("an ended context: %v", err)
	}
}
