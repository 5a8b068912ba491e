package memory

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

func begin(t *testing.T, b *Backend) ports.Tx {
	t.Helper()
	tx, err := b.Begin(t.Context())
	must(t, 0, err)
	t.Cleanup(func() { _ = tx.Close() })
	return tx
}

// TestTxSeesItsOwnWork merges a draft with what is committed, in every read,
// while nothing shows outside (TX-2).
func TestTxSeesItsOwnWork(t *testing.T) {
	t.Parallel()
	b := open(t)
	insert(t, b, nobody, "b", after(2))
	old := insert(t, b, nobody, "d", after(4))
	insert(t, b, acme, "x", after(9))

	tx := begin(t, b)
	for _, id := range []string{"a", "c", "e"} {
		insert(t, tx, nobody, id, after(time.Duration(id[0]-'a'+1)))
	}
	tr := next(old, "waiting", "interrupt_requested", record.ScheduleExternal)
	signal(t, tx, tr, epoch)
	signal(t, tx, next(tr.Run, "running", "interrupt_resolved", record.ScheduleImmediate), epoch)
	_, err := tx.SaveGraph(t.Context(), ports.SaveGraph{Version: version1(2), Now: after(time.Hour)})
	must(t, 0, err)

	read := func(b ports.Backend) (runs []string, seq int64, events, versions int) {
		req := ports.ListRuns{Scope: ports.Tenantless(), Limit: 2}
		for {
			page := list(t, b, req)
			runs = append(runs, ids(page)...)
			if !page.HasMore {
				break
			}
			req.After = page.Next
		}
		found, err := b.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: "d"})
		must(t, 0, err)
		page, err := b.ListEvents(t.Context(), ports.ListEvents{Scope: ports.System(), RunID: "d"})
		must(t, 0, err)
		graphs, err := b.ListGraphs(t.Context(), ports.ListGraphs{GraphID: "flow"})
		must(t, 0, err)
		return runs, found.Run.CheckpointSeq, len(page.Events), len(graphs.Items)
	}
	inside := []string{"e", "d", "c", "b", "a"}
	if runs, seq, events, versions := read(tx); !slices.Equal(runs, inside) || seq != 3 || events != 4 || versions != 2 {
		t.Errorf("inside: %v, sequence %d, %d events, %d versions", runs, seq, events, versions)
	}
	if runs, seq, events, versions := read(b); !slices.Equal(runs, []string{"d", "b"}) || seq != 1 || events != 2 || versions != 1 {
		t.Errorf("outside, before: %v, sequence %d, %d events, %d versions", runs, seq, events, versions)
	}
	must(t, 0, tx.Commit(t.Context()))
	if runs, seq, events, versions := read(b); !slices.Equal(runs, inside) || seq != 3 || events != 4 || versions != 2 {
		t.Errorf("outside, after: %v, sequence %d, %d events, %d versions", runs, seq, events, versions)
	}
	must(t, 0, b.state.audit())
}

// TestRolledBackEventsDontShow: rows of one run share the backing array of
// their events, which a rolled-back append has written behind their end.
func TestRolledBackEventsDontShow(t *testing.T) {
	t.Parallel()
	b := open(t)
	r := insert(t, b, nobody, "a", epoch)
	rolledBack := next(r, "waiting", "interrupt_requested", record.ScheduleExternal)
	rolledBack.Events[0].Type = "rolled_back"
	tx := begin(t, b)
	signal(t, tx, rolledBack, epoch)
	must(t, 0, tx.Rollback(t.Context()))
	signal(t, b, next(r, "waiting", "interrupt_requested", record.ScheduleExternal), epoch)
	page, err := b.ListEvents(t.Context(), ports.ListEvents{Scope: ports.System(), RunID: "a"})
	must(t, 0, err)
	for _, e := range page.Events {
		if e.Type != "node_completed" || e.Verify() != nil {
			t.Errorf("event %d is a %s: %v", e.Seq, e.Type, e.Verify())
		}
	}
	if len(page.Events) != 3 {
		t.Errorf("%d events", len(page.Events))
	}
}

func TestTxAfterFault(t *testing.T) {
	t.Parallel()
	b := open(t)
	v := version1(1)
	save(t, b, nobody)
	conflicting := v.Clone()
	conflicting.Document = []byte("other")
	err := ports.InTx(t.Context(), b, func(tx ports.Backend) error {
		insert(t, tx, nobody, "a", epoch)
		if _, err := tx.SaveGraph(t.Context(), ports.SaveGraph{Version: conflicting}); !errors.Is(err, ports.ErrConflict) {
			t.Errorf("other bytes: %v", err)
		}
		return nil // swallowed: the commit must fail (TX-3)
	})
	if !errors.Is(err, ports.ErrConflict) {
		t.Errorf("the commit after a swallowed fault: %v", err)
	}
	if page := list(t, b, ports.ListRuns{Scope: ports.System()}); len(page.Items) != 0 {
		t.Errorf("stored: %v", ids(page))
	}

	ctx, stop := context.WithCancel(t.Context())
	err = ports.InTx(t.Context(), b, func(tx ports.Backend) error {
		insert(t, tx, nobody, "a", epoch)
		stop()
		_, err := tx.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: "a"})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("an ended context: %v", err)
		}
		return nil
	})
	if !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("the commit after an ended context: %v", err)
	}

	err = ports.InTx(t.Context(), b, func(tx ports.Backend) error {
		insert(t, tx, nobody, "a", epoch)
		for _, answer := range []func() error{
			func() error { _, err := tx.FetchRun(t.Context(), ports.FetchRun{}); return err },
			func() error {
				_, err := tx.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: "none"})
				return err
			},
			func() error {
				_, err := tx.ReleaseClaim(t.Context(), ports.ReleaseClaim{Scope: ports.System(), RunID: "a", Token: "t"})
				return err
			},
		} {
			if err := answer(); !ports.IsAnswer(err) {
				t.Errorf("an answer: %v", err)
			}
		}
		return nil
	})
	if page := list(t, b, ports.ListRuns{Scope: ports.System()}); err != nil || len(page.Items) != 1 {
		t.Errorf("after answers: %v, stored %v", err, ids(page))
	}
}

func TestTxTakesTheTurn(t *testing.T) {
	t.Parallel()
	b := open(t)
	tx := begin(t, b)
	ctx, stop := context.WithCancel(t.Context())
	results := make(chan error)
	for _, write := range []func() error{
		func() error { _, err := b.Begin(ctx); return err },
		func() error { _, err := b.SaveGraph(ctx, ports.SaveGraph{Version: version1(1)}); return err },
		func() error {
			_, err := b.ClaimRuns(ctx, ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: time.Second, MaxAttempts: 1})
			return err
		},
	} {
		go func() { results <- write() }()
	}
	select {
	case err := <-results:
		t.Fatalf("a write didn't wait: %v", err)
	default:
	}
	stop()
	for range 3 {
		if err := <-results; !errors.Is(err, ports.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("a write that stopped waiting: %v", err)
		}
	}
	must(t, 0, tx.Commit(t.Context()))
	insert(t, b, nobody, "a", epoch) // the turn is free again
}

func TestTxEnds(t *testing.T) {
	t.Parallel()
	b := open(t)
	tx := begin(t, b)
	must(t, 0, tx.Rollback(t.Context()))
	for name, use := range map[string]func() error{
		"commit":   func() error { return tx.Commit(t.Context()) },
		"rollback": func() error { return tx.Rollback(t.Context()) },
		"read": func() error {
			_, err := tx.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: "a"})
			return err
		},
		"write": func() error {
			_, err := tx.SaveGraph(t.Context(), ports.SaveGraph{Version: version1(1)})
			return err
		},
	} {
		if err := use(); !errors.Is(err, ports.ErrClosed) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
	must(t, 0, tx.Close())

	open := begin(t, b)
	must(t, 0, b.Close())
	if err := open.Commit(t.Context()); !errors.Is(err, ports.ErrClosed) {
		t.Errorf("a commit after the backend closed: %v", err)
	}
	if _, err := b.Begin(t.Context()); !errors.Is(err, ports.ErrClosed) {
		t.Errorf("begin after close: %v", err)
	}
}
