package value

import (
	"fmt"
)

// Reader is a read-only view of a normalised map. Whatever it returns is a
// copy, so a reader can be shared and its results kept or changed. The zero
// Reader is empty.
type Reader struct {
	entries map[string]any
}

// NewReader returns a reader over m, which it keeps: the caller must not change
// m afterwards.
func NewReader(m map[string]any) Reader { return Reader{entries: m} }

// Has says whether there is an entry of that name, null included.
func (r Reader) Has(name string) bool {
	_, ok := r.entries[name]
	return ok
}

// Len returns the number of entries.
func (r Reader) Len() int { return len(r.entries) }

// Names returns the names of the entries, sorted.
func (r Reader) Names() []string { return Keys(r.entries) }

// Values returns all entries, never nil.
func (r Reader) Values() map[string]any {
	if r.entries == nil {
		return map[string]any{}
	}
	return CloneMap(r.entries)
}

// Get returns the entry of that name, and whether there is one.
func (r Reader) Get(name string) (any, bool) {
	v, ok := r.entries[name]
	return Clone(v), ok
}

// String returns a string entry. Like its siblings it fails with an *Error:
// CodeMissing when there is no entry, CodeMismatch when it is of another kind.
func (r Reader) String(name string) (string, error) { return entry[string](r, name) }

// Bool returns a boolean entry.
func (r Reader) Bool(name string) (bool, error) { return entry[bool](r, name) }

// List returns a list entry.
func (r Reader) List(name string) ([]any, error) {
	list, err := entry[[]any](r, name)
	if err != nil {
		return nil, err
	}
	return cloneList(list), nil
}

// Map returns a map or object entry.
func (r Reader) Map(name string) (map[string]any, error) {
	m, err := entry[map[string]any](r, name)
	if err != nil {
		return nil, err
	}
	return CloneMap(m), nil
}

// Int returns an integer entry. A number with a fraction is CodeMismatch, an
// integral one beyond int64 CodeOutOfRange.
func (r Reader) Int(name string) (int64, error) {
	v, err := r.lookup(name)
	if err != nil {
		return 0, err
	}
	n, fail := toInt(v)
	if fail != nil {
		return 0, fail.underKey(name)
	}
	return n, nil
}

// Float returns a number entry. An integer that a float64 can't hold exactly is
// CodeOutOfRange, never rounded.
func (r Reader) Float(name string) (float64, error) {
	v, err := r.lookup(name)
	if err != nil {
		return 0, err
	}
	f, fail := toFloat(v)
	if fail != nil {
		return 0, fail.underKey(name)
	}
	return f, nil
}

// Decode reads one entry into dst, as Into does.
func (r Reader) Decode(name string, dst any) error {
	v, err := r.lookup(name)
	if err != nil {
		return err
	}
	if fail := into(v, dst, false); fail != nil {
		return fail.underKey(name)
	}
	return nil
}

// DecodeAll reads the entries into dst, as Into does, but lets a struct name
// only some of them: a node reads the part of the state that concerns it. An
// entry that differs only by case from a field that has no entry of its own is
// still refused.
func (r Reader) DecodeAll(dst any) error {
	entries := r.entries
	if entries == nil {
		entries = map[string]any{}
	}
	return asError(into(entries, dst, true))
}

func (r Reader) lookup(name string) (any, error) {
	v, ok := r.entries[name]
	if !ok {
		return nil, fault(CodeMissing, "there is no such entry").underKey(name)
	}
	return v, nil
}

func entry[T any](r Reader, name string) (T, error) {
	var zero T
	v, err := r.lookup(name)
	if err != nil {
		return zero, err
	}
	x, ok := v.(T)
	if !ok {
		return zero, mismatch(v, kindOf(any(zero))).underKey(name)
	}
	return x, nil
}

func mismatch(v any, want string) *Error {
	return fault(CodeMismatch, fmt.Sprintf("%s is not %s", kindOf(v), want))
}

// kindOf names a value's kind with its article, for messages.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int64:
		return "an integer"
	case float64:
		return "a number with a fraction or beyond int64"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return fmt.Sprintf("a Go %T", v)
	}
}
