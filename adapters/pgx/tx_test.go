package postgres

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// hosted begins a transaction as a host does, with a table of the host's beside
// docket's.
func hosted(t *testing.T, b *Backend, level pgx.TxIsoLevel) (pgx.Tx, *Tx) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), b.place.sql(`CREATE TABLE IF NOT EXISTS docket.orders (id text PRIMARY KEY)`)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := b.pool.Exec(context.WithoutCancel(t.Context()), b.place.sql(`DROP TABLE IF EXISTS docket.orders`))
		if err != nil {
			t.Error(err)
		}
	})
	tx, err := b.pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: level})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	if _, err := tx.Exec(t.Context(), b.place.sql(`INSERT INTO docket.orders VALUES ('o')`)); err != nil {
		t.Fatal(err)
	}
	return tx, b.WithTx(tx)
}

func orders(t *testing.T, b *Backend) (n int) {
	t.Helper()
	if err := b.pool.QueryRow(t.Context(), b.place.sql(`SELECT count(*) FROM docket.orders`)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestHostsTransaction: what the host writes and what docket writes are stored
// together or not at all.
func TestHostsTransaction(t *testing.T) {
	t.Parallel()
	for _, commits := range []bool{true, false} {
		b := openFresh(t)
		ref := publish(t, b, owner(""))
		tx, bound := hosted(t, b, pgx.ReadCommitted)
		insert(t, bound, "r", ref)
		if err := bound.Commit(t.Context()); !errors.Is(err, ports.ErrUnsupported) {
			t.Errorf("Commit of a host's transaction: %v", err)
		}
		if _, err := bound.ClaimRuns(t.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: 1e9, MaxAttempts: 1}); !errors.Is(err, ports.ErrUnsupported) {
			t.Errorf("ClaimRuns in a transaction: %v", err)
		}
		if err := bound.Close(); err != nil {
			t.Error(err)
		}
		end, want := tx.Rollback, 0
		if commits {
			end, want = tx.Commit, 1
		}
		if err := end(t.Context()); err != nil {
			t.Fatal(err)
		}
		page, err := b.ListRuns(t.Context(), ports.ListRuns{Scope: ports.System()})
		if n := orders(t, b); err != nil || n != want || len(page.Items) != want {
			t.Errorf("commits=%v: %d orders and %d runs, %v; want %d of each", commits, n, len(page.Items), err, want)
		}
	}
}

// TestFaultSpoilsTheHostsTransaction: after a fault that only the adapter knows
// of, and that the host swallowed, the host's own Commit stores nothing (TX-3).
func TestFaultSpoilsTheHostsTransaction(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, fault := range map[string]func(*testing.T, *Tx) error{
		"other bytes under a key": func(t *testing.T, bound *Tx) error {
			v := version("g", `{"id":"g"}`)
			v.Document = []byte(`{"id":"other"}`)
			_, err := bound.SaveGraph(t.Context(), ports.SaveGraph{Version: v})
			return err
		},
		"a context that ended": func(_ *testing.T, bound *Tx) error {
			_, err := bound.RecoverRun(ended, ports.RecoverRun{Scope: ports.System(), RunID: "r"})
			return err
		},
		"a failing function of InTx": func(t *testing.T, bound *Tx) error {
			return ports.InTx(t.Context(), bound, func(ports.Backend) error { return errors.New("no") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openFresh(t)
			ref := publish(t, b, owner(""))
			tx, bound := hosted(t, b, pgx.ReadCommitted)
			insert(t, bound, "r", ref)
			if err := fault(t, bound); err == nil || ports.IsAnswer(err) {
				t.Fatalf("%v is no fault", err)
			}
			if err := tx.Commit(t.Context()); !errors.Is(err, pgx.ErrTxCommitRollback) {
				t.Errorf("the host's Commit: %v", err)
			}
			if _, err := b.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: "r"}); !errors.Is(err, ports.ErrNotFound) || orders(t, b) != 0 {
				t.Errorf("something was stored: %v", err)
			}
		})
	}
}

// TestAnswersLeaveTheHostsTransaction usable, although each is what PostgreSQL
// could have made an error of.
func TestAnswersLeaveTheHostsTransaction(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, owner(""))
	r := insert(t, b, "taken", ref)
	tx, bound := hosted(t, b, pgx.ReadCommitted)
	for want, try := range map[error]func() error{
		ports.ErrExists: func() error {
			_, err := bound.InsertRun(t.Context(), ports.InsertRun{Transition: first("taken", ref)})
			return err
		},
		ports.ErrNotFound: func() error {
			_, err := bound.InsertRun(t.Context(), ports.InsertRun{Owner: owner("t"), Transition: first("new", ref)})
			return err
		},
		ports.ErrStale: func() error {
			_, err := bound.CommitClaimed(t.Context(), commit(ports.Lease{Run: r, Token: "x"}, next(r, record.ScheduleImmediate)))
			return err
		},
		ports.ErrInvalid: func() error {
			_, err := bound.InsertRun(t.Context(), ports.InsertRun{})
			return err
		},
	} {
		if err := try(); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	insert(t, bound, "new", ref)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	inspect(t, b, "new")
}

// TestStricterIsolationOfTheHosts: what a serializable transaction refuses is
// unavailable, and the host's transaction is over.
func TestStricterIsolationOfTheHosts(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	r := insert(t, b, "r", publish(t, b, owner("")))
	tx, bound := hosted(t, b, pgx.RepeatableRead)
	inspect(t, bound, "r") // takes the snapshot
	signal := func(runs ports.Runs) error {
		_, err := runs.CommitUnclaimed(t.Context(), ports.CommitUnclaimed{
			Scope: ports.System(), RunID: "r", ExpectedSeq: 1, Transition: next(r, record.ScheduleImmediate), Now: epoch,
		})
		return err
	}
	if err := signal(b); err != nil {
		t.Fatal(err)
	}
	if err := signal(bound); !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	if err := tx.Commit(t.Context()); !errors.Is(err, pgx.ErrTxCommitRollback) {
		t.Errorf("the host's Commit: %v", err)
	}
}

// TestInTxEndsTheTransaction whatever ends the function: no connection stays out.
func TestInTxEndsTheTransaction(t *testing.T) {
	t.Parallel()
	needServer(t)
	b := openOn(t, open(t, server.url, 1), Config{}) // one connection: one that leaks is missed
	ref := publish(t, b, owner(""))
	for name, end := range map[string]func() error{
		"error":  func() error { return errors.New("no") },
		"panic":  func() error { panic("no") },
		"goexit": func() error { runtime.Goexit(); return nil },
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			_ = ports.InTx(t.Context(), b, func(tx ports.Backend) error {
				if _, err := tx.InsertRun(t.Context(), ports.InsertRun{Transition: first(name, ref)}); err != nil {
					t.Error(err)
				}
				return end()
			})
		}()
		<-done
		if _, err := b.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: name}); !errors.Is(err, ports.ErrNotFound) {
			t.Errorf("after %s: %v, want ErrNotFound", name, err)
		}
	}
	if n := b.pool.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections are out", n)
	}
}

// TestRootInsideItsOwnTransaction: with a pool of one, a call of the root waits
// for the transaction around it; it is told instead of waiting for ever.
func TestRootInsideItsOwnTransaction(t *testing.T) {
	t.Parallel()
	needServer(t)
	b := openOn(t, open(t, server.url, 1), Config{AcquireTimeout: 50 * time.Millisecond})
	err := ports.InTx(t.Context(), b, func(ports.Backend) error {
		_, err := b.ListRuns(t.Context(), ports.ListRuns{Scope: ports.System()})
		return err
	})
	if !errors.Is(err, ports.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

// TestCloseEndsTransactions that were left open.
func TestCloseEndsTransactions(t *testing.T) {
	t.Parallel()
	b := openFresh(t)
	ref := publish(t, b, owner(""))
	tx, err := b.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	insert(t, tx, "r", ref)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); !errors.Is(err, ports.ErrClosed) {
		t.Errorf("Commit after Close: %v", err)
	}
	again := openAt(t, b.pool, b.cfg)
	if _, err := again.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: "r"}); !errors.Is(err, ports.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}
