package schema

import (
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/docket-go/docket/core/value"
)

// Check reports everything wrong with the definition itself, in a stable
// order; nil means Compile succeeds.
func (s Schema) Check() []Reason {
	var c checker
	c.compile(s, "", 0)
	return c.reasons
}

// checker compiles and collects what is wrong, so that neither is done twice.
type checker struct{ reasons []Reason }

func (c *checker) add(path, code, format string, args ...any) {
	c.reasons = append(c.reasons, Reason{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

// compile returns the compiled form of s, meaningful only if no reason was
// added on the way.
func (c *checker) compile(s Schema, path string, level int) *shape {
	if level >= MaxDepth {
		c.add(path, CodeTooDeep, "schemas nest at most %d deep", MaxDepth)
		return nil
	}
	before := len(c.reasons)
	out := &shape{kind: s.Type, required: s.Required, longest: -1}
	c.placement(s, path)
	c.annotations(s, path)
	switch s.Type {
	case TypeString:
		c.lengths(out, path, "min_length", "max_length", s.MinLength, s.MaxLength)
		c.pattern(out, s.Pattern, path)
	case TypeInteger, TypeFloat:
		c.bounds(out, s, path)
	case TypeObject:
		c.fields(out, s, path, level)
	case TypeEnum:
		c.enum(out, s.Values, value.PathKey(path, "values"))
	case TypeList:
		c.lengths(out, path, "min_items", "max_items", s.MinItems, s.MaxItems)
		c.item(out, s.Item, value.PathKey(path, "item"), level)
	}
	if s.Default.Set && len(c.reasons) == before {
		c.standin(out, s.Default.Value, value.PathKey(path, "default"))
	}
	return out
}

// placement reports an unknown type, and constraints of another type.
func (c *checker) placement(s Schema, path string) {
	if !slices.Contains(Types(), s.Type) {
		c.add(value.PathKey(path, "type"), CodeUnknownType, "%q is not a type; known are %v", s.Type, Types())
		return
	}
	for _, k := range []struct {
		name string
		set  bool
		home bool
	}{
		{"min", s.Min != nil, s.Type == TypeInteger || s.Type == TypeFloat},
		{"max", s.Max != nil, s.Type == TypeInteger || s.Type == TypeFloat},
		{"min_length", s.MinLength != nil, s.Type == TypeString},
		{"max_length", s.MaxLength != nil, s.Type == TypeString},
		{"pattern", s.Pattern != "", s.Type == TypeString},
		{"min_items", s.MinItems != nil, s.Type == TypeList},
		{"max_items", s.MaxItems != nil, s.Type == TypeList},
		{"fields", len(s.Fields) > 0, s.Type == TypeObject},
		{"open", s.Open, s.Type == TypeObject},
		{"values", len(s.Values) > 0, s.Type == TypeEnum},
		{"item", s.Item != nil, s.Type == TypeList},
	} {
		if k.set && !k.home {
			c.add(value.PathKey(path, k.name), CodeMisplaced, "%s says nothing about type %s", k.name, s.Type)
		}
	}
}

// annotations reports metadata and unknown constraints that no document could
// carry.
func (c *checker) annotations(s Schema, path string) {
	for _, key := range value.Keys(s.Extra) {
		if isKnown(key) {
			c.add(value.PathKey(path, key), CodeMisplaced, "%s is a known constraint and can't be an unknown one", key)
		}
	}
	if len(s.Extra) > 0 {
		c.portable(s.Extra, path)
	}
	if len(s.Metadata) > 0 {
		c.portable(s.Metadata, value.PathKey(path, "metadata"))
	}
}

func (c *checker) lengths(out *shape, path, minName, maxName string, low, high *int64) {
	if low != nil {
		out.shortest = *low
		if *low < 0 {
			c.add(value.PathKey(path, minName), CodeInvalidBound, "%s is negative", minName)
		}
	}
	if high == nil {
		return
	}
	out.longest = *high
	switch {
	case *high < 0:
		c.add(value.PathKey(path, maxName), CodeInvalidBound, "%s is negative", maxName)
	case *high < out.shortest:
		c.add(value.PathKey(path, maxName), CodeInvalidBound, "%s is below %s", maxName, minName)
	}
}

func (c *checker) pattern(out *shape, pattern, path string) {
	if pattern == "" {
		return
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		c.add(value.PathKey(path, "pattern"), CodeInvalidPattern, "not an RE2 pattern: %v", err)
		return
	}
	out.pattern = re
}

func (c *checker) bounds(out *shape, s Schema, path string) {
	low := c.bound(s.Type, s.Min, value.PathKey(path, "min"))
	high := c.bound(s.Type, s.Max, value.PathKey(path, "max"))
	out.min, out.max = s.Min, s.Max
	if !low || !high {
		return
	}
	if order, ok := value.Compare(s.Min, s.Max); ok && order > 0 {
		c.add(value.PathKey(path, "max"), CodeInvalidBound, "max is below min")
	}
}

// bound reports whether v can bound a number of the given type.
func (c *checker) bound(t Type, v any, path string) bool {
	switch v.(type) {
	case nil, int64:
		return true
	case float64:
		if t == TypeFloat {
			return c.portable(v, path)
		}
	}
	c.add(path, CodeInvalidBound, "a bound of type %s can't be %s", t, kindOf(v))
	return false
}

func (c *checker) fields(out *shape, s Schema, path string, level int) {
	out.open = s.Open
	out.declared = s.Fields
	path = value.PathKey(path, "fields")
	for _, name := range value.Keys(s.Fields) {
		at := value.PathKey(path, name)
		if !utf8.ValidString(name) {
			c.add(at, CodeInvalidField, "the name is not valid UTF-8")
			continue
		}
		sub := c.compile(s.Fields[name], at, level+1)
		if sub == nil {
			continue
		}
		out.fields = append(out.fields, field{name, sub})
		out.fills = out.fills || sub.fills || sub.standin.Set
	}
}

func (c *checker) item(out *shape, item *Schema, path string, level int) {
	if item == nil {
		c.add(path, CodeMissingItem, "a list needs the schema of its items")
		return
	}
	if out.item = c.compile(*item, path, level+1); out.item != nil {
		out.fills = out.item.fills
	}
}

func (c *checker) enum(out *shape, values []any, path string) {
	if len(values) == 0 {
		c.add(path, CodeInvalidEnum, "an enum needs at least one value")
	}
	out.texts = make(map[string]struct{}, len(values))
	seen := make(map[string]int, len(values))
	for i, v := range values {
		at := value.PathIndex(path, i)
		if v == nil {
			c.add(at, CodeInvalidEnum, "null is no enum value: it is valid unless the schema is required")
			continue
		}
		if !c.portable(v, at) {
			continue
		}
		bytes, err := value.Encode(v)
		if err != nil {
			c.add(at, CodeNotPortable, "%v", err)
			continue
		}
		if first, dup := seen[string(bytes)]; dup {
			c.add(at, CodeInvalidEnum, "equals value %d", first)
			continue
		}
		seen[string(bytes)] = i
		out.allow(string(bytes))
		if text, ok := v.(string); ok {
			out.texts[text] = struct{}{}
		} else {
			out.others = append(out.others, value.Clone(v))
		}
	}
}

// standin checks the default against the finished shape. It must hold as it
// is, before defaults inside it are filled in: then it holds afterwards, too.
func (c *checker) standin(out *shape, v any, path string) {
	if !c.portable(v, path) {
		return
	}
	var wrong []Reason
	out.validate(v, &wrong)
	for _, r := range wrong {
		r = r.Within(path)
		c.add(r.Path, CodeInvalidDefault, "violates the schema: %s", r.Message)
	}
	if len(wrong) == 0 {
		filled, _ := out.fill(value.Clone(v))
		out.standin = value.Some(filled)
	}
}
