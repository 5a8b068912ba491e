package repotest

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
)

// A node that ignores its deadline fails in time, and what it returns later
// changes nothing.
func TestEngineDropsLateResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"deaf": func(ctx context.Context, in node.Input) (node.Result, error) {
			if a, _ := node.Info(ctx); a.Attempt == 1 {
				<-time.After(time.Hour)
				return node.Write("log", "late"), nil
			}
			return note(ctx, in)
		}})
		e := w.run(w.engine(engine.Config{}))
		g := chain(t, 1, "deaf", graph.NodePolicies{TimeoutMS: 50, Retry: &graph.Retry{MaxAttempts: 2, BackoffMS: 100}})
		w.start(e.Engine, w.save(e.Engine, g), "r")
		began := time.Now()
		r := w.await(e.Engine, "r", time.Minute)
		if passed := time.Since(began); r.Status != run.Done || passed > time.Second {
			t.Errorf("%s after %s, failure %+v", r.Status, passed, r.Failure)
		}
		<-time.After(2 * time.Hour)
		if got := w.fetch(e.Engine, "r").State["log"].([]any); len(got) != 1 || got[0] != "n001" {
			t.Errorf("log %v: the late result got in", got)
		}
	})
}

// At the bound of abandoned goroutines a worker claims nothing, says so, and goes
// on once they return.
func TestEngineStopsClaimingWhenSaturated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := newWorld(t, handlers{"deaf": func(context.Context, node.Input) (node.Result, error) {
			<-release
			return node.Result{}, nil
		}, "note": note})
		e := w.run(w.engine(engine.Config{Slots: 2, MaxAbandoned: 2}))
		deaf := w.save(e.Engine, chain(t, 1, "deaf", graph.NodePolicies{TimeoutMS: 50}))
		fine := w.save(e.Engine, chain(t, 1, "note", graph.NodePolicies{}))
		w.start(e.Engine, deaf, "d1")
		w.start(e.Engine, deaf, "d2")
		<-time.After(3 * time.Second)
		w.start(e.Engine, fine, "f")
		<-time.After(time.Minute)
		if h := e.Health(); h.State != engine.StateSaturated || h.Abandoned != 2 {
			t.Errorf("health %+v, want saturated with 2", h)
		}
		if r := w.fetch(e.Engine, "f"); r.Step != 0 {
			t.Errorf("a saturated worker took on a run")
		}
		close(release)
		if r := w.await(e.Engine, "f", 5*time.Second); r.Status != run.Done {
			t.Errorf("after their return: %s", r.Status)
		}
		synctest.Wait()
		if h := e.Health(); h.State != engine.StateOK || h.Abandoned != 0 {
			t.Errorf("health %+v, want ok", h)
		}
	})
}

// A stop returns within its grace and says which nodes it leaves behind.
func TestEngineStopNamesWhatItLeavesBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := newWorld(t, handlers{"deaf": func(context.Context, node.Input) (node.Result, error) {
			<-release
			return node.Result{}, nil
		}})
		e := w.engine(engine.Config{ShutdownGrace: 11 * time.Second})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		synctest.Wait()
		w.start(e, w.save(e, chain(t, 1, "deaf", graph.NodePolicies{})), "r")
		synctest.Wait()
		began := time.Now()
		stop()
		err := <-ended
		if passed := time.Since(began); passed > 13*time.Second {
			t.Errorf("stopped after %s", passed)
		}
		if engine.CodeOf(err) != engine.CodeAbandoned || !strings.Contains(err.Error(), "n001") {
			t.Errorf("Run: %v, want abandoned and the node's name", err)
		}
		if info := w.inspect(e, "r"); !info.ClaimedAt.IsZero() || info.Attempts != 0 {
			t.Errorf("the claim wasn't given back: %+v", info)
		}
		close(release)
	})
}

// Whatever a node does to its goroutine, it is its attempt that fails.
func TestEngineContainsNodes(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]node.HandlerFunc{
		"panic":          func(context.Context, node.Input) (node.Result, error) { panic("boom") },
		"panicking text": func(context.Context, node.Input) (node.Result, error) { panic(badText{}) },
		"panicking error": func(context.Context, node.Input) (node.Result, error) {
			return node.Result{}, badText{}
		},
		"exit": func(context.Context, node.Input) (node.Result, error) {
			runtime.Goexit()
			return node.Result{}, nil
		},
		"error": func(context.Context, node.Input) (node.Result, error) { return node.Result{}, errCustom },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, handlers{"bad": f, "note": note})
				e := w.run(w.engine(engine.Config{}))
				w.start(e.Engine, w.save(e.Engine, chain(t, 1, "bad", graph.NodePolicies{})), "r")
				r := w.await(e.Engine, "r", time.Minute)
				if r.Status != run.Failed || r.Failure.Code != run.FailureNode || r.Failure.NodeID != "n001" {
					t.Errorf("%s, failure %+v", r.Status, r.Failure)
				}
				w.start(e.Engine, w.save(e.Engine, chain(t, 1, "note", graph.NodePolicies{})), "next")
				if r := w.await(e.Engine, "next", time.Minute); r.Status != run.Done {
					t.Errorf("the next run: %s", r.Status)
				}
			})
		})
	}
}

type badText struct{}

func (badText) Error() string  { panic("no text") }
func (badText) String() string { panic("no text") }

// One damaged row doesn't stop the others; it is told, and ends poisoned, never
// failed.
func TestEngineLeavesADamagedRecordAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		b := &damaging{Backend: w.backend, runID: "bad"}
		client := w.engine(engine.Config{})
		ref := w.save(client, chain(t, 1, "note", graph.NodePolicies{}))
		for _, id := range []string{"a", "bad", "c"} {
			w.start(client, ref, id)
		}
		e := w.run(w.engineOn(b, w.registry, engine.Config{ClaimAttempts: 2}))
		for _, id := range []string{"a", "c"} {
			if r := w.await(e.Engine, id, time.Minute); r.Status != run.Done {
				t.Errorf("%s: %s", id, r.Status)
			}
		}
		<-time.After(5 * time.Minute)
		info := w.inspect(client, "bad")
		if info.Run.Status != run.Running || info.Poison.Reason != ports.PoisonAttempts || info.Run.CheckpointSeq != 1 {
			t.Errorf("status %s, poison %q, seq %d", info.Run.Status, info.Poison.Reason, info.Run.CheckpointSeq)
		}
		seen := w.inspect(e.Engine, "bad")
		if engine.CodeOf(seen.Damage) != engine.CodeCorrupt || seen.Run.ID != "bad" || !seen.Poisoned() {
			t.Errorf("through the damage: %+v", seen)
		}
		_, err := e.AwaitRun(t.Context(), engine.AwaitRun{RunID: "bad"})
		var halt *engine.PoisonedError
		if !errors.As(err, &halt) {
			t.Errorf("AwaitRun: %v", err)
		}
		if _, err := e.FetchRun(t.Context(), engine.FetchRun{RunID: "bad"}); engine.CodeOf(err) != engine.CodeCorrupt {
			t.Errorf("FetchRun: %v", err)
		}
	})
}

// The budget of a claim is looked at between moments: others get their turn, and
// nothing is lost.
func TestEngineYieldsAtItsBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		w := newWorld(t, handlers{"work": func(ctx context.Context, in node.Input) (node.Result, error) {
			a, _ := node.Info(ctx)
			mu.Lock()
			order = append(order, a.RunID)
			mu.Unlock()
			<-time.After(time.Second)
			return note(ctx, in)
		}})
		client := w.engine(engine.Config{})
		ref := w.save(client, chain(t, 6, "work", graph.NodePolicies{}))
		w.start(client, ref, "a")
		<-time.After(time.Millisecond)
		w.start(client, ref, "b")
		e := w.run(w.engine(engine.Config{Slots: 1, DrainMoments: 2, DrainTime: time.Hour}))
		for _, id := range []string{"a", "b"} {
			if r := w.await(e.Engine, id, time.Minute); r.Status != run.Done {
				t.Errorf("%s: %s", id, r.Status)
			}
		}
		if got := strings.Join(order, ""); got != "aabbaabbaabb" {
			t.Errorf("order %q: want two supersteps each in turn", got)
		}
	})
}

// Many waiters that give up cost nobody anything.
func TestEngineAwaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"ask": ask, "work": func(ctx context.Context, _ node.Input) (node.Result, error) {
			<-ctx.Done()
			return node.Result{}, ctx.Err()
		}})
		e := w.run(w.engine(engine.Config{}))
		w.start(e.Engine, w.save(e.Engine, chain(t, 1, "work", graph.NodePolicies{})), "r")
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
				defer stop()
				_, err := e.AwaitRun(ctx, engine.AwaitRun{RunID: "r"})
				if engine.CodeOf(err) != engine.CodeTimeout || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("AwaitRun: %v", err)
				}
			})
		}
		began := time.Now()
		all.Wait()
		if passed := time.Since(began); passed != 300*time.Millisecond {
			t.Errorf("they ended after %s", passed)
		}
	})
}
