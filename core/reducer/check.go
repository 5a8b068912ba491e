package reducer

import (
	"fmt"
	"slices"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Codes of the reasons that Check gives.
const (
	CodeInvalid   = "invalid_reducer"         // the reducer alone makes no sense
	CodeMismatch  = "reducer_schema_mismatch" // it can't work on this schema
	CodeAmbiguous = "ambiguous_list_write"    // a warning: see Check
)

// Check reports what is wrong with r on a field of schema s, in a stable
// order; paths are those of the interchange form. CodeAmbiguous is a warning
// that doesn't stop Compile: the elements of the list are lists themselves, so
// a node that writes one bare element has it concatenated.
func (r Reducer) Check(s schema.Schema) []schema.Reason {
	reasons := r.checkOptions()
	if len(reasons) > 0 {
		return reasons
	}
	return r.checkSchema(s)
}

func (r Reducer) checkOptions() []schema.Reason {
	kind := r.kind()
	if !slices.Contains(Kinds(), kind) {
		return []schema.Reason{{Path: "kind", Code: CodeInvalid,
			Message: fmt.Sprintf("%q is not a reducer; known are %v", value.Cut(string(kind), 64), Kinds())}}
	}
	var reasons []schema.Reason
	add := func(path, format string, args ...any) {
		reasons = append(reasons, schema.Reason{Path: path, Code: CodeInvalid, Message: fmt.Sprintf(format, args...)})
	}
	for _, option := range []struct {
		name string
		set  bool
		home Kind
	}{
		{"unique", r.Unique, KindAppend},
		{"max_length", r.MaxLength != 0, KindAppend},
		{"by", len(r.By) > 0, KindUnion},
		{"deep", r.Deep, KindMerge},
	} {
		if option.set && kind != option.home {
			add(option.name, "%s is an option of %s, not of %s", option.name, option.home, kind)
		}
	}
	if r.MaxLength < 0 {
		add("max_length", "max_length is negative")
	}
	for i, segment := range r.By {
		if !isSegment(segment) {
			add(value.PathIndex("by", i), "a path is made of keys and non-negative integers")
		}
	}
	return reasons
}

func isSegment(v any) bool {
	switch s := v.(type) {
	case string:
		return true
	case int64:
		return s >= 0
	}
	return false
}

func (r Reducer) checkSchema(s schema.Schema) []schema.Reason {
	kind := r.kind()
	homes := homeTypes(kind)
	if homes == nil {
		return nil
	}
	if !slices.Contains(homes, s.Type) {
		return []schema.Reason{{Path: "kind", Code: CodeMismatch,
			Message: fmt.Sprintf("%s needs a field of type %v, not %s", kind, homes, s.Type)}}
	}
	if s.Default.Set && s.Default.Value == nil {
		return []schema.Reason{{Path: "kind", Code: CodeMismatch,
			Message: fmt.Sprintf("%s can't accumulate on a null default: leave it out, or use %s", kind, natural(kind))}}
	}
	if admitsLists(s.Item) && s.Type == schema.TypeList {
		return []schema.Reason{{Path: "kind", Code: CodeAmbiguous,
			Message: "the elements are lists, and a list write is concatenated: wrap a single element in a list"}}
	}
	return nil
}

// homeTypes returns the field types a kind works on; nil is every type.
func homeTypes(kind Kind) []schema.Type {
	switch kind {
	case KindAppend, KindUnion:
		return []schema.Type{schema.TypeList}
	case KindMerge:
		return []schema.Type{schema.TypeMap, schema.TypeObject}
	case KindSum:
		return []schema.Type{schema.TypeInteger, schema.TypeFloat}
	}
	return nil
}

func natural(kind Kind) string {
	switch kind {
	case KindMerge:
		return "{}"
	case KindSum:
		return "0"
	}
	return "[]"
}

func admitsLists(item *schema.Schema) bool {
	if item == nil {
		return false
	}
	return item.Type == schema.TypeList || slices.ContainsFunc(item.Values, func(v any) bool {
		_, list := v.([]any)
		return list
	})
}
