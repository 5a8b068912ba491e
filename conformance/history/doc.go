// Package history judges what concurrent callers of a store were answered: a
// history is right if its calls can be put in one order, each somewhere between
// its beginning and its end, in which the sequential specification (package
// model) gives the same answers.
//
//	var r history.Recorder
//	call := r.Begin(worker, "CommitClaimed …")
//	answer, err := backend.CommitClaimed(ctx, req)
//	call.End(func(s *model.State) bool { … })
//	verdict := history.Check(initial, r.Calls())
//
// The search is exhaustive and bounded: histories are small (at most 64 calls),
// and a search that takes more than its budget of steps says so instead of
// guessing. States that were reached before by the same calls aren't searched
// again.
//
// It doesn't find the reason of a wrong history; Verdict.Longest is the longest
// beginning that can be explained.
package history
