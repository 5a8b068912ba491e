package schema

import "github.com/docket-go/docket/core/value"

// String describes text.
func String() Schema { return Schema{Type: TypeString} }

// Float describes any number.
func Float() Schema { return Schema{Type: TypeFloat} }

// Integer describes an integral number within int64.
func Integer() Schema { return Schema{Type: TypeInteger} }

// Boolean describes true and false.
func Boolean() Schema { return Schema{Type: TypeBoolean} }

// Map describes any string-keyed map.
func Map() Schema { return Schema{Type: TypeMap} }

// Object describes a map with declared fields. It refuses other keys unless
// it is Opened.
func Object(fields map[string]Schema) Schema { return Schema{Type: TypeObject, Fields: fields} }

// Enum describes a closed set of values.
func Enum(values ...any) Schema {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = normal(v)
	}
	return Schema{Type: TypeEnum, Values: out}
}

// List describes a list whose every element matches item.
func List(item Schema) Schema { return Schema{Type: TypeList, Item: &item} }

// Require returns s with nil refused and, as an object's field, absence too.
func (s Schema) Require() Schema {
	s.Required = true
	return s
}

// WithDefault returns s with v as its default. A nil v is an explicit null.
func (s Schema) WithDefault(v any) Schema {
	s.Default = value.Some(normal(v))
	return s
}

// Between returns s with inclusive bounds on a number; nil leaves a side open.
func (s Schema) Between(minimum, maximum any) Schema {
	s.Min, s.Max = normal(minimum), normal(maximum)
	return s
}

// Length returns s with bounds on a string's characters. A zero minimum says
// nothing; a negative maximum leaves the upper side open.
func (s Schema) Length(minimum, maximum int64) Schema {
	s.MinLength, s.MaxLength = atLeast(minimum), atMost(maximum)
	return s
}

// Items returns s with bounds on a list's length. A zero minimum says nothing;
// a negative maximum leaves the upper side open.
func (s Schema) Items(minimum, maximum int64) Schema {
	s.MinItems, s.MaxItems = atLeast(minimum), atMost(maximum)
	return s
}

// Match returns s with an RE2 pattern a string must match.
func (s Schema) Match(pattern string) Schema {
	s.Pattern = pattern
	return s
}

// Opened returns s with undeclared object keys allowed.
func (s Schema) Opened() Schema {
	s.Open = true
	return s
}

// Describe returns s with metadata: free data for people and editors.
func (s Schema) Describe(metadata map[string]any) Schema {
	s.Metadata = metadata
	if m, err := value.NormalizeMap(metadata); err == nil {
		s.Metadata = m
	}
	return s
}

// normal gives v its one form. What has none stays as it is: a constructor
// has no error to return, so Check reports it, with its path.
func normal(v any) any {
	if n, err := value.Normalize(v); err == nil {
		return n
	}
	return v
}

func atLeast(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

func atMost(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}
