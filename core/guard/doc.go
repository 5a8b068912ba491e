// Package guard holds the conditions on edges: boolean expressions as data.
//
//	g := guard.All(guard.Changed("draft"), guard.Equals(guard.Path("review", "verdict"), "approve"))
//	holds, err := g.Eval(env)
//
// A Guard is part of the graph document (ToValue, FromValue), is checked with
// every reason (Check), drawn (String), and decided on committed state (Eval).
//
// # Invariants
//
//   - A missing value or place makes a question false, never an error; so
//     not(equals(missing, x)) holds. null is a value, and exists.
//   - Equality is exact by value (package value, ADR 0003).
//   - A guard that names a field the graph lacks fails, wherever in the
//     expression it stands: no branch is skipped, so failing doesn't depend on
//     values. The machine then fails the run and commits no write.
//   - Evaluation is pure and total: the same cells, the same answer; nesting is
//     bounded by MaxDepth.
//
// # What it does not do
//
// There are no orderings, arithmetic or user functions: a node computes, a
// guard looks. It does not know where fields come from; Env does.
package guard
