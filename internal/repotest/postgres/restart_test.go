package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	postgres "github.com/docket-go/docket/adapters/pgx"
	"github.com/docket-go/docket/adapters/pgx/pgxtest"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

// TestServerRestart crashes the server twice under two workers: both recover by
// themselves, and each node of each run is committed once.
func TestServerRestart(t *testing.T) {
	t.Parallel()
	server := ownServer(t)
	const runs = 60
	ids := []string{"a", "b", "c", "d", "e"}
	var commits atomic.Int64
	nodes := map[string]node.HandlerFunc{}
	for _, id := range ids {
		nodes[id] = note
	}
	client := newProcess(t, server.URL, postgres.Config{}, nodes, engine.Config{})
	for i := range runs {
		client.start(chain(t, ids...), runID(i))
	}
	for range 2 {
		newProcess(t, server.URL, postgres.Config{}, nodes, engine.Config{
			ClaimTTL: 2 * time.Second, Poll: 100 * time.Millisecond, DrainMoments: 2,
			Observers: []engine.Observer{engine.ObserverFunc(func(context.Context, engine.Observation) error {
				commits.Add(1)
				return nil
			})},
		}).work()
	}
	total := int64(runs * len(ids))
	for _, share := range []int64{8, 3} { // a crash after an eighth of the work, another after a third
		waitFor(t, func() bool { return commits.Load() >= total/share })
		if err := server.Crash(); err != nil {
			t.Fatal(err)
		}
		done := commits.Load()
		if err := server.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Logf("crashed after %d commits of about %d", done, total)
		if done >= total {
			t.Error("all was done before the crash: the test shows nothing")
		}
	}
	for i := range runs {
		r := client.awaitAcross(runID(i))
		if got := fmt.Sprint(r.Output["log"]); r.Status != run.Done || got != fmt.Sprint(ids) {
			t.Errorf("%s is %s with %s; failure %+v", r.ID, r.Status, got, r.Failure)
		}
		for id, n := range client.completions(r) {
			if n != 1 {
				t.Errorf("%s: %s was committed %d times", r.ID, id, n)
			}
		}
	}
}

func runID(i int) string { return fmt.Sprintf("r%03d", i) }

// ownServer is a server that nobody else uses and that may be crashed.
func ownServer(t *testing.T) *pgxtest.Server {
	t.Helper()
	server, err := pgxtest.Find(t.Context())
	if err != nil {
		if errors.Is(err, pgxtest.ErrNone) && !pgxtest.Required() {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.Crash(); err != nil {
		if errors.Is(err, pgxtest.ErrForeign) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	if err := server.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	return server
}

// awaitAcross waits for a run while the server may be away.
func (p *process) awaitAcross(id string) (r engine.Run) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for {
		r, err := p.AwaitRun(ctx, engine.AwaitRun{RunID: id})
		if err == nil {
			return r
		}
		if engine.CodeOf(err) != engine.CodeUnavailable || ctx.Err() != nil {
			p.t.Fatalf("%s: %v", id, err)
		}
	}
}

func waitFor(t *testing.T, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it took too long")
		}
	}
}
