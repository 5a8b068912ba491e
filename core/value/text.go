package value

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads the string literal at the current position.
func (d *decoder) string() (string, *Error) {
	from, to, escaped, err := d.span()
	switch {
	case err != nil:
		return "", err
	case escaped:
		return d.unescape(from, to)
	case d.text != "":
		return d.text[from:to], nil
	default:
		return string(d.data[from:to]), nil
	}
}

// key is string for an object's key. In a large document, where strings share
// no text, the same keys come again and again: they share a copy.
func (d *decoder) key() (string, *Error) {
	if d.text != "" {
		return d.string()
	}
	from, to, escaped, err := d.span()
	switch {
	case err != nil:
		return "", err
	case escaped:
		return d.unescape(from, to)
	}
	if key, ok := d.keys[string(d.data[from:to])]; ok {
		return key, nil
	}
	key := string(d.data[from:to])
	if len(d.keys) < maxKeys {
		if d.keys == nil {
			d.keys = make(map[string]string)
		}
		d.keys[key] = key
	}
	return key, nil
}

// span passes over the string literal at the current position, proves its bytes
// and returns where its text is.
func (d *decoder) span() (from, to int, escaped bool, err *Error) {
	from = d.pos + 1
	i, ascii := from, true
	for {
		for i < len(d.data) && plainByte[d.data[i]] {
			i++
		}
		if i >= len(d.data) {
			return 0, 0, false, d.fault(CodeSyntax, len(d.data), "the document ends inside a string")
		}
		c := d.data[i]
		if c == '"' {
			break
		}
		switch {
		case c >= utf8.RuneSelf:
			ascii = false
		case c == '\\':
			escaped = true
			i++ // the escaped byte is looked at by unescape, but ends nothing
		default:
			return 0, 0, false, d.fault(CodeSyntax, i, "a control character inside a string must be escaped")
		}
		i++
	}
	d.pos = i + 1
	if !ascii && !utf8.Valid(d.data[from:i]) {
		return 0, 0, false, d.fault(CodeInvalidUTF8, from+firstInvalid(d.data[from:i]), "the string isn't valid UTF-8")
	}
	return from, i, escaped, nil
}

// plainByte marks the ASCII bytes that stand for themselves inside a string.
var plainByte = func() (table [256]bool) {
	for c := byte(0x20); c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// unescape returns data[from:to] with its escapes resolved.
func (d *decoder) unescape(from, to int) (string, *Error) {
	out := d.scratch[:0]
	for i := from; i < to; {
		next := bytes.IndexByte(d.data[i:to], '\\')
		if next < 0 {
			out = append(out, d.data[i:to]...)
			break
		}
		out = append(out, d.data[i:i+next]...)
		i += next
		r, size, err := d.escape(i, to)
		if err != nil {
			return "", err
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	d.scratch = out
	return string(out), nil
}

// escape reads the escape at data[i] and returns its character and size.
func (d *decoder) escape(i, to int) (rune, int, *Error) {
	if i+1 < to {
		switch c := d.data[i+1]; c {
		case '"', '\\', '/':
			return rune(c), 2, nil
		case 'b':
			return '\b', 2, nil
		case 'f':
			return '\f', 2, nil
		case 'n':
			return '\n', 2, nil
		case 'r':
			return '\r', 2, nil
		case 't':
			return '\t', 2, nil
		case 'u':
			return d.unicodeEscape(i, to)
		}
	}
	return 0, 0, d.fault(CodeSyntax, i, "unknown escape")
}

// unicodeEscape reads \uXXXX, or two of them that are a surrogate pair. A
// surrogate on its own is not a character: replacing it would give two different
// documents one value.
func (d *decoder) unicodeEscape(i, to int) (rune, int, *Error) {
	high, ok := hex4(d.data[i+2 : to])
	if !ok {
		return 0, 0, d.fault(CodeSyntax, i, "\\u needs four hexadecimal digits")
	}
	if !utf16.IsSurrogate(high) {
		return high, 6, nil
	}
	if rest := d.data[i+6 : to]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if low, ok := hex4(rest[2:]); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return r, 12, nil
			}
		}
	}
	return 0, 0, d.fault(CodeInvalidUTF8, i, "a surrogate without its other half is not a character")
}

func hex4(data []byte) (rune, bool) {
	if len(data) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range data[:4] {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

func quoteByte(c byte) string {
	if c >= utf8.RuneSelf {
		return "byte 0x" + strconv.FormatUint(uint64(c), 16)
	}
	return strconv.QuoteRune(rune(c))
}
