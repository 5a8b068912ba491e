// Package engine runs durable graphs: it is the façade that applications call
// and the driver that makes due runs advance.
//
//	e, err := engine.New(backend, registry, engine.Config{})
//	if err != nil { … }
//	go e.Run(ctx) // a worker; a process that never calls Run is a client
//
//	saved, err := e.SaveGraph(ctx, engine.SaveGraph{Graph: g})
//	started, err := e.StartRun(ctx, engine.StartRun{Graph: saved.Ref, Input: input})
//	result, err := e.AwaitRun(ctx, engine.AwaitRun{RunID: started.ID})
//
// What always holds:
//
//   - Every transition of a run is one fenced commit. A worker that lost its claim
//     writes nothing; what it calculated is dropped.
//   - A node runs at least once and its committed result counts exactly once.
//     No store connection is held while a node runs.
//   - Stopping a process is never an outcome of a run: its claims are given back
//     with their attempt.
//   - Moments carry the store's time, kept by the monotonic clock between answers:
//     a skewed host neither steals claims nor writes the past (ADR 0004).
//   - A node, an observer, an executor or a callback that panics, hangs or exits
//     its goroutine harms nothing but itself.
//
// The package doesn't store anything itself: package ports is what a backend
// implements. It doesn't decide what a run does next: core/runtime does. It
// emits OpenTelemetry through the API only; without an SDK that costs nothing.
package engine
