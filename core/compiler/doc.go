// Package compiler tells whether an authored graph runs, gives it its identity,
// and lowers it to what the superstep machine runs.
//
//	published, warnings, err := compiler.Publish(g, registry)
//	// store published.Document under published.Ref, and later:
//	compiled, err := compiler.Load(published.Ref, published.Document, registry)
//
// # Invariants
//
//   - Check reports everything at once, in one order, and never panics,
//     whatever document or implementation it is given.
//   - Publishing fills in the defaults of the implementations' config schemas
//     and hashes the canonical bytes of the result. Loading proves the hash
//     before it reads anything and never fills in a default, so a newer default
//     reaches only what is published again.
//   - Equal graphs compile to equal results; every slice is sorted by id.
//   - A graph without a bound on its cycles is valid.
//
// Without a registry (nil) a graph compiles by its structure only: enough to
// draw it, to answer and cancel its runs, to explain it. Executing, hashing and
// publishing need the implementations.
//
// # What it does not do
//
// It stores nothing and runs no node; ConfigSchema, Writes and Reads are the
// only methods of an implementation it calls.
package compiler
