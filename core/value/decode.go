package value

// maxShared is the size up to which the strings of a decoded document share one
// copy of its text. Beyond it each string is its own, so that keeping one never
// keeps a large document alive.
const maxShared = 16 << 10

// Decode reads one JSON document strictly and returns its normalised value. It
// refuses, with an *Error that carries offset and path, everything that another
// reader might take differently: duplicate keys (also when spelled with
// escapes), trailing bytes, invalid UTF-8, lone surrogates, numbers that would
// lose digits or overflow, more depth than
// MaxDocumentDepth. White space and any
// spelling of strings and numbers are accepted.
func Decode(data []byte) (any, error) {
	v, err := decode(data, -frame)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// DecodeObject is Decode for a document that must be an object.
func DecodeObject(data []byte) (map[string]any, error) {
	v, err := decode(data, -frame)
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
	d := decoders.Get().(*decoder)
	defer d.release()
	d.data = data
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
