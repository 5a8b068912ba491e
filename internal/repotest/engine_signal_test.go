package repotest

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

func resolve(e *engine.Engine, runID, interrupt string, v any) error {
	_, err := e.ResolveInterrupt(context.Background(), engine.ResolveInterrupt{RunID: runID, InterruptID: interrupt, Value: v})
	return err
}

func cancel(e *engine.Engine, runID string) error {
	_, err := e.CancelRun(context.Background(), engine.CancelRun{RunID: runID})
	return err
}

func TestEngineTakesOneOfTwoAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"ask": ask})
		e := w.run(w.engine(engine.Config{}))
		ref := w.save(e.Engine, question(t))
		for i := range 20 {
			id := fmt.Sprintf("r%d", i)
			w.start(e.Engine, ref, id)
			if r := w.await(e.Engine, id, time.Minute); r.Status != run.Waiting || len(r.Interrupts) != 1 {
				t.Fatalf("status %s, interrupts %v", r.Status, r.Interrupts)
			}
			var answers sync.WaitGroup
			errs := make([]error, 2)
			for j, v := range []string{"yes", "no"} {
				answers.Go(func() { errs[j] = resolve(e.Engine, id, "q", v) })
			}
			answers.Wait()
			winner := 0
			if errs[0] != nil {
				winner = 1
			}
			if errs[winner] != nil || engine.CodeOf(errs[1-winner]) != engine.CodeResolved && engine.CodeOf(errs[1-winner]) != engine.CodeInactive {
				t.Fatalf("two answers: %v and %v; want one success and one already_resolved", errs[0], errs[1])
			}
			r := w.await(e.Engine, id, time.Minute)
			if want := []string{"yes", "no"}[winner]; r.Status != run.Done || r.Output["answer"] != want {
				t.Fatalf("%s with %v, want done with %q", r.Status, r.Output, want)
			}
			if got := w.events(e.Engine, id); count(got, "interrupt_resolved") != 1 {
				t.Fatalf("events %v", got)
			}
		}
	})
}

func TestEngineRefusesAnswersThatDontFit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"ask": ask})
		e := w.run(w.engine(engine.Config{}))
		w.start(e.Engine, w.save(e.Engine, question(t)), "r")
		before := w.await(e.Engine, "r", time.Minute)
		for _, c := range []struct {
			name, run, interrupt string
			value                any
			want                 engine.Code
		}{
			{"a value outside the interrupt's schema", "r", "q", "perhaps", engine.CodeInvalidInput},
			{"a value no store can keep", "r", "q", make(chan int), engine.CodeInvalidInput},
			{"an unknown interrupt", "r", "other", "yes", engine.CodeNotFound},
			{"no interrupt named", "r", "", "yes", engine.CodeInvalidInput},
			{"an unknown run", "nobody", "q", "yes", engine.CodeNotFound},
		} {
			if err := resolve(e.Engine, c.run, c.interrupt, c.value); engine.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want code %s", c.name, err, c.want)
			}
		}
		if after := w.fetch(e.Engine, "r"); after.CheckpointSeq != before.CheckpointSeq {
			t.Errorf("a refused answer moved the sequence from %d to %d", before.CheckpointSeq, after.CheckpointSeq)
		}
	})
}

// A signal needs no implementation of any node.
func TestEngineSignalsWithoutImplementations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"ask": ask})
		e := w.run(w.engine(engine.Config{}))
		ref := w.save(e.Engine, question(t))
		client := w.engineOn(w.backend, nil, engine.Config{})
		started, err := client.StartRun(t.Context(), engine.StartRun{Graph: ref})
		if err != nil {
			t.Fatal(err)
		}
		w.await(client, started.ID, time.Minute)
		if err := resolve(client, started.ID, "q", "no"); err != nil {
			t.Fatal(err)
		}
		if r := w.await(client, started.ID, time.Minute); r.Output["answer"] != "no" {
			t.Errorf("output %v", r.Output)
		}
	})
}

func TestEngineCancels(t *testing.T) {
	t.Parallel()
	blocked := func(cause *error) handlers {
		return handlers{"work": func(ctx context.Context, _ node.Input) (node.Result, error) {
			<-ctx.Done()
			*cause = context.Cause(ctx)
			return node.Result{}, errCustom
		}}
	}
	t.Run("at work in this process", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var cause error
			w := newWorld(t, blocked(&cause))
			e := w.run(w.engine(engine.Config{}))
			w.start(e.Engine, w.save(e.Engine, chain(t, 2, "work", graph.NodePolicies{})), "r")
			synctest.Wait()
			if err := cancel(e.Engine, "r"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if cause != engine.ErrRunCancelled {
				t.Errorf("the node's cause is %v, at once want ErrRunCancelled", cause)
			}
			w.checkCancelled(e.Engine, "r")
		})
	})
	t.Run("at work elsewhere", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var cause error
			w := newWorld(t, blocked(&cause))
			e, other := w.run(w.engine(engine.Config{})), w.engine(engine.Config{})
			w.start(e.Engine, w.save(e.Engine, chain(t, 2, "work", graph.NodePolicies{})), "r")
			synctest.Wait()
			if err := cancel(other, "r"); err != nil {
				t.Fatal(err)
			}
			<-time.After(21 * time.Second)
			synctest.Wait()
			if cause != engine.ErrRunCancelled {
				t.Errorf("after a renewal interval the node's cause is %v, want ErrRunCancelled", cause)
			}
			w.checkCancelled(other, "r")
		})
	})
	t.Run("due, nobody at work", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, handlers{"note": note})
			client := w.engine(engine.Config{})
			w.start(client, w.save(client, chain(t, 1, "note", graph.NodePolicies{})), "r")
			if err := cancel(client, "r"); err != nil {
				t.Fatal(err)
			}
			e := w.run(w.engine(engine.Config{}))
			<-time.After(2 * time.Minute)
			w.checkCancelled(e.Engine, "r")
		})
	})
	t.Run("parked for a retry", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			w := newWorld(t, handlers{"work": func(context.Context, node.Input) (node.Result, error) {
				calls++
				return node.Result{}, errCustom
			}})
			e := w.run(w.engine(engine.Config{}))
			g := chain(t, 1, "work", graph.NodePolicies{Retry: &graph.Retry{MaxAttempts: 5, BackoffMS: 60_000}})
			w.start(e.Engine, w.save(e.Engine, g), "r")
			synctest.Wait()
			if err := cancel(e.Engine, "r"); err != nil {
				t.Fatal(err)
			}
			<-time.After(10 * time.Minute)
			if calls != 1 {
				t.Errorf("the node was called %d times", calls)
			}
			w.checkCancelled(e.Engine, "r")
		})
	})
	t.Run("waiting", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, handlers{"ask": ask})
			e := w.run(w.engine(engine.Config{}))
			w.start(e.Engine, w.save(e.Engine, question(t)), "r")
			w.await(e.Engine, "r", time.Minute)
			if err := cancel(e.Engine, "r"); err != nil {
				t.Fatal(err)
			}
			w.checkCancelled(e.Engine, "r")
			if err := resolve(e.Engine, "r", "q", "yes"); engine.CodeOf(err) != engine.CodeInactive {
				t.Errorf("an answer to a cancelled run: %v", err)
			}
		})
	})
}

func (w *world) checkCancelled(e *engine.Engine, runID string) {
	w.t.Helper()
	info := w.inspect(e, runID)
	if info.Run.Status != run.Cancelled || !info.WakeAt.IsZero() || !info.ClaimedAt.IsZero() {
		w.t.Errorf("status %s, wake %s, claimed at %s", info.Run.Status, info.WakeAt, info.ClaimedAt)
	}
	if err := cancel(e, runID); err != nil {
		w.t.Errorf("a second cancel: %v", err)
	}
	if again := w.fetch(e, runID); again.CheckpointSeq != info.Run.CheckpointSeq {
		w.t.Errorf("a second cancel used a sequence")
	}
	if _, err := e.RetryPoisonedRun(w.t.Context(), engine.RetryPoisonedRun{RunID: runID}); engine.CodeOf(err) != engine.CodeInactive {
		w.t.Errorf("recovering a cancelled run: %v", err)
	}
}

// A no-op cycle commits as fast as it can; a cancel gets through.
func TestEngineCancelsABusyCycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, handlers{"noop": func(context.Context, node.Input) (node.Result, error) { return node.Result{}, nil }})
	e := w.engine(engine.Config{})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	defer func() { stop(); <-done }()
	g, err := graph.New("cycle",
		graph.PutNode("a", graph.Node{Implementation: "noop"}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "a"}),
		graph.PutEdge("again", graph.Edge{From: []string{"a"}, To: "a"}))
	if err != nil {
		t.Fatal(err)
	}
	ref := w.save(e, g)
	for i := range 5 {
		w.start(e, ref, fmt.Sprint("r", i))
	}
	for i := range 5 {
		if err := cancel(e, fmt.Sprint("r", i)); err != nil {
			t.Errorf("cancel: %v", err)
		}
	}
	for i := range 5 {
		if r := w.await(e, fmt.Sprint("r", i), 20*time.Second); r.Status != run.Cancelled {
			t.Errorf("status %s", r.Status)
		}
	}
}

// A signal that commits between the worker's read and its park makes the park
// stale; the run is due and goes on.
func TestEngineSignalBeatsAPark(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"ask": ask, "slow": func(ctx context.Context, in node.Input) (node.Result, error) {
			if in.State.Has("answer") {
				return node.Result{}, nil
			}
			<-time.After(10 * time.Second)
			return node.Result{}, ctx.Err()
		}})
		g, err := graph.New("two",
			graph.PutField("answer", graph.Field{Schema: question(t).Fields["answer"].Schema}),
			graph.PutNode("ask", graph.Node{Implementation: "ask"}),
			graph.PutNode("slow", graph.Node{Implementation: "slow"}),
			graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "ask"}),
			graph.PutEdge("begin2", graph.Edge{From: []string{graph.Start}, To: "slow"}),
			graph.PutEdge("again", graph.Edge{From: []string{"slow"}, To: "slow"}),
			graph.PutEdge("end", graph.Edge{From: []string{"ask"}, To: graph.Finish}))
		if err != nil {
			t.Fatal(err)
		}
		g.Policies.MaxSupersteps = 5
		e := w.run(w.engine(engine.Config{}))
		w.start(e.Engine, w.save(e.Engine, g), "r")
		<-time.After(15 * time.Second) // step 1 is committed, step 2 at work, the question open
		before := w.inspect(e.Engine, "r")
		if len(before.Run.Interrupts) != 1 || before.ClaimedAt.IsZero() {
			t.Fatalf("interrupts %v, claimed at %s", before.Run.Interrupts, before.ClaimedAt)
		}
		if err := resolve(e.Engine, "r", "q", "yes"); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		r := w.fetch(e.Engine, "r")
		if r.State["answer"] != "yes" || r.Step < 2 {
			t.Errorf("state %v at step %d: the answer is lost or the run sleeps", r.State, r.Step)
		}
	})
}

// A commit whose answer was lost isn't repeated with another content, and its
// caller isn't told that somebody else answered.
func TestEngineSignalSurvivesALostAnswer(t *testing.T) {
	t.Parallel()
	for _, kind := range []portstest.Kind{portstest.After, portstest.Before} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, handlers{"ask": ask})
			e := w.run(w.engine(engine.Config{}))
			w.start(e.Engine, w.save(e.Engine, question(t)), "r")
			w.await(e.Engine, "r", time.Minute)
			faulty := portstest.New(w.backend, portstest.Config{Choose: func(op string, n int) portstest.Fault {
				if op == "CommitUnclaimed" && n == 1 {
					return portstest.Fault{Kind: kind}
				}
				return portstest.Fault{}
			}})
			client := w.engineOn(faulty.Backend(), nil, engine.Config{})
			err := resolve(client, "r", "q", "yes")
			switch kind {
			case portstest.After:
				if err != nil {
					t.Errorf("applied, the answer lost: %v, want success", err)
				}
			default:
				if !errors.Is(err, ports.ErrUnavailable) || engine.CodeOf(err) != engine.CodeUnavailable {
					t.Errorf("not applied: %v, want unavailable", err)
				}
			}
		})
	}
}
