package schema

import (
	"fmt"
	"unicode/utf8"

	"github.com/docket-go/docket/core/value"
)

// Validate returns every reason why the normalised value x doesn't match, in
// an order that depends on x and the schema alone: fields by name, then
// undeclared keys by name, then as the list goes. A match costs no allocation.
func (v *Validator) Validate(x any) []Reason {
	var out []Reason
	v.root.validate(x, &out)
	return out
}

func (s *shape) validate(x any, out *[]Reason) {
	if x == nil {
		if s.required {
			*out = append(*out, Reason{"", CodeRequired, "a value is required"})
		}
		return
	}
	switch s.kind {
	case TypeString:
		s.validateString(x, out)
	case TypeFloat, TypeInteger:
		s.validateNumber(x, out)
	case TypeBoolean:
		if _, ok := x.(bool); !ok {
			s.mismatch(x, out)
		}
	case TypeMap:
		if _, ok := x.(map[string]any); !ok {
			s.mismatch(x, out)
		}
	case TypeObject:
		s.validateObject(x, out)
	case TypeEnum:
		if !s.listed(x) {
			*out = append(*out, Reason{"", CodeNotInEnum, "must be one of " + s.allowed})
		}
	case TypeList:
		s.validateList(x, out)
	}
}

func (s *shape) mismatch(x any, out *[]Reason) {
	*out = append(*out, Reason{"", CodeMismatch, fmt.Sprintf("must be of type %s, is %s", s.kind, kindOf(x))})
}

func (s *shape) validateString(x any, out *[]Reason) {
	text, ok := x.(string)
	if !ok {
		s.mismatch(x, out)
		return
	}
	if s.shortest > 0 || s.longest >= 0 {
		s.length(int64(utf8.RuneCountInString(text)), CodeTooShort, CodeTooLong, "characters", out)
	}
	if s.pattern != nil && !s.pattern.MatchString(text) {
		*out = append(*out, Reason{"", CodePattern, fmt.Sprintf("must match the pattern %q", s.pattern)})
	}
}

func (s *shape) length(n int64, short, long, unit string, out *[]Reason) {
	if n < s.shortest {
		*out = append(*out, Reason{"", short, fmt.Sprintf("must have at least %d %s, has %d", s.shortest, unit, n)})
	}
	if s.longest >= 0 && n > s.longest {
		*out = append(*out, Reason{"", long, fmt.Sprintf("must have at most %d %s, has %d", s.longest, unit, n)})
	}
}

func (s *shape) validateNumber(x any, out *[]Reason) {
	switch x.(type) {
	case int64:
	case float64:
		if s.kind == TypeInteger {
			s.mismatch(x, out)
			return
		}
	default:
		s.mismatch(x, out)
		return
	}
	if order, ok := value.Compare(x, s.min); ok && order < 0 {
		*out = append(*out, Reason{"", CodeBelowMin, fmt.Sprintf("must be at least %v", s.min)})
	}
	if order, ok := value.Compare(x, s.max); ok && order > 0 {
		*out = append(*out, Reason{"", CodeAboveMax, fmt.Sprintf("must be at most %v", s.max)})
	}
}

func (s *shape) validateObject(x any, out *[]Reason) {
	m, ok := x.(map[string]any)
	if !ok {
		s.mismatch(x, out)
		return
	}
	present := 0
	for i := range s.fields {
		f := &s.fields[i]
		sub, has := m[f.name]
		if has {
			present++
		}
		if !has && !f.shape.required {
			continue
		}
		before := len(*out)
		if f.shape.validate(sub, out); len(*out) > before {
			under(value.PathKey("", f.name), (*out)[before:])
		}
	}
	if s.open || present == len(m) {
		return
	}
	for _, key := range value.Keys(m) {
		if _, known := s.declared[key]; !known {
			*out = append(*out, Reason{value.PathKey("", key), CodeUnknownField, "is not a declared field"})
		}
	}
}

func (s *shape) validateList(x any, out *[]Reason) {
	list, ok := x.([]any)
	if !ok {
		s.mismatch(x, out)
		return
	}
	s.length(int64(len(list)), CodeTooFewItems, CodeTooManyItems, "items", out)
	for i, e := range list {
		before := len(*out)
		if s.item.validate(e, out); len(*out) > before {
			under(value.PathIndex("", i), (*out)[before:])
		}
	}
}

// under puts reasons from below under one more path segment. Paths grow while
// validation returns, so that a match pays nothing for them.
func under(segment string, reasons []Reason) {
	for i := range reasons {
		reasons[i] = reasons[i].Within(segment)
	}
}

func (s *shape) listed(x any) bool {
	if text, ok := x.(string); ok {
		_, found := s.texts[text]
		return found
	}
	for _, v := range s.others {
		if value.Equal(v, x) {
			return true
		}
	}
	return false
}

// maxListed bounds how many of an enum's values a message lists.
const maxListed = 12

// allow adds a value to the list that messages give.
func (s *shape) allow(text string) {
	switch s.values++; {
	case s.values == 1:
		s.allowed = text
	case s.values <= maxListed:
		s.allowed += ", " + text
	case s.values == maxListed+1:
		s.allowed += ", …"
	}
}

// kindOf names the kind of a value for messages; never the value itself.
func kindOf(x any) string {
	switch x.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int64:
		return "an integer"
	case float64:
		return "a number that is not an int64"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return fmt.Sprintf("the Go type %T", x)
}
