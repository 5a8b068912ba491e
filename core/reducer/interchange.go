package reducer

import (
	"fmt"
	"slices"

	"github.com/docket-go/docket/core/value"
)

// ToMap returns the reducer as a document: its kind alone, or an object when it
// has options. A path of one key is that key.
func (r Reducer) ToMap() any {
	m := map[string]any{}
	if r.Unique {
		m["unique"] = true
	}
	if r.MaxLength != 0 {
		m["max_length"] = r.MaxLength
	}
	if r.Deep {
		m["deep"] = true
	}
	if len(r.By) > 0 {
		m["by"] = slices.Clone(r.By)
		if key, ok := r.By[0].(string); ok && len(r.By) == 1 {
			m["by"] = key
		}
	}
	if len(m) == 0 {
		return string(r.kind())
	}
	m["kind"] = string(r.kind())
	return m
}

// FromMap reads a reducer document: "append", or {"kind": "append", "unique":
// true}. It is strict: unknown kinds and keys, and options of another Go kind,
// are a *value.Error with a path. Whether the options fit the kind is Check's
// to say.
func FromMap(v any) (Reducer, error) {
	n, err := value.Normalize(v)
	if err != nil {
		return Reducer{}, err
	}
	switch doc := n.(type) {
	case string:
		return Reducer{Kind: Kind(doc)}, checkKind(doc, "")
	case map[string]any:
		return decode(doc)
	}
	return Reducer{}, mismatch("", "a reducer's name or an object")
}

func decode(m map[string]any) (Reducer, error) {
	var r Reducer
	if _, has := m["kind"]; !has {
		return Reducer{}, mismatch("kind", "present")
	}
	for _, key := range value.Keys(m) {
		if err := r.set(key, m[key]); err != nil {
			return Reducer{}, err
		}
	}
	return r, nil
}

func (r *Reducer) set(key string, v any) error {
	var ok bool
	want := "a boolean"
	switch key {
	case "kind":
		name, text := v.(string)
		if !text {
			return mismatch(key, "a string")
		}
		r.Kind = Kind(name)
		return checkKind(name, key)
	case "unique":
		r.Unique, ok = v.(bool)
	case "deep":
		r.Deep, ok = v.(bool)
	case "max_length":
		want = "an integer"
		r.MaxLength, ok = v.(int64)
	case "by":
		return r.setBy(v)
	default:
		return &value.Error{Code: value.CodeUnknownKey, Path: value.PathKey("", key),
			Message: "a reducer has kind, unique, max_length, by and deep"}
	}
	if !ok {
		return mismatch(key, want)
	}
	return nil
}

func (r *Reducer) setBy(v any) error {
	switch by := v.(type) {
	case string:
		r.By = []any{by}
		return nil
	case []any:
		for i, segment := range by {
			switch segment.(type) {
			case string, int64:
			default:
				return mismatch(value.PathIndex("by", i), "a string or an integer")
			}
		}
		r.By = by
		return nil
	}
	return mismatch("by", "a key or a list of path segments")
}

func checkKind(name, path string) error {
	if slices.Contains(Kinds(), Kind(name)) {
		return nil
	}
	return &value.Error{Code: value.CodeMismatch, Path: path,
		Message: fmt.Sprintf("%q is not a reducer; known are %v", value.Cut(name, 64), Kinds())}
}

func mismatch(path, want string) error {
	return &value.Error{Code: value.CodeMismatch, Path: path, Message: "must be " + want}
}
