package repotest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

func TestEngineDrivesARunToItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		e := w.run(w.engine(engine.Config{}))
		ref := w.save(e.Engine, chain(t, 3, "note", graph.NodePolicies{}))
		began := time.Now()
		w.start(e.Engine, ref, "r1")
		r := w.await(e.Engine, "r1", time.Minute)
		if r.Status != run.Done || r.Step != 3 {
			t.Fatalf("status %s at step %d, failure %+v", r.Status, r.Step, r.Failure)
		}
		if got := r.Output["log"].([]any); len(got) != 3 || got[0] != "n001" || got[2] != "n003" {
			t.Fatalf("output %v", got)
		}
		if passed := time.Since(began); passed != 0 {
			t.Errorf("a start in a driving process took %s: some timer is on its path", passed)
		}
		if n := count(w.events(e.Engine, "r1"), "node_completed"); n != 3 {
			t.Errorf("%d node_completed events, want 3", n)
		}
	})
}

func TestEngineHandsANewRunOverOnceItsGraphIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		claims := 0
		w := newWorld(t, handlers{"note": note})
		b := &spy{Backend: w.backend, onClaim: func() { claims++ }}
		e := w.run(w.engineOn(b, w.registry, engine.Config{Wake: engine.PollOnly}))
		ref := w.save(e.Engine, chain(t, 1, "note", graph.NodePolicies{}))
		w.start(e.Engine, ref, "first")
		w.await(e.Engine, "first", time.Minute)
		before := claims
		w.start(e.Engine, ref, "second")
		w.await(e.Engine, "second", time.Minute)
		if claims != before {
			t.Errorf("the second run was claimed %d times; it should have been born claimed", claims-before)
		}
	})
}

func TestEngineTakesOverFromAKilledWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		t.Cleanup(func() { close(hang) })
		w := newWorld(t, handlers{"note": note})
		dead := &cut{Backend: w.backend}
		stuck := registryOf(t, handlers{"note": func(ctx context.Context, in node.Input) (node.Result, error) {
			if a, _ := node.Info(ctx); a.NodeID == "n002" {
				dead.off.Store(true) // from here on nothing of this process reaches the store
				<-hang
			}
			return note(ctx, in)
		}})
		a := w.run(w.engineOn(dead, stuck, engine.Config{ShutdownGrace: 11 * time.Second}))
		ref := w.save(a.Engine, chain(t, 3, "note", graph.NodePolicies{}))
		w.start(a.Engine, ref, "r")
		synctest.Wait()

		b := w.run(w.engine(engine.Config{}))
		began := time.Now()
		r := w.await(b.Engine, "r", 10*time.Minute)
		if r.Status != run.Done {
			t.Fatalf("status %s, failure %+v", r.Status, r.Failure)
		}
		if passed := time.Since(began); passed < 59*time.Second || passed > 63*time.Second {
			t.Errorf("taken over after %s, want about the claim TTL of 60s", passed)
		}
		if got := w.events(b.Engine, "r"); count(got, "node_completed") != 3 {
			t.Errorf("events %v: every committed step counts once", got)
		}
	})
}

func TestEngineShutdownIsNoOutcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  func(ctx context.Context) error
	}{
		{"the context's error", func(ctx context.Context) error { return ctx.Err() }},
		{"a custom error", func(context.Context) error { return errCustom }},
		{"a wrapped cause", func(ctx context.Context) error { return context.Cause(ctx) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var cause error
				w := newWorld(t, handlers{"work": func(ctx context.Context, _ node.Input) (node.Result, error) {
					<-ctx.Done()
					cause = context.Cause(ctx)
					return node.Result{}, c.err(ctx)
				}})
				a := w.run(w.engine(engine.Config{}))
				ref := w.save(a.Engine, chain(t, 1, "work", graph.NodePolicies{}))
				w.start(a.Engine, ref, "r")
				synctest.Wait()
				began := time.Now()
				a.halt()
				if passed := time.Since(began); passed != 30*time.Second {
					t.Errorf("stopped after %s, want the grace of 30s", passed)
				}
				synctest.Wait()
				if cause != engine.ErrShutdown {
					t.Errorf("cause %v, want ErrShutdown", cause)
				}
				info := w.inspect(a.Engine, "r")
				if info.Run.Status != run.Running || info.Attempts != 0 || !info.ClaimedAt.IsZero() {
					t.Errorf("after the stop: status %s, attempts %d, claimed at %s", info.Run.Status, info.Attempts, info.ClaimedAt)
				}
				if got := w.events(a.Engine, "r"); count(got, "node_failed") != 0 {
					t.Errorf("a shutdown left node_failed: %v", got)
				}
				b := w.run(w.engineOn(w.backend, registryOf(t, handlers{"work": note}), engine.Config{}))
				if r := w.await(b.Engine, "r", time.Minute); r.Status != run.Done {
					t.Errorf("another worker ended it %s", r.Status)
				}
			})
		})
	}
}

func TestEngineSoftStopFinishesTheMomentAtHand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"slow": func(ctx context.Context, in node.Input) (node.Result, error) {
			select {
			case <-time.After(5 * time.Second):
				return note(ctx, in)
			case <-ctx.Done():
				return node.Result{}, ctx.Err()
			}
		}})
		e := w.run(w.engine(engine.Config{}))
		ref := w.save(e.Engine, chain(t, 3, "slow", graph.NodePolicies{}))
		w.start(e.Engine, ref, "r")
		synctest.Wait()
		e.halt()
		info := w.inspect(e.Engine, "r")
		if info.Run.Step != 1 || info.Attempts != 0 || !info.ClaimedAt.IsZero() || info.WakeAt.IsZero() {
			t.Errorf("step %d, attempts %d, claimed at %s, wake %s; want one committed step and a free run",
				info.Run.Step, info.Attempts, info.ClaimedAt, info.WakeAt)
		}
	})
}

// The claim of a healthy worker survives a node that takes the longest allowed
// time, however short the TTL.
func TestEngineLongNodeKeepsItsClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		w := newWorld(t, handlers{"long": func(ctx context.Context, in node.Input) (node.Result, error) {
			calls++
			<-time.After(10*time.Minute - time.Second)
			return note(ctx, in)
		}})
		cfg := engine.Config{ClaimTTL: 3 * time.Second}
		a, b := w.run(w.engine(cfg)), w.run(w.engine(cfg))
		ref := w.save(a.Engine, chain(t, 1, "long", graph.NodePolicies{}))
		w.start(a.Engine, ref, "r")
		if r := w.await(b.Engine, "r", 11*time.Minute); r.Status != run.Done {
			t.Fatalf("status %s, failure %+v", r.Status, r.Failure)
		}
		if calls != 1 {
			t.Errorf("the node ran %d times", calls)
		}
	})
}

func TestEngineNeverClaimsAheadOfItsSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"work": func(ctx context.Context, in node.Input) (node.Result, error) {
			<-time.After(5 * time.Second)
			return note(ctx, in)
		}})
		client := w.engine(engine.Config{})
		ref := w.save(client, chain(t, 1, "work", graph.NodePolicies{}))
		const runs = 30
		for i := range runs {
			w.start(client, ref, "r"+string(rune('A'+i)))
		}
		e := w.run(w.engine(engine.Config{Slots: 2, ClaimTTL: 3 * time.Second}))
		for done := 0; done < runs; {
			<-time.After(500 * time.Millisecond)
			page, err := e.ListRuns(t.Context(), engine.ListRuns{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			done = 0
			claimed := 0
			for _, s := range page.Items {
				if s.Status == run.Done {
					done++
				}
				if info := w.inspect(e.Engine, s.ID); !info.ClaimedAt.IsZero() {
					claimed++
				}
			}
			if claimed > 2 {
				t.Fatalf("%d runs are claimed with 2 slots", claimed)
			}
		}
	})
}
