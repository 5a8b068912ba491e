package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// together queues the calls while the writer is taken, so that they share one
// transaction, and returns their answers in order.
func together(t *testing.T, b *Backend, calls ...func() error) []error {
	t.Helper()
	if err := b.writer.take(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	errs := make([]error, len(calls))
	var group sync.WaitGroup
	for i, call := range calls {
		queued := len(b.writer.queue.snapshot())
		group.Go(func() { errs[i] = call() })
		for len(b.writer.queue.snapshot()) == queued {
			runtime.Gosched()
		}
	}
	b.writer.give()
	group.Wait()
	return errs
}

// Neighbours in one transaction keep their own fences and answers.
func TestGroupKeepsAnswersApart(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, record.Owner{})
	r := insert(t, b, "r", ref)
	damaged := insert(t, b, "damaged", ref)
	if err := execRaw(t.Context(), b, `INSERT INTO docket_events
		SELECT run, 2, type, step, time, recorded_at, encoding, checksum, payload FROM docket_events
		WHERE run = (SELECT id FROM docket_runs WHERE run_id = 'damaged')`); err != nil {
		t.Fatal(err)
	}
	signal := func(r record.Run) func() error {
		return func() error {
			_, err := b.CommitUnclaimed(t.Context(), ports.CommitUnclaimed{
				Scope: ports.System(), RunID: r.ID, ExpectedSeq: r.CheckpointSeq,
				Transition: next(r, record.ScheduleImmediate), Now: epoch,
			})
			return err
		}
	}
	start := func(id string) func() error {
		return func() error {
			_, err := b.InsertRun(t.Context(), ports.InsertRun{Transition: first(id, ref), Now: epoch})
			return err
		}
	}
	errs := together(t, b, signal(r), signal(r), start("new"), start("new"), signal(damaged), func() error {
		return b.write(t.Context(), "test", func(context.Context, *unit) error { panic("boom") })
	}, start("last"))
	for i, want := range []error{nil, ports.ErrStale, nil, ports.ErrExists, ports.ErrConflict, ports.ErrUnavailable, nil} {
		if !errors.Is(errs[i], want) {
			t.Errorf("call %d answered %v, want %v", i, errs[i], want)
		}
	}
	for id, seq := range map[string]int64{"r": 2, "new": 1, "damaged": 1, "last": 1} {
		if got := inspect(t, b, id).Run; got.CheckpointSeq != seq || got.EventSeq != seq || got.Verify() != nil {
			t.Errorf("%s has sequence %d and event sequence %d, want %d", id, got.CheckpointSeq, got.EventSeq, seq)
		}
	}
}

// A transaction that can't commit fails everybody in it, also those whose
// answer rests on what a neighbour wrote; nothing of it is stored.
func TestGroupFailsTogether(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, record.Owner{})
	start := func() error {
		_, err := b.InsertRun(t.Context(), ports.InsertRun{Transition: first("r", ref), Now: epoch})
		return err
	}
	errs := together(t, b, start, start, func() error {
		return b.write(t.Context(), "test", func(ctx context.Context, u *unit) error {
			_, err := u.exec(ctx, "ROLLBACK") // as SQLite itself does when the disk is full
			return err
		})
	})
	for i, err := range errs {
		if !errors.Is(err, ports.ErrUnavailable) {
			t.Errorf("call %d answered %v, want ErrUnavailable", i, err)
		}
	}
	insert(t, b, "r", ref)
}

// More operations than fit into one transaction all get their answers.
func TestGroupLargerThanOneTransaction(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, record.Owner{})
	var calls []func() error
	for i := range maxGroup*2 + 3 {
		calls = append(calls, func() error {
			_, err := b.InsertRun(t.Context(), ports.InsertRun{Transition: first(fmt.Sprint("r", i), ref), Now: epoch})
			return err
		})
	}
	for i, err := range together(t, b, calls...) {
		if err != nil {
			t.Errorf("call %d answered %v", i, err)
		}
	}
	page, err := b.ListRuns(t.Context(), ports.ListRuns{Scope: ports.System(), Limit: 1000})
	if err != nil || len(page.Items) != len(calls) {
		t.Errorf("%d runs are stored, %v; want %d", len(page.Items), err, len(calls))
	}
}
