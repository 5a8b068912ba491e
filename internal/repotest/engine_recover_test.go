package repotest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
	"github.com/docket-go/docket/ports/portstest"
)

// Every commit of a run is lost on the way, or its answer is, one after the
// other. The node runs once a step all the same.
func TestEngineCommitsThroughLostAnswers(t *testing.T) {
	t.Parallel()
	for _, kind := range []portstest.Kind{portstest.Before, portstest.After} {
		for at := 1; at <= 4; at++ {
			t.Run(fmt.Sprintf("kind %d at commit %d", kind, at), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					calls := map[string]int{}
					w := newWorld(t, handlers{"work": func(ctx context.Context, in node.Input) (node.Result, error) {
						a, _ := node.Info(ctx)
						calls[a.NodeID]++
						return note(ctx, in)
					}})
					faulty := portstest.New(w.backend, portstest.Config{Choose: func(op string, n int) portstest.Fault {
						if op == "CommitClaimed" && n == at {
							return portstest.Fault{Kind: kind}
						}
						return portstest.Fault{}
					}})
					e := w.run(w.engineOn(faulty.Backend(), w.registry, engine.Config{}))
					w.start(e.Engine, w.save(e.Engine, chain(t, 4, "work", graph.NodePolicies{})), "r")
					r := w.await(e.Engine, "r", 5*time.Minute)
					if r.Status != run.Done {
						t.Fatalf("status %s, failure %+v", r.Status, r.Failure)
					}
					for id, n := range calls {
						if n != 1 {
							t.Errorf("node %s ran %d times", id, n)
						}
					}
				})
			})
		}
	}
}

// A commit that arrives after its sender gave it up is fenced: the run isn't
// changed twice.
func TestEngineLateCommitIsFenced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		faulty := portstest.New(w.backend, portstest.Config{Choose: func(op string, n int) portstest.Fault {
			if op == "CommitClaimed" && n == 1 {
				return portstest.Fault{Kind: portstest.Late}
			}
			return portstest.Fault{}
		}})
		e := w.run(w.engineOn(faulty.Backend(), w.registry, engine.Config{}))
		w.start(e.Engine, w.save(e.Engine, chain(t, 2, "note", graph.NodePolicies{})), "r")
		r := w.await(e.Engine, "r", 5*time.Minute)
		for _, err := range faulty.Settle(t.Context()) {
			if !errors.Is(err, ports.ErrStale) {
				t.Errorf("the late commit answered %v, want stale", err)
			}
		}
		if again := w.fetch(e.Engine, "r"); again.CheckpointSeq != r.CheckpointSeq || again.EventSeq != r.EventSeq {
			t.Errorf("the late commit changed the run")
		}
	})
}

func TestEngineStartSurvivesALostAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		faulty := portstest.New(w.backend, portstest.Config{Choose: func(op string, n int) portstest.Fault {
			if op == "InsertRun" && n == 2 {
				return portstest.Fault{Kind: portstest.After}
			}
			return portstest.Fault{}
		}})
		e := w.run(w.engineOn(faulty.Backend(), w.registry, engine.Config{}))
		ref := w.save(e.Engine, chain(t, 1, "note", graph.NodePolicies{}))
		w.start(e.Engine, ref, "first")
		w.await(e.Engine, "first", time.Minute)
		began := time.Now()
		w.start(e.Engine, ref, "second") // born claimed, and the answer is lost
		w.await(e.Engine, "second", time.Minute)
		if passed := time.Since(began); passed > 5*time.Second {
			t.Errorf("it took %s: the claim it was born with was left to run out", passed)
		}
	})
}

func TestEngineStartIsIdempotent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		e := w.run(w.engine(engine.Config{Tenancy: engine.TenancyOptional}))
		ref := w.save(e.Engine, chain(t, 1, "note", graph.NodePolicies{}))
		other := w.save(e.Engine, chain(t, 2, "note", graph.NodePolicies{}))
		if _, err := e.SaveGraph(t.Context(), engine.SaveGraph{Tenant: "t", Graph: chain(t, 1, "note", graph.NodePolicies{})}); err != nil {
			t.Fatal(err)
		}
		first := w.start(e.Engine, ref, "r")
		w.await(e.Engine, "r", time.Minute)
		again, err := e.StartRun(t.Context(), engine.StartRun{Graph: ref, RunID: "r"})
		if err != nil || again.Status != run.Done || !again.StartedAt.Equal(first.StartedAt) {
			t.Errorf("the same start again: %v, %s", err, again.Status)
		}
		for name, req := range map[string]engine.StartRun{
			"another graph": {Graph: other, RunID: "r"},
			"another owner": {Graph: ref, RunID: "r", Tenant: "t"},
		} {
			_, err := e.StartRun(t.Context(), req)
			if engine.CodeOf(err) != engine.CodeConflict || !errors.Is(err, ports.ErrConflict) {
				t.Errorf("%s: %v, want a conflict", name, err)
			}
		}
		if _, err := e.StartRun(t.Context(), engine.StartRun{Graph: graph.Ref{ID: "chain", Hash: ref.Hash[:63] + "0"}}); engine.CodeOf(err) != engine.CodeNotFound {
			t.Errorf("an unsaved graph: %v", err)
		}
	})
}

func TestEngineStartsInTheFuture(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		e := w.run(w.engine(engine.Config{}))
		ref := w.save(e.Engine, chain(t, 1, "note", graph.NodePolicies{}))
		at := time.Now().Add(time.Hour)
		if _, err := e.StartRun(t.Context(), engine.StartRun{Graph: ref, RunID: "r", At: at}); err != nil {
			t.Fatal(err)
		}
		r := w.await(e.Engine, "r", 2*time.Hour)
		if late := r.FinishedAt.Sub(at); late < 0 || late > 2*time.Second {
			t.Errorf("finished %s after its start", late)
		}
	})
}

// During a rolling deploy a worker without the implementation gives the run back
// before any user code; one that has it completes the run.
func TestEngineGivesBackWhatItCantRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"v2.note": note})
		publisher := w.engine(engine.Config{})
		ref := w.save(publisher, chain(t, 1, "v2.note", graph.NodePolicies{}))
		w.start(publisher, ref, "r")
		old := w.run(w.engineOn(w.backend, registryOf(t, handlers{"v1.note": note}), engine.Config{MaxAbandons: 30}))
		<-time.After(5 * time.Minute)
		info := w.inspect(publisher, "r")
		if info.Abandons < 2 || info.Abandons > 4 || info.Attempts != 0 || info.Poisoned() {
			t.Fatalf("after 5 minutes: %d abandons, %d attempts, poison %q; want a growing wait", info.Abandons, info.Attempts, info.Poison.Reason)
		}
		if info.Run.Status != run.Running || info.Run.EventSeq != w.fetch(publisher, "r").EventSeq || info.Run.CheckpointSeq != 1 {
			t.Errorf("an abandon left a trace in the run: %+v", info.Run)
		}
		old.halt()
		w.run(w.engine(engine.Config{}))
		if r := w.await(publisher, "r", time.Hour); r.Status != run.Done {
			t.Errorf("status %s", r.Status)
		}
	})
}

func TestEnginePoisonsWhatNobodyCanRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"v2.note": note})
		publisher := w.engine(engine.Config{})
		w.start(publisher, w.save(publisher, chain(t, 1, "v2.note", graph.NodePolicies{})), "r")
		var told []engine.Poisoned
		w.run(w.engineOn(w.backend, registryOf(t, handlers{"v1.note": note}), engine.Config{OnPoison: func(_ context.Context, p engine.Poisoned) error {
			told = append(told, p)
			panic("the callback's own fault")
		}}))
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Hour)
		defer stop()
		_, err := publisher.AwaitRun(ctx, engine.AwaitRun{RunID: "r"})
		var halt *engine.PoisonedError
		if !errors.As(err, &halt) || halt.Info.Poison.Reason != ports.PoisonAbandons || halt.Info.Run.Status != run.Running {
			t.Fatalf("AwaitRun: %v, want the halt of a poisoned run", err)
		}
		synctest.Wait()
		if len(told) != 1 || told[0].RunID != "r" || told[0].Poison.Reason != ports.PoisonAbandons {
			t.Errorf("the poison callback heard %v", told)
		}
		if changed, err := publisher.RetryPoisonedRun(t.Context(), engine.RetryPoisonedRun{RunID: "r"}); !changed || err != nil {
			t.Fatalf("recover: %v, %v", changed, err)
		}
		w.run(w.engine(engine.Config{}))
		if r := w.await(publisher, "r", time.Hour); r.Status != run.Done {
			t.Errorf("after the recovery: %s", r.Status)
		}
	})
}

// A node that asks for longer attempts than the host allows waits for another
// host for ever, and is never poisoned.
func TestEngineNeverPoisonsOverItsOwnLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		small := w.run(w.engine(engine.Config{AttemptMax: time.Minute, MaxAbandons: 2}))
		w.start(small.Engine, w.save(small.Engine, chain(t, 1, "note", graph.NodePolicies{TimeoutMS: 120_000})), "r")
		<-time.After(3 * time.Hour)
		info := w.inspect(small.Engine, "r")
		if info.Poisoned() || info.Abandons < 6 || info.Abandons > 12 {
			t.Errorf("after three hours: %d abandons, poison %q", info.Abandons, info.Poison.Reason)
		}
		small.halt()
		big := w.run(w.engine(engine.Config{}))
		if r := w.await(big.Engine, "r", 2*time.Hour); r.Status != run.Done {
			t.Errorf("status %s", r.Status)
		}
	})
}

// Each worker dies with the run in hand. The claims that were launched are
// counted exactly; the next one poisons.
func TestEngineCountsLaunches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		t.Cleanup(func() { close(hang) })
		var launches atomic.Int64
		w := newWorld(t, handlers{"note": note})
		stuck := registryOf(t, handlers{"note": func(context.Context, node.Input) (node.Result, error) {
			launches.Add(1)
			<-hang
			return node.Result{}, nil
		}})
		client := w.engine(engine.Config{})
		w.start(client, w.save(client, chain(t, 1, "note", graph.NodePolicies{})), "r")
		cfg := engine.Config{ClaimAttempts: 3, ShutdownGrace: 11 * time.Second}
		for range 3 {
			dead := &cut{Backend: w.backend}
			k := w.run(w.engineOn(dead, stuck, cfg))
			<-time.After(time.Second)
			synctest.Wait()
			dead.off.Store(true)
			k.halt()
			<-time.After(2 * time.Minute)
		}
		e := w.run(w.engine(cfg))
		<-time.After(time.Minute)
		info := w.inspect(e.Engine, "r")
		if launches.Load() != 3 || info.Poison.Reason != ports.PoisonAttempts || info.Run.Status != run.Running {
			t.Errorf("%d launches, poison %q, status %s", launches.Load(), info.Poison.Reason, info.Run.Status)
		}
	})
}

func TestEngineWaitsOutAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"slow": func(ctx context.Context, in node.Input) (node.Result, error) {
			<-time.After(7 * time.Second)
			return note(ctx, in)
		}})
		faulty := &cut{Backend: w.backend}
		claims := &claimCounter{Backend: faulty}
		e := w.run(w.engineOn(claims, w.registry, engine.Config{}))
		ref := w.save(e.Engine, chain(t, 3, "slow", graph.NodePolicies{}))
		w.start(e.Engine, ref, "r1")
		<-time.After(2 * time.Second)
		faulty.off.Store(true)
		before := claims.n.Load()
		<-time.After(40 * time.Second)
		if h := e.Health(); h.State != engine.StateDegraded || h.Failures == 0 || h.LastError == "" {
			t.Errorf("health during the outage: %+v", h)
		}
		if n := claims.n.Load() - before; n < 20 || n > 120 {
			t.Errorf("%d claims in 40s of outage", n)
		}
		w.start(e.Engine, ref, "r2")
		faulty.off.Store(false)
		<-time.After(2 * time.Second)
		if h := e.Health(); h.State != engine.StateOK {
			t.Errorf("health 2s after the outage: %+v", h)
		}
		for _, id := range []string{"r1", "r2"} {
			r := w.await(e.Engine, id, 5*time.Minute)
			if r.Status != run.Done || len(r.Output["log"].([]any)) != 3 {
				t.Errorf("%s: %s with %v", id, r.Status, r.Output)
			}
		}
	})
}

type claimCounter struct {
	ports.Backend
	n atomic.Int64
}

func (c *claimCounter) Unwrap() ports.Backend { return c.Backend }

func (c *claimCounter) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	c.n.Add(1)
	return c.Backend.ClaimRuns(ctx, req)
}
