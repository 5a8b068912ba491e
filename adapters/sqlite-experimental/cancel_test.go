package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// Calls whose contexts end at every possible moment leave no transaction, no
// half of one and no connection behind (LIF-3, B26).
func TestCancelledCalls(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, record.Owner{})
	insert(t, b, "r", ref)
	var group sync.WaitGroup
	var mu sync.Mutex
	inserted := map[string]error{}
	for i := range 200 {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*100*time.Microsecond)
			defer cancel()
			id := fmt.Sprintf("r-%d", i)
			_, err := b.InsertRun(ctx, ports.InsertRun{Transition: first(id, ref), Now: epoch})
			_, read := b.InspectRun(ctx, ports.InspectRun{Scope: ports.System(), RunID: "r"})
			mu.Lock()
			defer mu.Unlock()
			inserted[id] = err
			for _, err := range []error{err, read} {
				if err != nil && (!errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ports.ErrUnavailable)) {
					t.Errorf("call %d answered %v; want the context's error and ErrUnavailable", i, err)
				}
			}
		})
	}
	group.Wait()
	cancelled := 0
	for id, err := range inserted {
		_, found := b.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: id})
		if (err == nil) != (found == nil) {
			t.Errorf("insert of %s answered %v, fetching it %v", id, err, found)
		}
		if err != nil {
			cancelled++
		}
	}
	if cancelled == 0 {
		t.Error("no call was cancelled: the test proves nothing")
	}
	tx, err := b.Begin(t.Context()) // the writer is free
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if n := b.readers.Stats().InUse; n != 0 {
		t.Errorf("%d readers are in use", n)
	}
}

func TestEndedContext(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, record.Owner{})
	cause := errors.New("the operator said so")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, insertErr := b.InsertRun(ctx, ports.InsertRun{Transition: first("r", ref)})
	_, listErr := b.ListRuns(ctx, ports.ListRuns{Scope: ports.System()})
	_, beginErr := b.Begin(ctx)
	_, wakesErr := b.Wakes(ctx)
	for what, err := range map[string]error{"InsertRun": insertErr, "ListRuns": listErr, "Begin": beginErr, "Wakes": wakesErr} {
		for _, want := range []error{context.Canceled, cause, ports.ErrUnavailable} {
			if !errors.Is(err, want) {
				t.Errorf("%s answered %v, which isn't %v", what, err, want)
			}
		}
	}
}

// Whoever waits for somebody else's transaction stops waiting when its own
// context ends, or after the busy timeout (TX-6, B22).
func TestWaitingForATransaction(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, record.Owner{})
	other, err := Open(t.Context(), Config{Path: b.cfg.Path, BusyTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := b.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, waiting := range map[string]*Backend{"same handle": b, "other handle": other} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		start := time.Now()
		_, err = waiting.InsertRun(ctx, ports.InsertRun{Transition: first("late", ref), Now: epoch})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ports.ErrUnavailable) || time.Since(start) > 5*time.Second {
			t.Errorf("%s: insert answered %v after %v", name, err, time.Since(start))
		}
		_, err = waiting.Begin(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: Begin answered %v", name, err)
		}
		cancel()
	}
	if _, err := other.InsertRun(t.Context(), ports.InsertRun{Transition: first("late", ref)}); !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("after the busy timeout: %v, want ErrUnavailable", err)
	}
	if _, err := b.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: "late"}); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("reading beside the transaction: %v, want ErrNotFound", err)
	}
	if _, err := tx.InsertRun(t.Context(), ports.InsertRun{Transition: first("mine", ref), Now: epoch}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	insert(t, other, "late", ref)
}

// The end of the context that began a transaction doesn't end it; an operation
// under an ended context makes it roll-back only, and Rollback works under one.
func TestTransactionAndContexts(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, record.Owner{})
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := b.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := tx.InsertRun(t.Context(), ports.InsertRun{Transition: first("r", ref), Now: epoch}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.InsertRun(ctx, ports.InsertRun{Transition: first("s", ref), Now: epoch}); !errors.Is(err, context.Canceled) {
		t.Errorf("an insert under an ended context answered %v", err)
	}
	if err := tx.Commit(t.Context()); !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("Commit answered %v, want ErrUnavailable", err)
	}
	if tx, err = b.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Error(err)
	}
	insert(t, b, "r", ref)
}
