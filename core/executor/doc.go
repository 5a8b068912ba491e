// Package executor executes the tasks of a superstep: concurrently, each under its
// deadline, whatever its node does.
//
//	runner := executor.New(executor.Config{})
//	outcomes, err := runner.Run(ctx, step.Tasks)
//
// A returned error, a panic, a runtime.Goexit and a missed deadline all become
// outcomes. At the deadline the node's context is cancelled with ErrTimeout and the
// attempt has failed, whether or not the node returns: a result that comes later is
// dropped. A node that ignores its context keeps its goroutine, which Go can't end;
// the runner counts those and reports them. No other goroutine outlives a call.
//
// When the caller's context ends there are no outcomes: the attempts count as not
// made.
//
// These are core's only goroutines. The package doesn't decide what is retried:
// that is package runtime.
package executor
