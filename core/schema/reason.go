package schema

import (
	"fmt"
	"strings"
)

// Reason is one thing wrong with a value or with a schema's definition, and
// where. It never quotes the value: reasons end up in durable failures.
type Reason struct {
	Path    string // items[3].when; empty is the whole
	Code    string
	Message string
}

// Codes of reasons about a value (Validator.Validate).
const (
	CodeRequired     = "required"
	CodeMismatch     = "type_mismatch"
	CodeUnknownField = "unknown_field"
	CodeNotInEnum    = "not_in_enum"
	CodeBelowMin     = "below_min"
	CodeAboveMax     = "above_max"
	CodeTooShort     = "too_short"
	CodeTooLong      = "too_long"
	CodePattern      = "pattern_mismatch"
	CodeTooFewItems  = "too_few_items"
	CodeTooManyItems = "too_many_items"
)

// Codes of reasons about a definition (Schema.Check).
const (
	CodeUnknownType    = "unknown_type"
	CodeMisplaced      = "misplaced_constraint"
	CodeInvalidBound   = "invalid_bound"
	CodeInvalidPattern = "invalid_pattern"
	CodeInvalidEnum    = "invalid_enum"
	CodeInvalidField   = "invalid_field"
	CodeMissingItem    = "missing_item"
	CodeInvalidDefault = "invalid_default"
	CodeNotPortable    = "not_portable"
	CodeTooDeep        = "too_deep"
)

// String returns path and message as people read them.
func (r Reason) String() string {
	if r.Path == "" {
		return r.Message
	}
	return r.Path + ": " + r.Message
}

// Within returns r with its path put under the given one.
func (r Reason) Within(path string) Reason {
	switch {
	case path == "":
	case r.Path == "" || r.Path[0] == '[':
		r.Path = path + r.Path
	default:
		r.Path = path + "." + r.Path
	}
	return r
}

// Within returns the reasons with their paths put under the given one.
func Within(path string, reasons []Reason) []Reason {
	if path == "" || len(reasons) == 0 {
		return reasons
	}
	out := make([]Reason, len(reasons))
	for i, r := range reasons {
		out[i] = r.Within(path)
	}
	return out
}

// Error carries every reason a definition or value was refused.
type Error struct{ Reasons []Reason }

// told is how many reasons Error spells out; Reasons always holds all.
const told = 8

// Error lists the first reasons and counts the rest.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("schema: ")
	for i, r := range e.Reasons {
		if i == told {
			fmt.Fprintf(&b, "; and %d more", len(e.Reasons)-told)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(r.String())
	}
	return b.String()
}
