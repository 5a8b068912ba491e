package reducer

import (
	"fmt"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Field is a reducer compiled for one state field: immutable and safe for
// concurrent use.
type Field struct {
	rule     Reducer
	float    bool // sum: the field is a float, even where a value is integral
	own      *schema.Validator
	element  *schema.Validator // append, union
	fragment *schema.Validator // merge
	base     value.Optional
}

// Compile checks r on s and prepares it. The error is a *schema.Error with the
// schema's own reasons, else with the reducer's.
func Compile(r Reducer, s schema.Schema) (*Field, error) {
	own, err := schema.Compile(s)
	if err != nil {
		return nil, err
	}
	var reasons []schema.Reason
	for _, reason := range r.Check(s) {
		if reason.Code != CodeAmbiguous {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) > 0 {
		return nil, &schema.Error{Reasons: reasons}
	}
	f := &Field{rule: r.Clone(), float: s.Type == schema.TypeFloat, own: own, base: own.Schema().Default}
	f.rule.Kind = r.kind()
	if !f.base.Set {
		f.base = zero(f.rule.Kind)
	}
	return f, f.compileWrite(s)
}

// compileWrite prepares the shape of one write where it differs from the
// field's own.
func (f *Field) compileWrite(s schema.Schema) (err error) {
	switch f.rule.Kind {
	case KindAppend, KindUnion:
		f.element, err = schema.Compile(*s.Item)
	case KindMerge:
		f.fragment, err = schema.Compile(fragment(s))
	}
	return err
}

// fragment is s with the presence of its fields no longer required: another
// writer, or the prior value, may bring them.
func fragment(s schema.Schema) schema.Schema {
	s = s.Clone()
	s.Required, s.Default = true, value.Optional{}
	for name, field := range s.Fields { // order-free: each on its own
		field.Required = false
		s.Fields[name] = field
	}
	return s
}

func zero(kind Kind) value.Optional {
	switch kind {
	case KindAppend, KindUnion:
		return value.Some([]any{})
	case KindMerge:
		return value.Some(map[string]any{})
	case KindSum:
		return value.Some(int64(0))
	}
	return value.Optional{}
}

// Kind returns the reducer's kind, never the empty one.
func (f *Field) Kind() Kind { return f.rule.Kind }

// Default returns what the field holds before any write, and after a reset:
// its declared default, else the natural zero ([] {} 0) of an accumulating
// kind, else nothing. A natural zero counts even where the schema would refuse
// it as a committed value. The value is shared: treat it as immutable.
func (f *Field) Default() value.Optional { return f.base }

// Validate returns what is wrong with a committed value of the field.
func (f *Field) Validate(v any) []schema.Reason { return f.own.Validate(v) }

// ValidateWrite returns what is wrong with one write. Its shape depends on the
// kind: an element or a list of elements (append, union), a fragment that may
// lack required fields (merge), a number of the field's type without its
// bounds (sum), the whole value (last_value, first_value).
func (f *Field) ValidateWrite(v any) []schema.Reason {
	switch f.rule.Kind {
	case KindAppend, KindUnion:
		return f.validateElements(v)
	case KindMerge:
		return f.fragment.Validate(v)
	case KindSum:
		return f.validateAddend(v)
	}
	return f.own.Validate(v)
}

func (f *Field) validateElements(v any) []schema.Reason {
	list, ok := v.([]any)
	if !ok {
		return f.element.Validate(v)
	}
	var reasons []schema.Reason
	for i, e := range list {
		if wrong := f.element.Validate(e); wrong != nil {
			reasons = append(reasons, schema.Within(value.PathIndex("", i), wrong)...)
		}
	}
	return reasons
}

func (f *Field) validateAddend(v any) []schema.Reason {
	switch v.(type) {
	case int64:
		return nil
	case float64:
		if f.float {
			return nil
		}
	}
	want := schema.TypeInteger
	if f.float {
		want = schema.TypeFloat
	}
	return []schema.Reason{{Code: schema.CodeMismatch, Message: fmt.Sprintf("a write to a sum must be of type %s", want)}}
}
