package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/docket-go/docket/adapters/pgx/internal/cluster"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// TestSessionsAreTerminated at random, in the middle of statements too.
func TestSessionsAreTerminated(t *testing.T) {
	t.Parallel()
	url := freshDatabase(t, "")
	admin := sharedPool(t)
	b := openOn(t, open(t, url, 6), Config{})
	random := seeded(t)
	l := under(t, b, func(ctx context.Context) {
		for pause(ctx, within(random, 30*time.Millisecond)) {
			_, err := admin.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = $1 ORDER BY random() LIMIT 2`, b.pool.Config().ConnConfig.Database)
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	if len(l.kinds) == 0 {
		t.Error("nothing went wrong: the test proves nothing")
	}
}

// TestServerRestarts: the server crashes under load and comes back.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	needCluster(t)
	own, err := cluster.Start(t.Context(), cluster.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
	pool := open(t, own.URL("postgres"), 6)
	if err := Migrate(t.Context(), pool, ""); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, pool, Config{})
	wakes := subscribe(t, b)
	random := seeded(t)
	l := under(t, b, func(ctx context.Context) {
		for pause(ctx, 300*time.Millisecond+within(random, 500*time.Millisecond)) {
			if err := own.Crash(); err != nil {
				t.Error(err)
			}
			pause(ctx, within(random, 200*time.Millisecond))
			if err := own.Resume(context.WithoutCancel(ctx)); err != nil {
				t.Error(err)
			}
		}
	})
	if len(l.kinds) == 0 {
		t.Error("nothing went wrong: the test proves nothing")
	}
	woken(t, wakes, "the server came back")
}

// TestNetworkFails: links break and slow down between requests and answers.
func TestNetworkFails(t *testing.T) {
	t.Parallel()
	home := openOn(t, open(t, freshDatabase(t, ""), 2), Config{})
	proxy := startProxy(t, home.pool.Config().ConnConfig)
	pool := open(t, home.pool.Config().ConnString(), 6, func(c *pgxpool.Config) {
		c.ConnConfig.Host, c.ConnConfig.Port, c.ConnConfig.Fallbacks = proxy.host, proxy.port, nil
	})
	b := openAt(t, pool, home.cfg)
	random := seeded(t)
	l := under(t, b, func(ctx context.Context) {
		for pause(ctx, within(random, 100*time.Millisecond)) {
			proxy.slow(within(random, 3*time.Millisecond))
			if random.IntN(3) == 0 {
				proxy.cut()
			}
		}
		proxy.slow(0)
	})
	if l.kinds[ports.CodeUncertain] == 0 {
		t.Error("no answer was lost: the test proves nothing")
	}
}

// TestCancelledCallsKeepTheirConnections: calls whose contexts end while they are
// under way cost no connection and harm no other call.
func TestCancelledCallsKeepTheirConnections(t *testing.T) {
	t.Parallel()
	needServer(t)
	const conns = 4
	b := openOn(t, open(t, server.url, conns), Config{})
	insert(t, b, "r", publish(t, b, owner("")))
	random := seeded(t)
	var waits [200]time.Duration
	for i := range waits {
		waits[i] = within(random, 2*time.Millisecond)
	}
	before := b.pool.Stat().NewConnsCount()
	var group sync.WaitGroup
	for _, wait := range waits {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			_, err := b.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: "r"})
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a cancelled call: %v", err)
			}
			if _, err := b.FetchRun(t.Context(), ports.FetchRun{Scope: ports.System(), RunID: "r"}); err != nil {
				t.Errorf("another call: %v", err)
			}
		})
	}
	group.Wait()
	if n := b.pool.Stat().NewConnsCount() - before; n > conns {
		t.Errorf("%d connections were made anew", n)
	}
}

// TestHungStatement: a statement that doesn't end is left alone after the grace,
// with an error that says what is known.
func TestHungStatement(t *testing.T) {
	t.Parallel()
	home := openFresh(t)
	cfg := home.cfg
	cfg.CancelGrace = 20 * time.Millisecond
	b := openAt(t, open(t, server.url, 2), cfg)
	r := insert(t, b, "r", publish(t, b, owner("")))
	holder, err := home.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := holder.Exec(t.Context(), b.place.sql(`SELECT 1 FROM docket.docket_runs FOR UPDATE`)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = b.CommitUnclaimed(ctx, ports.CommitUnclaimed{
		Scope: ports.System(), RunID: "r", ExpectedSeq: 1, Transition: next(r, record.ScheduleImmediate),
	})
	if !errors.Is(err, ports.ErrUncertain) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want ErrUncertain that is also the context's", err)
	}
	// A claimer passes by what is locked (CLM-5).
	if got, err := b.ClaimRuns(t.Context(), ports.ClaimRuns{Scope: ports.System(), Limit: 1, TTL: time.Second, MaxAttempts: 1, Now: epoch}); err != nil || len(got.Leases) != 0 {
		t.Errorf("claimed %+v, %v", got, err)
	}
}
