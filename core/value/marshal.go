package value

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// marshaler says how a type gives its own form.
type marshaler int

const (
	noMarshaler marshaler = iota
	jsonMarshaler
	textMarshaler
	jsonPointerMarshaler // by a pointer receiver
	textPointerMarshaler
)

var (
	jsonMarshalerType = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// marshalerOf prefers JSON over text, as encoding/json does. Unlike there, a
// pointer receiver counts also where the value isn't addressable: the form of a
// value must not depend on where it is kept.
func marshalerOf(t reflect.Type) marshaler {
	pointer := t
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		pointer = reflect.PointerTo(t)
	}
	switch {
	case t == timeType || t == reflect.PointerTo(timeType):
		return noMarshaler // it has a form of its own
	case t.Implements(jsonMarshalerType):
		return jsonMarshaler
	case pointer.Implements(jsonMarshalerType):
		return jsonPointerMarshaler
	case t.Implements(textMarshalerType):
		return textMarshaler
	case pointer.Implements(textMarshalerType):
		return textPointerMarshaler
	default:
		return noMarshaler
	}
}

func marshaled(rv reflect.Value, m marshaler, depth int) (any, *Error) {
	if m == jsonPointerMarshaler || m == textPointerMarshaler {
		rv = addressOf(rv)
	}
	var data []byte
	name, text := "MarshalJSON", false
	err := contain(func() (err error) {
		switch x := rv.Interface(); m {
		case jsonMarshaler, jsonPointerMarshaler:
			data, err = x.(json.Marshaler).MarshalJSON()
		default:
			name, text = "MarshalText", true
			data, err = x.(encoding.TextMarshaler).MarshalText()
		}
		return err
	})
	if err != nil {
		return nil, marshalFault(name, rv.Type(), err)
	}
	if text {
		if !utf8.Valid(data) {
			return nil, fault(CodeInvalidUTF8, "MarshalText of "+rv.Type().String()+" isn't valid UTF-8")
		}
		return string(data), nil
	}
	v, bad := decode(data, depth)
	if bad != nil {
		bad.Message = "MarshalJSON of " + rv.Type().String() + ": " + bad.Message
		return nil, bad
	}
	return v, nil
}

// addressOf returns a pointer to the value, or to a copy of it.
func addressOf(rv reflect.Value) reflect.Value {
	if rv.CanAddr() {
		return rv.Addr()
	}
	p := reflect.New(rv.Type())
	p.Elem().Set(rv)
	return p
}

// contain calls code that isn't ours and turns its panic into an error.
func contain(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return call()
}

func marshalFault(method string, t reflect.Type, cause error) *Error {
	return &Error{
		Code:    CodeMarshal,
		Message: Cut(fmt.Sprintf("%s of %s: %v", method, t, cause), MaxText),
		cause:   cause,
	}
}
