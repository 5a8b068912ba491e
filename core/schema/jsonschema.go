package schema

import (
	"math"

	"github.com/docket-go/docket/core/value"
)

// dialect is the JSON Schema version of JSONSchema's documents.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// JSONSchema returns s as a JSON Schema 2020-12 document that accepts exactly
// what Validate accepts: null unless required, no undeclared key unless open,
// integers within int64. Patterns stay RE2 text. Title and description come
// from the metadata of these names; unknown constraints are left out.
func (s Schema) JSONSchema() map[string]any {
	m := s.export(0)
	m["$schema"] = dialect
	return m
}

func (s Schema) export(level int) map[string]any {
	m := map[string]any{}
	switch s.Type {
	case TypeString:
		m["type"] = s.nullable("string")
		putInt(m, "minLength", s.MinLength)
		putInt(m, "maxLength", s.MaxLength)
		put(m, "pattern", s.Pattern, s.Pattern != "")
	case TypeFloat:
		m["type"] = s.nullable("number")
		put(m, "minimum", s.Min, s.Min != nil)
		put(m, "maximum", s.Max, s.Max != nil)
	case TypeInteger:
		m["type"] = s.nullable("integer")
		m["minimum"], m["maximum"] = or(s.Min, math.MinInt64), or(s.Max, math.MaxInt64)
	case TypeBoolean:
		m["type"] = s.nullable("boolean")
	case TypeMap:
		m["type"] = s.nullable("object")
	case TypeObject:
		m["type"] = s.nullable("object")
		s.exportFields(m, level)
	case TypeEnum:
		m["enum"] = s.exportEnum()
	case TypeList:
		m["type"] = s.nullable("array")
		putInt(m, "minItems", s.MinItems)
		putInt(m, "maxItems", s.MaxItems)
		if s.Item != nil && level <= MaxDepth {
			m["items"] = s.Item.export(level + 1)
		}
	}
	put(m, "default", value.Clone(s.Default.Value), s.Default.Set)
	for _, key := range []string{"title", "description"} {
		text, ok := s.Metadata[key].(string)
		put(m, key, text, ok)
	}
	return m
}

func (s Schema) exportFields(m map[string]any, level int) {
	put(m, "additionalProperties", false, !s.Open)
	if len(s.Fields) == 0 || level > MaxDepth {
		return
	}
	properties := make(map[string]any, len(s.Fields))
	required := []any{}
	for _, name := range value.Keys(s.Fields) {
		properties[name] = s.Fields[name].export(level + 1)
		if s.Fields[name].Required {
			required = append(required, name)
		}
	}
	m["properties"] = properties
	put(m, "required", required, len(required) > 0)
}

func (s Schema) exportEnum() []any {
	values := make([]any, 0, len(s.Values)+1)
	for _, v := range s.Values {
		values = append(values, value.Clone(v))
	}
	if !s.Required {
		values = append(values, nil)
	}
	return values
}

// nullable is the type keyword: the name alone, or beside null.
func (s Schema) nullable(name string) any {
	if s.Required {
		return name
	}
	return []any{name, "null"}
}

func or(bound any, limit int64) any {
	if bound == nil {
		return limit
	}
	return bound
}
