// Package conformance certifies that a storage backend keeps the contract of
// package ports (docs/contract.md). It judges by clauses, never by a backend's
// name, and knows no adapter.
//
// The smallest example, in a backend's own tests:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Harness{
//			Name: "mine",
//			Open: func(ctx context.Context) (ports.Backend, error) { return mine.New() },
//		})
//	}
//
// Without go test, Check returns a Report and Main is a whole program. Benchmark
// measures the same shapes on every backend, and judges nothing.
//
// # Cases
//
// A Case is data: a stable ID, the clauses it proves, what it requires, its rule
// in one sentence, and a function over the small interface T. Each case runs in
// its own goroutine against a fresh store, with a deadline, a seed, and a log of
// every call that is printed when it fails. Cases don't sleep: time is the Now of
// a request, except in the class clock/*, which proves that a zero Now means the
// store's own clock.
//
// # Verdicts
//
// A case passes, fails, is skipped (the backend doesn't declare the capability,
// or the harness lacks the hook), is waived, or is an error: the harness broke
// and nothing was learnt about the backend. A Level is granted only if every case
// of it ran and passed. Three questions (transaction atomicity, claim fencing,
// checkpoint sequencing) are answered by clause and can't be waived. A clause about
// an optional capability is proved only by cases that require the capability.
// Options.Require names levels without which the exit code says no.
//
// # How it is tested
//
// Package model is the contract as a program. Random scripts compare a backend
// with it, and package history judges concurrent callers by it (the cases
// races/linearizable-*). The suite itself is tested by mutants: the model with
// one rule switched off each, of which docs/mutants.md is the list.
//
// # What it does not do
//
// It doesn't execute graphs: run documents and payloads are opaque bytes to a
// backend, so the suite makes its own. It doesn't reach clauses marked (adapter)
// in the contract; named tests of each adapter prove those.
package conformance
