package repotest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports/portstest"
)

// external is a system that nodes call: it does a thing once for each identity it
// is given.
type external struct {
	mu    sync.Mutex
	calls int
	done  map[string]int
}

func (o *external) do(identity string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls++
	if o.done == nil {
		o.done = map[string]int{}
	}
	o.done[identity]++
}

// A worker that is cut off has made its node's effect and can't commit; another
// makes the attempt again. Both gave the outside system the same identity, and a
// retry that the graph asks for another one. The task's identity is one for all.
func TestEngineEffectsAndTheirIdentity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		attempts, tasks := &external{}, &external{}
		w := newWorld(t, handlers{"pay": func(ctx context.Context, in node.Input) (node.Result, error) {
			a, _ := node.Info(ctx)
			attempts.do(a.IdempotencyKey)
			tasks.do(a.TaskID)
			if a.Attempt == 1 {
				return node.Result{}, errCustom
			}
			return node.Write("log", a.NodeID), nil
		}})
		gone := false // from its first commit on nothing of it reaches the store
		cutOff := portstest.New(w.backend, portstest.Config{Choose: func(op string, _ int) portstest.Fault {
			if gone = gone || op == "CommitClaimed"; gone {
				return portstest.Fault{Kind: portstest.Before}
			}
			return portstest.Fault{}
		}})
		a := w.run(w.engineOn(cutOff.Backend(), w.registry, engine.Config{ClaimTTL: 10 * time.Second}))
		retry := graph.NodePolicies{Retry: &graph.Retry{MaxAttempts: 2, BackoffMS: 1000}}
		w.start(a.Engine, w.save(a.Engine, chain(t, 1, "pay", retry)), "r")
		synctest.Wait()
		b := w.run(w.engine(engine.Config{ClaimTTL: 10 * time.Second}))
		if r := w.await(b.Engine, "r", 5*time.Minute); r.Status != run.Done {
			t.Fatalf("status %s, failure %+v", r.Status, r.Failure)
		}
		first, second := run.IdempotencyKey("r", 1, "n001", 1), run.IdempotencyKey("r", 1, "n001", 2)
		if attempts.done[first] != 2 || attempts.done[second] != 1 || len(attempts.done) != 2 {
			t.Errorf("attempts %v: want the first twice, the second once", attempts.done)
		}
		if keys := slices.Collect(maps.Keys(tasks.done)); len(keys) != 1 || keys[0] != run.TaskID("r", 1, "n001") {
			t.Errorf("tasks %v: want one identity", tasks.done)
		}
		if failed := count(w.events(b.Engine, "r"), "node_failed"); failed != 1 {
			t.Errorf("%d failures are committed, want one: a repeat after a crash is no attempt of its own", failed)
		}
	})
}

// Whoever cancels first spares the node: an attempt may also run no time at all.
func TestEngineCancelledBeforeItRan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := &external{}
		w := newWorld(t, handlers{"pay": func(ctx context.Context, _ node.Input) (node.Result, error) {
			a, _ := node.Info(ctx)
			calls.do(a.IdempotencyKey)
			return node.Result{}, nil
		}})
		client := w.engine(engine.Config{})
		w.start(client, w.save(client, chain(t, 1, "pay", graph.NodePolicies{})), "r")
		if _, err := client.CancelRun(t.Context(), engine.CancelRun{RunID: "r"}); err != nil {
			t.Fatal(err)
		}
		w.run(w.engine(engine.Config{}))
		<-time.After(5 * time.Minute)
		if r := w.fetch(client, "r"); r.Status != run.Cancelled || calls.calls != 0 {
			t.Errorf("status %s after %d calls", r.Status, calls.calls)
		}
	})
}
