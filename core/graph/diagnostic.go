package graph

import (
	"cmp"
	"slices"
)

// Severity tells whether a diagnostic stops a graph from being published.
type Severity string

const (
	// SeverityError stops publication and compilation.
	SeverityError Severity = "error"
	// SeverityWarning is advice: the graph runs as its author wrote it.
	SeverityWarning Severity = "warning"
)

// Diagnostic is one finding about a document, at a path like
// nodes.review.config.limit.
type Diagnostic struct {
	Code     string
	Severity Severity
	Path     string
	Message  string
}

// String returns the finding on one line.
func (d Diagnostic) String() string {
	s := string(d.Severity) + " " + d.Code
	if d.Path != "" {
		s += " at " + d.Path
	}
	return s + ": " + d.Message
}

// SortDiagnostics orders findings by path, then code, then message, so that
// equal graphs always give equal lists.
func SortDiagnostics(list []Diagnostic) {
	slices.SortFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

// Codes of *Error. Those that a diagnostic shares have the same text there.
const (
	CodeInvalidDocument            = "invalid_document"            // not a document at all: syntax, wrong kinds
	CodeInvalidRecord              = "invalid_record"              // a record that no document can hold
	CodeInvalidPublicID            = "invalid_public_id"           // a graph, input, field, output, node or edge id
	CodeUnknownKey                 = "unknown_key"                 // a key that this version doesn't know
	CodeReservedKey                = "reserved_key"                // a $ key that is no known expression
	CodeReservedOnError            = "reserved_on_error"           // on_error, kept for error edges
	CodeUnsupportedSchemaVersion   = "unsupported_schema_version"  // a document of another layout
	CodeInvalidSchema              = "invalid_schema"              // a schema that can't be read
	CodeInvalidReducer             = "invalid_reducer"             // a reducer that can't be read
	CodeInvalidGuard               = "invalid_guard"               // a guard that can't be read
	CodeInvalidPolicy              = "invalid_policy"              // a policy of the wrong kind
	CodeUnknownImplementation      = "unknown_implementation"      // loading: the registry has no such id
	CodeUnregisteredImplementation = "unregistered_implementation" // writing: the registry has no such id
	CodeNotFound                   = "not_found"                   // update or delete of what is absent
	CodeConflict                   = "conflict"                    // an inline declaration differs from what is there
)

// Error is why a document could not be read, written or edited.
type Error struct {
	Code    string
	Path    string
	Message string
}

// Error returns the code, the path and the reason.
func (e *Error) Error() string {
	s := "graph: " + e.Code
	if e.Path != "" {
		s += " at " + e.Path
	}
	return s + ": " + e.Message
}
