package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docket-go/docket/core/value"
)

// reader walks a document and keeps the first thing it refuses. After that every
// answer is zero, so that the callers needn't look after each step.
type reader struct{ err error }

func (d *reader) fail(code, path, message string) {
	d.stop(&Error{Code: code, Path: path, Message: message})
}

func (d *reader) stop(err error) {
	if d.err == nil {
		d.err = err
	}
}

// check runs a check that documents and Go values share.
func (d *reader) check(run func(*report)) {
	if d.err != nil {
		return
	}
	var r report
	run(&r)
	if err := r.err(); err != nil {
		d.stop(err)
	}
}

// object is one object of a document with its path.
type object struct {
	d    *reader
	path string
	m    map[string]any
}

// object opens v, which may have only the given keys.
func (d *reader) object(v any, path string, keys ...string) object {
	m, ok := v.(map[string]any)
	if !ok {
		d.fail(CodeInvalidDocument, path, "must be an object")
	}
	for _, key := range value.Keys(m) {
		if !slices.Contains(keys, key) {
			d.unknown(key, value.PathKey(path, key), keys)
		}
	}
	return object{d: d, path: path, m: m}
}

func (d *reader) unknown(key, path string, known []string) {
	switch {
	case key == "on_error":
		d.fail(CodeReservedOnError, path, onErrorReserved)
	case strings.HasPrefix(key, "$"):
		d.fail(CodeReservedKey, path, reservedKey)
	default:
		d.fail(CodeUnknownKey, path, fmt.Sprintf("unknown key; known are %s", strings.Join(known, ", ")))
	}
}

func (o object) at(key string) string { return value.PathKey(o.path, key) }

func (o object) has(key string) bool {
	_, ok := o.m[key]
	return ok
}

func (o object) child(key string, keys ...string) object {
	return o.d.object(o.m[key], o.at(key), keys...)
}

// raw returns an object whose keys are ids.
func (o object) raw(key string) map[string]any {
	return as[map[string]any](o, key, "must be an object")
}

// values returns a literal object: metadata or config.
func (o object) values(key string) map[string]any {
	m := o.raw(key)
	if len(m) == 0 {
		return nil
	}
	plain, err := unwrapLiteral(m, o.at(key))
	if err != nil {
		o.d.stop(err)
		return nil
	}
	out, ok := plain.(map[string]any)
	switch {
	case !ok:
		o.d.fail(CodeInvalidDocument, o.at(key), "must be an object")
	case !fits(out, value.MaxDepth):
		o.d.fail(CodeInvalidRecord, o.at(key), tooDeep)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// fits reports whether v nests at most depth containers: a document may hold
// more, a value in it may not.
func fits(v any, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, entry := range v { // any order gives the same answer
			if !fits(entry, depth-1) {
				return false
			}
		}
		return depth > 0
	case []any:
		for _, entry := range v {
			if !fits(entry, depth-1) {
				return false
			}
		}
		return depth > 0
	default:
		return true
	}
}

func (o object) text(key string) string   { return as[string](o, key, "must be a string") }
func (o object) boolean(key string) bool  { return as[bool](o, key, "must be true or false") }
func (o object) integer(key string) int64 { return as[int64](o, key, "must be an integer") }

func (o object) number(key string) float64 {
	if n, ok := o.m[key].(int64); ok {
		return float64(n)
	}
	return as[float64](o, key, "must be a number")
}

// as returns an entry of one kind; an absent one is zero, an explicit null is
// refused like any other kind.
func as[T any](o object, key, message string) (v T) {
	entry, ok := o.m[key]
	if !ok {
		return v
	}
	v, ok = entry.(T)
	if !ok {
		o.d.fail(CodeInvalidDocument, o.at(key), message)
	}
	return v
}
