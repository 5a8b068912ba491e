package run

import "strings"

// The runtime id prefixes of what a run document refers to.
const (
	FieldPrefix = "state:"
	InputPrefix = "input:"
	EdgePrefix  = "edge:"
)

// FieldName returns the field's name of a "state:" id.
func FieldName(id string) string { return strings.TrimPrefix(id, FieldPrefix) }
