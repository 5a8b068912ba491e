// Package mutants tests the suite: each mutant is the model with one rule of the
// contract switched off, and the cases of the suite must notice.
//
//	for _, m := range mutants.All() {
//		report, err := conformance.Check(ctx, mutants.Harness(m), conformance.Options{})
//		…
//	}
//
// A Mutant is data: its name, the clause of the rule, a sentence that says what is
// switched off, and the example cases that go red, which are exactly its Kills.
// At least one of them cites the clause. A mutant that nothing kills is a hole in
// the suite, and fails the build. docs/mutants.md is the table of all of them.
//
// The rule is switched off from outside: a mutant replaces one operation of the
// model, or wraps its backend, so that the model itself stays the plain
// specification.
//
// It does not say how good the suite is at faults that nobody thought of: random
// scripts and histories are there for those.
package mutants
