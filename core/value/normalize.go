package value

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Normalize returns v as a value of the data model: a deep copy in the one form
// of each part, or an *Error that names the part that has none.
//
// It takes every Go number kind, json.Number, strings, booleans, slices, arrays
// and string-keyed maps of any type, structs by their json tags (omitempty,
// omitzero, string, embedding as in encoding/json), json.Marshaler and
// encoding.TextMarshaler, also with pointer receivers. A time.Time becomes its
// FormatTime text, a time.Duration its nanoseconds, a float32 the float64 of the
// same value. A nil slice is [], a nil map {}, a nil pointer null.
//
// It refuses integers beyond int64, NaN and infinities, invalid UTF-8, []byte
// (encode it, for example with base64), func, chan, complex, maps with other
// keys, structs that hold everything in unexported fields, two fields for one
// key, cycles, more than MaxDepth nested containers and more than MaxItems items.
func Normalize(v any) (any, error) {
	out, err := normalize(v)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// NormalizeMap is Normalize for a value that must be an object. A nil v, also a
// typed one, is the empty object.
func NormalizeMap(v any) (map[string]any, error) {
	out, err := normalize(v)
	if err != nil {
		return nil, err
	}
	switch m := out.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return m, nil
	default:
		return nil, mismatch(out, "an object")
	}
}

func normalize(v any) (any, *Error) { return normalizeWithin(v, MaxItems) }

func normalizeWithin(v any, limit int) (any, *Error) {
	quick := normalizer{limit: limit}
	out, err := quick.value(v, 0)
	if err == nil {
		return out, nil
	}
	// Which of several errors comes first must not depend on map order, and a
	// cycle should be named where it closes. Only a failure pays for that.
	careful := normalizer{careful: true, limit: limit}
	if _, first := careful.value(v, 0); first != nil {
		err = first
	}
	return nil, err
}

type normalizer struct {
	careful bool    // visit keys in order and watch for cycles
	trail   []visit // the references that are open, when careful
	items   int     // elements and entries so far
	limit   int     // of items
}

// open accounts for a container with the given number of items.
func (n *normalizer) open(depth, items int) *Error {
	if depth > MaxDepth {
		return errTooDeep()
	}
	if n.items += items; n.items > n.limit {
		return fault(CodeTooLarge, "more than "+strconv.Itoa(n.limit)+" elements and entries in all, no store keeps that")
	}
	return nil
}

// visit is one open reference: where it points, the slice's length, and its
// type, which tells a struct from its first field.
type visit struct {
	at     uintptr
	length int
	typ    reflect.Type
}

// enter notes that a slice, map or pointer is open, unless it is already.
func (n *normalizer) enter(ref reflect.Value) *Error {
	v := visit{at: ref.Pointer(), typ: ref.Type()}
	if ref.Kind() == reflect.Slice {
		v.length = ref.Len()
	}
	if v.at != 0 && slices.Contains(n.trail, v) {
		return fault(CodeCycle, "the "+v.typ.String()+" contains itself")
	}
	n.trail = append(n.trail, v)
	return nil
}

func (n *normalizer) leave() { n.trail = n.trail[:len(n.trail)-1] }

// value takes the common types without reflection; it is all that a tree that
// is normalised already, or that came from encoding/json, needs.
func (n *normalizer) value(v any, depth int) (any, *Error) {
	switch x := v.(type) {
	case nil, bool, int64:
		return v, nil
	case string:
		if !utf8.ValidString(x) {
			return nil, errText()
		}
		return v, nil
	case float64:
		return fromFloat(x)
	case []any:
		return n.list(x, depth+1)
	case map[string]any:
		return n.object(x, depth+1)
	case int:
		return int64(x), nil
	case int32:
		return int64(x), nil
	case float32:
		return fromFloat(float64(x))
	case uint64:
		return fromUint(x)
	case json.Number:
		return fromLiteral(string(x))
	case time.Time:
		return fromTime(x)
	default:
		return n.reflected(reflect.ValueOf(v), depth)
	}
}

func (n *normalizer) list(list []any, depth int) (any, *Error) {
	if n.careful {
		if err := n.enter(reflect.ValueOf(list)); err != nil {
			return nil, err
		}
		defer n.leave()
	}
	if err := n.open(depth, len(list)); err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, item := range list {
		var err *Error
		if out[i], err = n.value(item, depth); err != nil {
			return nil, err.underIndex(i)
		}
	}
	return out, nil
}

func (n *normalizer) object(m map[string]any, depth int) (any, *Error) {
	if n.careful {
		if err := n.enter(reflect.ValueOf(m)); err != nil {
			return nil, err
		}
		defer n.leave()
	}
	if err := n.open(depth, len(m)); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(m))
	if n.careful {
		for _, key := range Keys(m) {
			if err := n.member(out, key, m[key], depth); err != nil {
				return nil, err
			}
		}
	} else {
		for key, item := range m { // order-free: an error is looked for again, in order
			if err := n.member(out, key, item, depth); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (n *normalizer) member(out map[string]any, key string, item any, depth int) *Error {
	if !utf8.ValidString(key) {
		return errKey(key)
	}
	v, err := n.value(item, depth)
	if err != nil {
		return err.underKey(key)
	}
	out[key] = v
	return nil
}

func fromUint(u uint64) (any, *Error) {
	if u > math.MaxInt64 {
		return nil, fault(CodeOutOfRange, strconv.FormatUint(u, 10)+" is beyond int64")
	}
	return int64(u), nil
}

func fromLiteral(text string) (any, *Error) {
	lit, end, ok := scanNumber([]byte(text))
	if !ok || end != len(text) {
		return nil, fault(CodeSyntax, strconv.QuoteToASCII(Cut(text, 64))+" is not a JSON number")
	}
	return lit.value()
}

func fromTime(t time.Time) (any, *Error) {
	if err := checkYear(t); err != nil {
		return nil, err
	}
	return FormatTime(t), nil
}

func errText() *Error { return fault(CodeInvalidUTF8, "the string isn't valid UTF-8") }

func errKey(key string) *Error {
	return fault(CodeInvalidUTF8, "the key isn't valid UTF-8").underKey(key)
}
