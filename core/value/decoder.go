package value

import (
	"bytes"
	"sync"
)

// decoder is a recursive descent over data. Items and members are the parts of
// the containers that are still open, one stack each, so that every list and map
// is made once, in its final size.
type decoder struct {
	data    []byte
	text    string // data, when strings share it
	pos     int
	items   []any
	members []member
	scratch []byte            // of unescape
	keys    map[string]string // of a large document
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// maxKeys bounds the memory of key, for documents whose keys are data.
const maxKeys = 1024

// maxPooled keeps the stacks of one huge document from staying for ever.
const maxPooled = 1024

func (d *decoder) release() {
	d.reset()
	decoders.Put(d)
}

// reset keeps the stacks, without anything of the document in them: what was
// closed is cleared already, an error leaves the rest.
func (d *decoder) reset() {
	items, members, scratch := d.items, d.members, d.scratch
	clear(items)
	clear(members)
	*d = decoder{}
	if cap(items) <= maxPooled && cap(members) <= maxPooled && cap(scratch) <= maxShared {
		d.items, d.members, d.scratch = items[:0], members[:0], scratch[:0]
	}
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
		key, err := d.key()
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
