package schema

import (
	"regexp"

	"github.com/docket-go/docket/core/value"
)

// Validator is a compiled schema: immutable and safe for concurrent use.
type Validator struct {
	schema Schema
	root   *shape
}

// shape is the compiled form of one level of a schema.
type shape struct {
	kind     Type
	required bool
	min, max any
	shortest int64 // characters of a string, elements of a list
	longest  int64 // -1: open
	pattern  *regexp.Regexp
	fields   []field // sorted by name
	declared map[string]Schema
	open     bool
	texts    map[string]struct{} // an enum's strings
	others   []any               // an enum's other values
	allowed  string              // an enum's values, as messages list them
	values   int                 // how many that are
	item     *shape
	standin  value.Optional // the default, its own defaults filled in
	fills    bool           // some field below has a default
}

type field struct {
	name  string
	shape *shape
}

// Compile checks s and prepares it for use. The error is an *Error with every
// reason that Check gives.
func Compile(s Schema) (*Validator, error) {
	var c checker
	s = s.Clone() // the validator keeps parts of it
	root := c.compile(s, "", 0)
	if len(c.reasons) > 0 {
		return nil, &Error{Reasons: c.reasons}
	}
	return &Validator{schema: s, root: root}, nil
}

// Schema returns a copy of the schema that was compiled.
func (v *Validator) Schema() Schema { return v.schema.Clone() }
