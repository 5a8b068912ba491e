package node

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// SchemaOf returns the schema of a Go type as Func derives a node's configuration:
// strings, booleans, integers and floats; slices as lists; string-keyed maps as
// maps; structs as closed objects of their exported fields, named by json tags. A
// struct field is required unless it is a pointer, has omitempty or omitzero, or a
// default tag, whose text is the default as JSON (for a string field, the text
// itself).
//
// A type that contains itself has no schema.
func SchemaOf(t reflect.Type) (schema.Schema, error) { return schemaOf(t, nil) }

func schemaOf(t reflect.Type, within []reflect.Type) (schema.Schema, error) {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), within)
	case reflect.String:
		return schema.String(), nil
	case reflect.Bool:
		return schema.Boolean(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return schema.Integer(), nil
	case reflect.Float32, reflect.Float64:
		return schema.Float(), nil
	case reflect.Slice:
		item, err := schemaOf(t.Elem(), within)
		return schema.List(item), err
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return schema.Map(), nil
		}
	case reflect.Struct:
		if slices.Contains(within, t) {
			return schema.Schema{}, fmt.Errorf("%s contains itself", t)
		}
		return schemaOfStruct(t, append(within, t))
	}
	return schema.Schema{}, fmt.Errorf("no schema for the Go type %s", t)
}

func schemaOfStruct(t reflect.Type, within []reflect.Type) (schema.Schema, error) {
	fields := make(map[string]schema.Schema)
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" && rest == "" {
			continue
		}
		if !f.IsExported() || f.Anonymous {
			return schema.Schema{}, fmt.Errorf("field %s of %s: only exported fields that aren't embedded map to a schema", f.Name, t)
		}
		if name == "" {
			name = f.Name
		}
		s, err := schemaOf(f.Type, within)
		if err != nil {
			return schema.Schema{}, fmt.Errorf("field %s of %s: %w", f.Name, t, err)
		}
		text, hasDefault := f.Tag.Lookup("default")
		optional := f.Type.Kind() == reflect.Pointer || strings.Contains(rest, "omitempty") || strings.Contains(rest, "omitzero")
		switch {
		case hasDefault:
			d, err := defaultOf(s, text)
			if err != nil {
				return schema.Schema{}, fmt.Errorf("field %s of %s: default %q: %w", f.Name, t, text, err)
			}
			s = s.WithDefault(d)
		case !optional:
			s = s.Require()
		}
		fields[name] = s
	}
	return schema.Object(fields), nil
}

func defaultOf(s schema.Schema, text string) (any, error) {
	if s.Type == schema.TypeString {
		return text, nil
	}
	return value.Decode([]byte(text))
}
