package compiler

import (
	"fmt"
	"strings"

	"github.com/docket-go/docket/core/graph"
)

// Codes of *Error.
const (
	CodeInvalidGraph      = "invalid_graph"      // the document has error diagnostics
	CodeGraphCorrupt      = "graph_corrupt"      // stored bytes that aren't what the ref pins
	CodeUnsupportedFormat = "unsupported_format" // a document that a newer release wrote
	CodeIncompatible      = "incompatible"       // this host's implementations don't fit the graph
)

// Error is why a graph could not be compiled, published or loaded.
type Error struct {
	Code        string
	Ref         graph.Ref // zero when the graph was never published
	Diagnostics []graph.Diagnostic
	Message     string
	Err         error // what the document's reader said, if it was asked
}

// Error returns the code, the reason and every diagnostic.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "compiler: %s", e.Code)
	switch {
	case e.Ref.Hash != "":
		fmt.Fprintf(&b, " (%s)", e.Ref)
	case e.Ref.ID != "":
		fmt.Fprintf(&b, " (%s)", e.Ref.ID)
	}
	fmt.Fprintf(&b, ": %s", e.Message)
	for _, d := range e.Diagnostics {
		fmt.Fprintf(&b, "\n  %s", d)
	}
	return b.String()
}

// Unwrap returns the reader's error, so that errors.As finds a *graph.Error.
func (e *Error) Unwrap() error { return e.Err }
