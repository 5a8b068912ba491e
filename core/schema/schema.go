package schema

import (
	"maps"
	"slices"

	"github.com/docket-go/docket/core/value"
)

// Type names the kind of value a schema describes.
type Type string

// The types a schema can have.
const (
	TypeString  Type = "string"
	TypeFloat   Type = "float"
	TypeInteger Type = "integer"
	TypeBoolean Type = "boolean"
	TypeMap     Type = "map"    // any string-keyed map
	TypeObject  Type = "object" // declared fields
	TypeEnum    Type = "enum"   // a closed set of values
	TypeList    Type = "list"
)

// Types returns every known type, in declaration order.
func Types() []Type {
	return []Type{TypeString, TypeFloat, TypeInteger, TypeBoolean, TypeMap, TypeObject, TypeEnum, TypeList}
}

// MaxDepth bounds how deep schemas nest, so that a schema that (through Item)
// contains itself is a reported mistake and never an endless walk.
const MaxDepth = 32

// Schema describes the values a state field, input, output, node config or
// interrupt answer may take. The zero Schema means "none": see IsZero.
//
// The values it carries (Default, Min, Max, Values, Metadata, Extra) are
// normalised values. The constructors see to that; a literal that holds an
// int where int64 is due is reported by Check.
type Schema struct {
	Type     Type
	Required bool           // nil, and absence from an object, are invalid
	Default  value.Optional // an explicit nil is a default, too
	Metadata map[string]any // free, for people and editors

	Min, Max             any    // integer: int64; float: int64 or float64; inclusive; nil is open
	MinLength, MaxLength *int64 // string: in characters (Unicode code points)
	Pattern              string // string: RE2, matches anywhere unless anchored
	MinItems, MaxItems   *int64 // list

	Fields map[string]Schema // object
	Open   bool              // object: undeclared keys are welcome
	Values []any             // enum
	Item   *Schema           // list

	Extra map[string]any // unknown constraint keys of a document: kept, ignored
}

// IsZero reports whether s is absent (has no type).
func (s Schema) IsZero() bool { return s.Type == "" }

// Clone returns a copy that shares nothing mutable with s.
func (s Schema) Clone() Schema { return s.clone(0) }

func (s Schema) clone(level int) Schema {
	s.Default.Value = value.Clone(s.Default.Value)
	s.Metadata = value.CloneMap(s.Metadata)
	s.Extra = value.CloneMap(s.Extra)
	s.MinLength, s.MaxLength = copyInt(s.MinLength), copyInt(s.MaxLength)
	s.MinItems, s.MaxItems = copyInt(s.MinItems), copyInt(s.MaxItems)
	if s.Values != nil {
		s.Values = value.Clone(s.Values).([]any)
	}
	if level > MaxDepth { // only a schema that Check refuses gets here
		return s
	}
	if s.Item != nil {
		item := s.Item.clone(level + 1)
		s.Item = &item
	}
	if s.Fields != nil {
		fields := make(map[string]Schema, len(s.Fields))
		for name, field := range s.Fields { // copied one by one: order shows nowhere
			fields[name] = field.clone(level + 1)
		}
		s.Fields = fields
	}
	return s
}

// Equal reports whether s and o describe the same schema, metadata and unknown
// constraints included. Empty and nil containers are the same.
func (s Schema) Equal(o Schema) bool { return s.equal(o, 0) }

func (s Schema) equal(o Schema, level int) bool {
	if level > MaxDepth+1 { // deeper is refused by Check and never told apart
		return true
	}
	return s.Type == o.Type && s.Required == o.Required && s.Open == o.Open && s.Pattern == o.Pattern &&
		s.Default.Set == o.Default.Set && value.Equal(s.Default.Value, o.Default.Value) &&
		value.Equal(s.Min, o.Min) && value.Equal(s.Max, o.Max) &&
		equalInt(s.MinLength, o.MinLength) && equalInt(s.MaxLength, o.MaxLength) &&
		equalInt(s.MinItems, o.MinItems) && equalInt(s.MaxItems, o.MaxItems) &&
		maps.EqualFunc(s.Metadata, o.Metadata, value.Equal) &&
		maps.EqualFunc(s.Extra, o.Extra, value.Equal) &&
		slices.EqualFunc(s.Values, o.Values, value.Equal) &&
		maps.EqualFunc(s.Fields, o.Fields, func(a, b Schema) bool { return a.equal(b, level+1) }) &&
		(s.Item == nil) == (o.Item == nil) &&
		(s.Item == nil || s.Item.equal(*o.Item, level+1))
}

func copyInt(p *int64) *int64 {
	if p == nil {
		return nil
	}
	n := *p
	return &n
}

func equalInt(a, b *int64) bool {
	return a == b || (a != nil && b != nil && *a == *b)
}
