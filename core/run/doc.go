// Package run holds the run document: everything a run is between two
// transitions, and how it is written and read.
//
//	r, err := run.Decode(document)
//	if err != nil { … } // *run.CorruptError, or run.ErrUnsupportedFormat
//	for _, i := range r.OpenInterrupts() {
//		fmt.Println(i.ID, i.Field)
//	}
//
// Statuses and the transition matrix, failure codes, checkpoint and event types,
// and the composed ids (task, idempotency key, interrupt) are here too, since all
// of them are part of what is stored.
//
// Encode writes canonical bytes: equal documents give equal bytes. Decode accepts
// exactly the documents that Validate accepts and reports the rest; it never
// repairs. Values inside a Run are normalised and treated as immutable: change a
// Clone.
//
// This package doesn't decide what happens next: that is package runtime.
package run
