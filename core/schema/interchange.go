package schema

import (
	"slices"

	"github.com/docket-go/docket/core/value"
)

// known are the keys of a schema document, sorted.
var known = []string{
	"default", "fields", "item", "max", "max_items", "max_length", "metadata", "min",
	"min_items", "min_length", "open", "pattern", "required", "type", "values",
}

func isKnown(key string) bool {
	_, found := slices.BinarySearch(known, key)
	return found
}

// ToMap returns the schema as a document of normalised values that shares
// nothing with s. What is absent, false or empty is left out; unknown
// constraints stand beside the known ones.
func (s Schema) ToMap() map[string]any { return s.toMap(0) }

func (s Schema) toMap(level int) map[string]any {
	m := value.CloneMap(s.Extra)
	if m == nil {
		m = map[string]any{}
	}
	m["type"] = string(s.Type)
	put(m, "required", s.Required, s.Required)
	put(m, "default", value.Clone(s.Default.Value), s.Default.Set)
	put(m, "metadata", value.CloneMap(s.Metadata), len(s.Metadata) > 0)
	put(m, "min", s.Min, s.Min != nil)
	put(m, "max", s.Max, s.Max != nil)
	putInt(m, "min_length", s.MinLength)
	putInt(m, "max_length", s.MaxLength)
	put(m, "pattern", s.Pattern, s.Pattern != "")
	putInt(m, "min_items", s.MinItems)
	putInt(m, "max_items", s.MaxItems)
	put(m, "open", s.Open, s.Open)
	put(m, "values", value.Clone(s.Values), len(s.Values) > 0)
	if level > MaxDepth { // only a schema that Check refuses gets here
		return m
	}
	if len(s.Fields) > 0 {
		fields := make(map[string]any, len(s.Fields))
		for name, f := range s.Fields { // copied one by one: order shows nowhere
			fields[name] = f.toMap(level + 1)
		}
		m["fields"] = fields
	}
	if s.Item != nil {
		m["item"] = s.Item.toMap(level + 1)
	}
	return m
}

func put(m map[string]any, key string, v any, present bool) {
	if present {
		m[key] = v
	}
}

func putInt(m map[string]any, key string, n *int64) {
	if n != nil {
		m[key] = *n
	}
}
