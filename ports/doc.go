// Package ports is the contract that a backend signs: the interfaces of a
// store of graphs, runs and events, their requests and results, a closed set
// of errors, capabilities, and the few functions that all sides share.
//
// An interface boundary is a transaction boundary. What must be atomic is one
// method with one request: a transition (the run that replaces the stored one,
// the events it appends, the wake or claim it leaves) is one call.
//
//	saved, err := backend.InsertRun(ctx, ports.InsertRun{
//		Owner:      record.Owner{Tenant: "acme"},
//		Transition: transition, // from package lifecycle
//	})
//	switch {
//	case errors.Is(err, ports.ErrExists): // an answer: nothing was written
//	case errors.Is(err, ports.ErrUncertain): // send the same request again
//	case err == nil:
//		store = saved.Now
//	}
//
// # What always holds
//
//   - Requests and results are plain data by value: no func, channel, any or
//     driver type, so the port can be spoken over a pipe.
//   - A backend stores records: opaque bytes with promoted columns. It returns
//     what it stored, byte for byte, and decodes nothing (VAL-1).
//   - Callers own what they pass, receivers what they get. Backends copy, or
//     keep no slice, both ways.
//   - Every backend and every role is safe for concurrent use. Roles of two
//     backends can't be combined.
//   - Every method checks its request with Check before it looks anything up
//     (RUN-3); every adapter thereby refuses the same requests in the same words.
//   - A zero Now in a request means the store's own clock, which is what
//     production uses. A given Now replaces it for that operation. Answers carry
//     the store's time. Times are UTC in whole microseconds (VAL-3); the Normal
//     methods of the requests bring them into that form.
//   - A list is a page: its items, the cursor to go on from (the given one when
//     there are no items), and whether there is more, exactly. The zero cursor is
//     the beginning, and a cursor is exclusive.
//   - Order means byte order of UTF-8, whatever the store's locale (VAL-2).
//   - A context that has ended makes an operation return promptly with an error
//     that is the context's: ErrUnavailable when nothing was sent, ErrUncertain
//     when a write may have been (LIF-3).
//
// The required part is Backend; the optional interfaces Transactor, WakeSource
// and Pruner are declared in Capabilities and found with As, and InTx runs a
// function in a transaction. The clauses that comments cite (RUN-2) are those of
// docs/contract.md, and a backend proves them with package conformance.
//
// # What it does not do
//
// It has no telemetry, no configuration, no retry, no schema migration and no
// SQL. It decides nothing about runs: packages runtime and lifecycle do.
package ports
