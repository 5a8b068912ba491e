package schema

import (
	"fmt"
	"slices"

	"github.com/docket-go/docket/core/value"
)

// FromMap reads a schema document. It is strict about the kind of every known
// key and about the type's name, and keeps unknown keys as Extra. The error is
// a *value.Error with the path inside the document. Whether the constraints
// make sense together is Check's to say.
func FromMap(v any) (Schema, error) {
	n, err := value.Normalize(v)
	if err != nil {
		return Schema{}, err
	}
	return decode(n, "", 0)
}

func decode(v any, path string, level int) (Schema, error) {
	m, err := asObject(v, path)
	if err != nil {
		return Schema{}, err
	}
	if level >= MaxDepth {
		return Schema{}, &value.Error{Code: CodeTooDeep, Path: path, Message: fmt.Sprintf("schemas nest at most %d deep", MaxDepth)}
	}
	if _, has := m["type"]; !has {
		return Schema{}, mismatch(value.PathKey(path, "type"), "a type name", "absent")
	}
	var s Schema
	for _, key := range value.Keys(m) {
		if err := s.set(key, m[key], value.PathKey(path, key), level); err != nil {
			return Schema{}, err
		}
	}
	return s, nil
}

// set puts one entry of the document into s.
func (s *Schema) set(key string, v any, path string, level int) (err error) {
	switch key {
	case "type":
		s.Type, err = asType(v, path)
	case "required":
		s.Required, err = asBool(v, path)
	case "default":
		s.Default = value.Some(v)
	case "metadata":
		s.Metadata, err = asObject(v, path)
	case "min":
		s.Min, err = asNumber(v, path)
	case "max":
		s.Max, err = asNumber(v, path)
	case "min_length":
		s.MinLength, err = asCount(v, path)
	case "max_length":
		s.MaxLength, err = asCount(v, path)
	case "pattern":
		s.Pattern, err = asText(v, path)
	case "min_items":
		s.MinItems, err = asCount(v, path)
	case "max_items":
		s.MaxItems, err = asCount(v, path)
	case "open":
		s.Open, err = asBool(v, path)
	case "values":
		s.Values, err = asList(v, path)
	case "fields":
		s.Fields, err = asFields(v, path, level)
	case "item":
		var item Schema
		item, err = decode(v, path, level+1)
		s.Item = &item
	default:
		if s.Extra == nil {
			s.Extra = map[string]any{}
		}
		s.Extra[key] = v
	}
	return err
}

func asFields(v any, path string, level int) (map[string]Schema, error) {
	m, err := asObject(v, path)
	if err != nil {
		return nil, err
	}
	fields := make(map[string]Schema, len(m))
	for _, name := range value.Keys(m) {
		f, err := decode(m[name], value.PathKey(path, name), level+1)
		if err != nil {
			return nil, err
		}
		fields[name] = f
	}
	return fields, nil
}

func asType(v any, path string) (Type, error) {
	name, err := asText(v, path)
	if err != nil {
		return "", err
	}
	if t := Type(name); slices.Contains(Types(), t) {
		return t, nil
	}
	return "", &value.Error{Code: CodeUnknownType, Path: path, Message: fmt.Sprintf("%q is not a type; known are %v", value.Cut(name, 64), Types())}
}

func asText(v any, path string) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return "", mismatch(path, "a string", kindOf(v))
}

func asBool(v any, path string) (bool, error) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	return false, mismatch(path, "a boolean", kindOf(v))
}

func asCount(v any, path string) (*int64, error) {
	if n, ok := v.(int64); ok {
		return &n, nil
	}
	return nil, mismatch(path, "an integer", kindOf(v))
}

func asNumber(v any, path string) (any, error) {
	switch v.(type) {
	case int64, float64:
		return v, nil
	}
	return nil, mismatch(path, "a number", kindOf(v))
}

func asList(v any, path string) ([]any, error) {
	if l, ok := v.([]any); ok {
		return l, nil
	}
	return nil, mismatch(path, "a list", kindOf(v))
}

func asObject(v any, path string) (map[string]any, error) {
	if m, ok := v.(map[string]any); ok {
		return m, nil
	}
	return nil, mismatch(path, "a map", kindOf(v))
}

func mismatch(path, want, got string) error {
	return &value.Error{Code: CodeMismatch, Path: path, Message: "must be " + want + ", is " + got}
}
