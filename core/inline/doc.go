// Package inline runs a graph in the caller's goroutine, without a store: for unit
// tests of graphs, and for applications that pin only the core module.
//
//	r, err := inline.Run(ctx, g, map[string]any{"topic": "tides"}, inline.Config{})
//	if err != nil { … }
//	for _, question := range r.Run().OpenInterrupts() {
//		_, err = r.Resolve(question.ID, "approve")
//	}
//	err = r.Drive(ctx)
//	fmt.Println(r.Run().Output)
//
// It is the same machine that durable hosts drive: the same supersteps, moments,
// checkpoints and events. Time is the runner's own unless it is given a clock: it
// starts at a fixed instant and moves only as the runner sleeps, so a retry's
// backoff takes no time in a test and every run is reproducible.
//
// Nothing is durable: when the process ends, the run is gone. A Runner isn't safe
// for concurrent use.
package inline
