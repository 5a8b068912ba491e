package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/runtime"
)

// Config configures a Runner. The zero Config calls nodes in this process.
type Config struct {
	Executor Executor // nil: Local{}
	App      any      // what nodes find in node.Activation.App
	// Abandoned is called, when set, as a node that outlived its deadline or its
	// run's context is given up, and Returned as it ends after all.
	Abandoned func(a node.Activation)
	Returned  func(a node.Activation)
	// Crashed is called, when set, with the stack of a node that panicked. Stacks
	// never reach the run.
	Crashed func(a node.Activation, panicked string, stack []byte)
}

// Runner executes tasks. It is safe for concurrent use.
type Runner struct {
	cfg       Config
	abandoned atomic.Int64
}

// New returns a Runner.
func New(cfg Config) *Runner {
	if cfg.Executor == nil {
		cfg.Executor = Local{}
	}
	return &Runner{cfg: cfg}
}

// Abandoned returns how many given-up nodes are still running.
func (r *Runner) Abandoned() int { return int(r.abandoned.Load()) }

// Run executes the tasks concurrently and returns their outcomes in the order of
// the tasks. It returns soon after the last deadline at the latest. When ctx ends
// first it returns no outcomes and an error that is ctx's cause; nodes that still
// run then are given up.
func (r *Runner) Run(ctx context.Context, tasks []runtime.Task) ([]runtime.Outcome, error) {
	calls := make([]*call, len(tasks))
	for i := range tasks {
		calls[i] = r.start(ctx, &tasks[i])
	}
	outcomes := make([]runtime.Outcome, len(tasks))
	for i, c := range calls {
		outcomes[i] = c.await(ctx)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("executor: interrupted: %w", context.Cause(ctx))
	}
	return outcomes, nil
}

// call is one attempt under way. The node's goroutine and the waiting one settle
// between them, by state, who of them is late.
type call struct {
	r      *Runner
	task   *runtime.Task
	ctx    context.Context
	cancel context.CancelFunc
	done   chan runtime.Outcome // holds one, so the node's goroutine never blocks
	state  atomic.Int32
}

const (
	callRunning int32 = iota
	callReturned
	callAbandoned
)

func (r *Runner) start(ctx context.Context, task *runtime.Task) *call {
	activation := task.Activation
	activation.App = r.cfg.App
	c := &call{r: r, task: task, done: make(chan runtime.Outcome, 1)}
	ctx = node.WithActivation(ctx, activation)
	c.ctx, c.cancel = context.WithTimeoutCause(ctx, task.Timeout, ErrTimeout)
	go c.run()
	return c
}

func (c *call) await(parent context.Context) runtime.Outcome {
	defer c.cancel()
	select {
	case o := <-c.done:
		return o
	case <-c.ctx.Done():
	}
	c.r.abandoned.Add(1) // before the swap: report may take it back at once
	if !c.state.CompareAndSwap(callRunning, callAbandoned) {
		c.r.abandoned.Add(-1)
		return <-c.done // it returned as the context ended
	}
	if c.r.cfg.Abandoned != nil {
		c.r.cfg.Abandoned(c.task.Activation)
	}
	if parent.Err() != nil {
		return runtime.Outcome{}
	}
	return runtime.Failed(c.task.ID, runtime.ReasonTimeout, timeoutText(c.task.Timeout), false)
}

// run calls the node and reports, whatever happens to this goroutine.
func (c *call) run() {
	var outcome runtime.Outcome
	returned := false
	defer func() {
		if v := recover(); v != nil {
			outcome = c.crashed(v)
		} else if !returned {
			outcome = runtime.Failed(c.task.ID, runtime.ReasonExit, "the node ended its goroutine", false)
		}
		c.report(outcome)
	}()
	result, err := c.r.cfg.Executor.Execute(c.ctx, c.task.Node, c.task.Input)
	outcome = c.judge(result, err)
	returned = true
}

func (c *call) crashed(v any) runtime.Outcome {
	text := panicText(v)
	if c.r.cfg.Crashed != nil {
		c.r.cfg.Crashed(c.task.Activation, text, debug.Stack())
	}
	return runtime.Failed(c.task.ID, runtime.ReasonPanic, text, false)
}

// report hands the outcome over, or drops it when nobody waits any more.
func (c *call) report(o runtime.Outcome) {
	if c.state.CompareAndSwap(callRunning, callReturned) {
		c.done <- o
		return
	}
	c.r.abandoned.Add(-1)
	if c.r.cfg.Returned != nil {
		c.r.cfg.Returned(c.task.Activation)
	}
}

// judge tells a result from a failure. What a node returns after its deadline is
// late even when it comes before anybody noticed.
func (c *call) judge(result node.Result, err error) runtime.Outcome {
	switch {
	case errors.Is(context.Cause(c.ctx), ErrTimeout):
		return runtime.Failed(c.task.ID, runtime.ReasonTimeout, timeoutText(c.task.Timeout), false)
	case err != nil:
		return runtime.Failed(c.task.ID, runtime.ReasonError, err.Error(), node.IsPermanent(err))
	default:
		return runtime.Succeeded(c.task.ID, result)
	}
}

func timeoutText(d time.Duration) string {
	return fmt.Sprintf("the attempt didn't finish within %v", d)
}

// panicText renders a panic's value, which may itself panic.
func panicText(v any) (text string) {
	defer func() {
		if recover() != nil {
			text = "a value that can't be printed"
		}
	}()
	return fmt.Sprintf("panic: %v", v)
}
