// Package backend is a whole docket backend in a few hundred lines: maps and a
// mutex. It is there to be read, and to be the first draft of a backend of your
// own; docs/backend-authors.md goes through it.
//
//	store := backend.New()
//	defer store.Close()
//
// It earns the level core of the conformance suite and claims no capability: no
// transactions, no wake source, no retention. An engine runs on it, polling.
// What it holds ends with it.
//
// # How it keeps the contract
//
//   - One operation is one function under one mutex, so it is atomic, and what
//     it reads is one snapshot.
//   - A row is a value. An operation changes a copy and puts it back as its last
//     act, so whatever refused on the way has written nothing.
//   - Bytes are copied on their way in and on their way out.
//   - Time is asked under the mutex, so that the order of writes is the order of
//     their times.
//
// # What it does not do
//
// It has no index: claims and lists look at every run. adapters/memory is the
// store in memory for use.
package backend
