package executor_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/executor"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/runtime"
)

func task(id string, timeout time.Duration, f node.HandlerFunc) runtime.Task {
	return runtime.Task{
		ID: id, NodeID: id, Step: 1, Attempt: 1, Node: f, Timeout: timeout,
		Activation: node.Activation{RunID: "r", NodeID: id, TaskID: id},
	}
}

// badError panics when it is asked what it is.
type badError struct{}

func (badError) Error() string { panic("no text") }

// TestFailures runs every way in which an attempt can end.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		do     node.HandlerFunc
		reason runtime.Reason
		text   string
	}{
		{"success", func(context.Context, node.Input) (node.Result, error) { return node.Write("x", 1), nil }, "", ""},
		{"error", func(context.Context, node.Input) (node.Result, error) { return node.Result{}, errors.New("no") }, runtime.ReasonError, "no"},
		{"panic", func(context.Context, node.Input) (node.Result, error) { panic("oh") }, runtime.ReasonPanic, "panic: oh"},
		{"panic with nil", func(context.Context, node.Input) (node.Result, error) { panic(nil) }, runtime.ReasonPanic, "panic"},
		{"panic with a bad value", func(context.Context, node.Input) (node.Result, error) { panic(badError{}) }, runtime.ReasonPanic, ""},
		{"error that panics", func(context.Context, node.Input) (node.Result, error) { return node.Result{}, badError{} }, runtime.ReasonPanic, ""},
		{"Goexit", func(context.Context, node.Input) (node.Result, error) { goruntime.Goexit(); return node.Result{}, nil }, runtime.ReasonExit, ""},
		{"deadline", func(ctx context.Context, _ node.Input) (node.Result, error) {
			<-ctx.Done()
			return node.Result{}, ctx.Err()
		}, runtime.ReasonTimeout, "50ms"},
		{"no value", func(context.Context, node.Input) (node.Result, error) { return node.Write("x", make(chan int)), nil }, runtime.ReasonInvalid, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := executor.New(executor.Config{})
				outcomes, err := r.Run(t.Context(), []runtime.Task{task("a", 50*time.Millisecond, c.do)})
				if err != nil || len(outcomes) != 1 || outcomes[0].TaskID != "a" {
					t.Fatalf("%+v, %v", outcomes, err)
				}
				reason, text, failed := outcomes[0].Failure()
				if reason != c.reason || !strings.Contains(text, c.text) || failed != (c.reason != "") {
					t.Errorf("got %q %q %v, want %q %q", reason, text, failed, c.reason, c.text)
				}
				if strings.Contains(text, "goroutine ") {
					t.Errorf("a stack trace reached the outcome: %s", text)
				}
				synctest.Wait()
				if r.Abandoned() != 0 {
					t.Errorf("%d abandoned", r.Abandoned())
				}
			})
		})
	}
}

// TestDeadlineWithoutTheNodesHelp has a node that ignores its context: the attempt
// fails at the deadline, its goroutine is counted until it ends, and what it
// returns then is dropped.
func TestDeadlineWithoutTheNodesHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var abandoned, returned atomic.Int32
		r := executor.New(executor.Config{
			Abandoned: func(node.Activation) { abandoned.Add(1) },
			Returned:  func(node.Activation) { returned.Add(1) },
		})
		release := make(chan struct{})
		start := time.Now()
		outcomes, err := r.Run(t.Context(), []runtime.Task{task("deaf", 50*time.Millisecond, func(context.Context, node.Input) (node.Result, error) {
			<-release
			return node.Write("x", "late"), nil
		})})
		if took := time.Since(start); err != nil || took != 50*time.Millisecond {
			t.Fatalf("took %v, %v", took, err)
		}
		if reason, _, _ := outcomes[0].Failure(); reason != runtime.ReasonTimeout {
			t.Errorf("reason %q", reason)
		}
		if r.Abandoned() != 1 || abandoned.Load() != 1 {
			t.Errorf("%d abandoned, hook %d", r.Abandoned(), abandoned.Load())
		}
		close(release)
		synctest.Wait()
		if r.Abandoned() != 0 || returned.Load() != 1 {
			t.Errorf("after it returned: %d abandoned, hook %d", r.Abandoned(), returned.Load())
		}
	})
}

// TestInterruptedRunHasNoOutcomes ends the caller's context: nothing counts as
// made, and the cause is told.
func TestInterruptedRunHasNoOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shutdown := errors.New("shutting down")
		ctx, cancel := context.WithCancelCause(t.Context())
		var seen error
		r := executor.New(executor.Config{})
		time.AfterFunc(time.Second, func() { cancel(shutdown) })
		outcomes, err := r.Run(ctx, []runtime.Task{
			task("quick", time.Minute, func(context.Context, node.Input) (node.Result, error) { return node.Result{}, nil }),
			task("slow", time.Minute, func(ctx context.Context, _ node.Input) (node.Result, error) {
				<-ctx.Done()
				seen = context.Cause(ctx)
				return node.Result{}, fmt.Errorf("wrapped: %w", ctx.Err())
			}),
		})
		if outcomes != nil || !errors.Is(err, shutdown) {
			t.Errorf("got %v, %v", outcomes, err)
		}
		synctest.Wait()
		if !errors.Is(seen, shutdown) {
			t.Errorf("the node saw the cause %v", seen)
		}
	})
}

// TestTasksRunTogether has tasks that only end when all have started.
func TestTasksRunTogether(t *testing.T) {
	const n = 16
	var started atomic.Int32
	all := make(chan struct{})
	tasks := make([]runtime.Task, n)
	for i := range tasks {
		tasks[i] = task(fmt.Sprintf("n%02d", i), time.Minute, func(context.Context, node.Input) (node.Result, error) {
			if started.Add(1) == n {
				close(all)
			}
			<-all
			return node.Result{}, nil
		})
	}
	outcomes, err := executor.New(executor.Config{}).Run(t.Context(), tasks)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		if o.TaskID != tasks[i].ID {
			t.Errorf("outcome %d is of %s", i, o.TaskID)
		}
	}
}

// TestActivationReachesTheNode also checks the host's own executor and value.
func TestActivationReachesTheNode(t *testing.T) {
	var calls atomic.Int32
	r := executor.New(executor.Config{App: "the app", Executor: counting{&calls}})
	_, err := r.Run(t.Context(), []runtime.Task{task("a", time.Minute, func(ctx context.Context, _ node.Input) (node.Result, error) {
		if a, ok := node.Info(ctx); !ok || a.App != "the app" || a.NodeID != "a" {
			t.Errorf("activation %+v, %v", a, ok)
		}
		return node.Result{}, nil
	})})
	if err != nil || calls.Load() != 1 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
}

type counting struct{ n *atomic.Int32 }

func (c counting) Execute(ctx context.Context, n node.Node, in node.Input) (node.Result, error) {
	c.n.Add(1)
	return n.Call(ctx, in)
}

// TestCrashedGetsTheStack keeps stacks for the log.
func TestCrashedGetsTheStack(t *testing.T) {
	var stack string
	r := executor.New(executor.Config{Crashed: func(a node.Activation, panicked string, s []byte) { stack = a.NodeID + panicked + string(s) }})
	_, err := r.Run(t.Context(), []runtime.Task{task("a", time.Minute, func(context.Context, node.Input) (node.Result, error) { panic("oh") })})
	if err != nil || !strings.Contains(stack, "panic: oh") || !strings.Contains(stack, "runner_test.go") {
		t.Errorf("%v, stack %q", err, stack)
	}
}
