package compiler

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
)

// Load compiles a stored document. The bytes are proven against ref before
// anything is read from them, and no default is filled in: what was published is
// what runs. Without a registry (nil) only the structure is compiled.
//
// Errors are *Error with one of these codes: graph_corrupt (the bytes aren't
// those that ref pins), unsupported_format (a newer release wrote them),
// incompatible (this host's implementations are missing or don't take the stored
// config), invalid_graph (the document breaks rules that hold everywhere).
func Load(ref graph.Ref, document []byte, reg *node.Registry) (*Graph, error) {
	if got := hash(document); got != ref.Hash {
		return nil, &Error{Code: CodeGraphCorrupt, Ref: ref, Message: fmt.Sprintf("the stored bytes have the hash %s", got)}
	}
	g, err := graph.Parse(document, nil)
	if err != nil {
		return nil, unreadable(ref, err)
	}
	if g.ID != ref.ID {
		return nil, &Error{Code: CodeGraphCorrupt, Ref: ref, Message: fmt.Sprintf("the stored bytes hold the graph %q", g.ID)}
	}
	c := stored(g, reg)
	graph.SortDiagnostics(c.found)
	if found := failures(c.found); len(found) > 0 {
		return nil, refused(ref, found)
	}
	return c.lower(ref), nil
}

// unreadable tells a document of a newer layout from one that no release wrote:
// the bytes are proven, so a key that is unknown here was known to its writer.
func unreadable(ref graph.Ref, err error) *Error {
	out := &Error{Code: CodeInvalidGraph, Ref: ref, Message: err.Error(), Err: err}
	var refused *graph.Error
	if errors.As(err, &refused) {
		switch refused.Code {
		case graph.CodeUnsupportedSchemaVersion, graph.CodeUnknownKey, graph.CodeReservedKey, graph.CodeReservedOnError:
			out.Code = CodeUnsupportedFormat
		}
	}
	return out
}

func refused(ref graph.Ref, found []graph.Diagnostic) *Error {
	for _, d := range found {
		switch d.Code {
		case CodeUnregisteredImplementation, CodeUnsupportedImplementation, CodeInvalidConfigSchema, CodeInvalidNodeConfig:
		default:
			return &Error{Code: CodeInvalidGraph, Ref: ref, Diagnostics: found, Message: "the stored graph has errors"}
		}
	}
	return &Error{Code: CodeIncompatible, Ref: ref, Diagnostics: found, Message: "this host's implementations don't fit the graph"}
}
