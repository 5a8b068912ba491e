// Package runtime is the superstep machine: a pure function from a compiled
// graph, a committed run and the results of its nodes to the next Moment.
//
//	step, err := runtime.Plan(g, r, runtime.Limits{}, now)
//	moment := step.Moment
//	if moment == nil {
//		outcomes := … // execute step.Tasks, see package executor
//		moment, err = runtime.Update(step, outcomes, now)
//	}
//	// commit moment, then go on from moment.Run as moment.Disposition says
//
// A superstep plans, executes and commits: Plan selects every node whose edges
// fired in the last commit (or whose interrupts are all answered), all of them
// see the same committed state, and Update is the barrier at which their writes
// become visible, guards are judged, and what runs next is decided.
//
// Every transition is exactly one Moment. Calculating one stores nothing, calls
// nobody and reads no clock: the same committed run, graph and outcomes give
// byte-identical moments, whatever order the outcomes come in. A Moment counts
// only once its transition is committed.
//
// The functions treat the values of a Run as immutable and share them between
// one run and the next; use Run.Clone before changing one.
package runtime
