package value

import (
	"fmt"
	"strconv"
	"sync"
	"unicode/utf8"
)

// Encode returns the canonical bytes of a normalised value. The error is an
// *Error: a type outside the data model, a NaN, invalid UTF-8, too much depth.
func Encode(v any) ([]byte, error) { return Append(nil, v) }

// Append appends the canonical bytes of a normalised value to dst. On an error
// it returns dst as it was.
func Append(dst []byte, v any) ([]byte, error) {
	e := encoders.Get().(*encoder)
	out, err := e.value(dst, v, -frame)
	e.release()
	if err != nil {
		return dst, err
	}
	return out, nil
}

// AppendInt appends the canonical bytes of an integer: all its digits.
func AppendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// AppendString appends the canonical JSON string of s, which must be valid
// UTF-8.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		if escapes[s[i]] == 0 {
			continue
		}
		dst = append(dst, s[from:i]...)
		dst = appendEscape(dst, s[i])
		from = i + 1
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// escapes holds the letter of each byte's short escape, 'u' for the other
// control characters, 0 for the bytes that stand for themselves.
var escapes = func() (table [256]byte) {
	for c := range byte(0x20) {
		table[c] = 'u'
	}
	table['\b'], table['\t'], table['\n'], table['\f'], table['\r'] = 'b', 't', 'n', 'f', 'r'
	table['"'], table['\\'] = '"', '\\'
	return table
}()

func appendEscape(dst []byte, c byte) []byte {
	if short := escapes[c]; short != 'u' {
		return append(dst, '\\', short)
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// encoder holds the keys of the objects that are open, one stack for all of
// them, so that a document costs no allocation of its own.
type encoder struct {
	keys []string
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// maxPooledKeys keeps one huge object from staying in memory for ever.
const maxPooledKeys = 4096

func (e *encoder) release() {
	e.reset()
	encoders.Put(e)
}

func (e *encoder) reset() {
	if cap(e.keys) > maxPooledKeys {
		e.keys = nil
	}
	clear(e.keys) // what an error left open
	e.keys = e.keys[:0]
}

func (e *encoder) value(dst []byte, v any, depth int) ([]byte, *Error) {
	switch x := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, x), nil
	case int64:
		return AppendInt(dst, x), nil
	case float64:
		return appendNumber(dst, x)
	case string:
		if !utf8.ValidString(x) {
			return dst, fault(CodeInvalidUTF8, "the string isn't valid UTF-8")
		}
		return AppendString(dst, x), nil
	case []any:
		return e.list(dst, x, depth+1)
	case map[string]any:
		return e.object(dst, x, depth+1)
	default:
		return dst, fault(CodeUnsupportedType, fmt.Sprintf("a Go %T isn't normalised", v))
	}
}

func (e *encoder) list(dst []byte, list []any, depth int) ([]byte, *Error) {
	if depth > MaxDepth {
		return dst, errTooDeep()
	}
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err *Error
		if dst, err = e.value(dst, item, depth); err != nil {
			return dst, err.underIndex(i)
		}
	}
	return append(dst, ']'), nil
}

func (e *encoder) object(dst []byte, m map[string]any, depth int) ([]byte, *Error) {
	if depth > MaxDepth {
		return dst, errTooDeep()
	}
	base := len(e.keys)
	for k := range m { // order-free: collected, then sorted
		e.keys = append(e.keys, k)
	}
	end := len(e.keys)
	sortKeys(e.keys[base:end])
	dst = append(dst, '{')
	for i := base; i < end; i++ {
		key := e.keys[i] // by index: a nested object may move the stack
		if i > base {
			dst = append(dst, ',')
		}
		if !utf8.ValidString(key) {
			return dst, fault(CodeInvalidUTF8, "the key isn't valid UTF-8").underKey(key)
		}
		dst = append(AppendString(dst, key), ':')
		var err *Error
		if dst, err = e.value(dst, m[key], depth); err != nil {
			return dst, err.underKey(key)
		}
	}
	clear(e.keys[base:end]) // the pool keeps no text alive
	e.keys = e.keys[:base]
	return append(dst, '}'), nil
}

func errTooDeep() *Error {
	return fault(CodeTooDeep, "too many nested lists and objects: a value may have "+strconv.Itoa(MaxDepth))
}
