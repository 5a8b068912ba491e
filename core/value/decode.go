package value

import "bytes"

// maxShared is the size up to which the strings of a decoded document share one
// copy of its text. Beyond it each string is its own, so that keeping one never
// keeps a large document alive.
const maxShared = 16 << 10

// Decode reads one JSON document strictly and returns its normalised value. It
// refuses, with an *Error that carries offset and path, everything that another
// reader might take differently: duplicate keys (also when spelled with
// escapes), trailing bytes, invalid UTF-8, lone surrogates, numbers that would
// lose digits or overflow, more depth than MaxDepth. White space and any
// spelling of strings and numbers are accepted.
func Decode(data []byte) (any, error) {
	v, err := decode(data, 0)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// DecodeObject is Decode for a document that must be an object.
func DecodeObject(data []byte) (map[string]any, error) {
	v, err := decode(data, 0)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, mismatch(v, "an object")
	}
	return m, nil
}

// decode reads a document that will stand inside depth open containers.
func decode(data []byte, depth int) (any, *Error) {
	d := decoder{data: data}
	if len(data) <= maxShared {
		d.text = string(data)
	}
	d.space()
	v, err := d.value(depth)
	if err != nil {
		return nil, err
	}
	if d.space(); d.pos < len(data) {
		return nil, d.fault(CodeTrailingBytes, d.pos, "the document has ended")
	}
	return v, nil
}

// decoder is a recursive descent over data. Items and members are the parts of
// the containers that are still open, one stack each, so that every list and map
// is made once, in its final size.
type decoder struct {
	data    []byte
	text    string // data, when strings share it
	pos     int
	items   []any
	members []member
	scratch []byte // of unescape
}

type member struct {
	key    string
	offset int
	value  any
}

func (d *decoder) value(depth int) (any, *Error) {
	if d.pos >= len(d.data) {
		return nil, d.fault(CodeSyntax, d.pos, "the document ends where a value is expected")
	}
	switch c := d.data[d.pos]; c {
	case '{':
		return d.object(depth + 1)
	case '[':
		return d.list(depth + 1)
	case '"':
		s, err := d.string()
		if err != nil {
			return nil, err
		}
		return s, nil
	case 't':
		return true, d.word("true")
	case 'f':
		return false, d.word("false")
	case 'n':
		return nil, d.word("null")
	default:
		if c == '-' || isDigit(c) {
			return d.number()
		}
		return nil, d.unexpected("a value")
	}
}

func (d *decoder) object(depth int) (any, *Error) {
	if depth > MaxDepth {
		return nil, d.tooDeep()
	}
	base := len(d.members)
	d.pos++
	if d.space(); d.peek() == '}' {
		d.pos++
		return map[string]any{}, nil
	}
	for {
		if d.peek() != '"' {
			return nil, d.unexpected("a key")
		}
		offset := d.pos
		key, err := d.string()
		if err != nil {
			return nil, err
		}
		if d.space(); d.peek() != ':' {
			return nil, d.unexpected("a colon").underKey(key)
		}
		d.pos++
		d.space()
		v, err := d.value(depth)
		if err != nil {
			return nil, err.underKey(key)
		}
		d.members = append(d.members, member{key, offset, v})
		switch d.space(); d.peek() {
		case ',':
			d.pos++
			d.space()
		case '}':
			d.pos++
			return d.closeObject(base)
		default:
			return nil, d.unexpected("a comma or the object's end")
		}
	}
}

func (d *decoder) closeObject(base int) (any, *Error) {
	open := d.members[base:]
	m := make(map[string]any, len(open))
	for i := range open {
		m[open[i].key] = open[i].value
		if len(m) != i+1 {
			return nil, d.fault(CodeDuplicateKey, open[i].offset, "the key was given before").underKey(open[i].key)
		}
	}
	clear(open)
	d.members = d.members[:base]
	return m, nil
}

func (d *decoder) list(depth int) (any, *Error) {
	if depth > MaxDepth {
		return nil, d.tooDeep()
	}
	base := len(d.items)
	d.pos++
	if d.space(); d.peek() == ']' {
		d.pos++
		return []any{}, nil
	}
	for {
		v, err := d.value(depth)
		if err != nil {
			return nil, err.underIndex(len(d.items) - base)
		}
		d.items = append(d.items, v)
		switch d.space(); d.peek() {
		case ',':
			d.pos++
			d.space()
		case ']':
			d.pos++
			return d.closeList(base), nil
		default:
			return nil, d.unexpected("a comma or the list's end")
		}
	}
}

func (d *decoder) closeList(base int) []any {
	open := d.items[base:]
	list := make([]any, len(open))
	copy(list, open)
	clear(open)
	d.items = d.items[:base]
	return list
}

func (d *decoder) word(w string) *Error {
	if !bytes.HasPrefix(d.data[d.pos:], []byte(w)) {
		return d.unexpected("a value")
	}
	d.pos += len(w)
	return nil
}

func (d *decoder) number() (any, *Error) {
	from := d.pos
	lit, end, ok := scanNumber(d.data[from:])
	if !ok {
		d.pos = from + end
		return nil, d.unexpected("a digit")
	}
	d.pos = from + end
	v, err := lit.value()
	if err != nil {
		err.Offset = int64(from)
		return nil, err
	}
	return v, nil
}

// peek returns the current byte, or 0 at the end, which starts no token.
func (d *decoder) peek() byte {
	if d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\n', '\r', '\t':
			d.pos++
		default:
			return
		}
	}
}

func (d *decoder) fault(code Code, offset int, message string) *Error {
	return &Error{Code: code, Offset: int64(offset), Message: message}
}

func (d *decoder) tooDeep() *Error {
	err := errTooDeep()
	err.Offset = int64(d.pos)
	return err
}

func (d *decoder) unexpected(want string) *Error {
	if d.pos >= len(d.data) {
		return d.fault(CodeSyntax, d.pos, "the document ends where "+want+" is expected")
	}
	return d.fault(CodeSyntax, d.pos, quoteByte(d.data[d.pos])+" where "+want+" is expected")
}
