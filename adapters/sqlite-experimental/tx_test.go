package sqlite

import (
	"errors"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// A fault that the caller swallows still makes the transaction roll-back only,
// and Commit tells which it was (TX-3, B03).
func TestSwallowedFault(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, record.Owner{})
	r := insert(t, b, "r", ref)
	if err := execRaw(t.Context(), b, `UPDATE docket_events SET seq = 2`); err != nil {
		t.Fatal(err)
	}
	err := ports.InTx(t.Context(), b, func(tx ports.Backend) error {
		if _, err := tx.InsertRun(t.Context(), ports.InsertRun{Transition: first("s", ref), Now: epoch}); err != nil {
			return err
		}
		_, err := tx.CommitUnclaimed(t.Context(), ports.CommitUnclaimed{
			Scope: ports.System(), RunID: "r", ExpectedSeq: 1, Transition: next(r, record.ScheduleImmediate), Now: epoch,
		})
		if !errors.Is(err, ports.ErrConflict) {
			t.Errorf("the commit answered %v, want ErrConflict", err)
		}
		_, err = tx.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: "s"})
		if !errors.Is(err, ports.ErrUnavailable) || !strings.Contains(err.Error(), "only a roll-back") {
			t.Errorf("a read after the fault answered %v", err)
		}
		return nil
	})
	if !errors.Is(err, ports.ErrConflict) {
		t.Errorf("InTx answered %v, want the swallowed ErrConflict", err)
	}
	if _, err := b.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: "s"}); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("the first half is there: %v", err)
	}
	if info := inspect(t, b, "r"); info.Run.CheckpointSeq != 1 {
		t.Errorf("half of the commit is there: sequence %d", info.Run.CheckpointSeq)
	}
}

// Every answer leaves the transaction usable, and what it looked at unchanged.
func TestAnswersInTransaction(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, record.Owner{})
	r := insert(t, b, "r", ref)
	err := ports.InTx(t.Context(), b, func(tx ports.Backend) error {
		insert := func(tr record.Transition, tenant string) error {
			_, err := tx.InsertRun(t.Context(), ports.InsertRun{Owner: owner(tenant), Transition: tr, Now: epoch})
			return err
		}
		_, stale := tx.CommitClaimed(t.Context(), ports.CommitClaimed{
			Scope: ports.System(), RunID: "r", Token: "other", ExpectedSeq: 1, Transition: next(r, record.ScheduleImmediate), Now: epoch,
		})
		_, unsupported := tx.ClaimRuns(t.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: 1e9, MaxAttempts: 1})
		_, noGraph := tx.LatestGraph(t.Context(), ports.LatestGraph{GraphID: "none"})
		for want, err := range map[error]error{
			ports.ErrExists: insert(first("r", ref), ""), ports.ErrInvalid: insert(first("", ref), ""),
			ports.ErrStale: stale, ports.ErrUnsupported: unsupported,
			ports.ErrNotFound: errors.Join(insert(first("x", ref), "nobody"), noGraph),
		} {
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
		return insert(first("s", ref), "")
	})
	if err != nil {
		t.Fatal(err)
	}
	if info := inspect(t, b, "s"); !info.WakeAt.Equal(epoch) {
		t.Errorf("the run is due %v", info.WakeAt)
	}
}

func TestTransactionHasNoOptionalRoles(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	tx, err := b.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	if caps := tx.Capabilities(); caps != (ports.Capabilities{}) {
		t.Errorf("it declares %+v", caps)
	}
	_, transactor := ports.As[ports.Transactor](tx)
	_, source := ports.As[ports.WakeSource](tx)
	_, pruner := ports.As[ports.Pruner](tx)
	if transactor || source || pruner {
		t.Errorf("it has Transactor %v, WakeSource %v, Pruner %v", transactor, source, pruner)
	}
}
