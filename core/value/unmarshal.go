package value

import (
	"encoding"
	"encoding/json"
	"reflect"
)

// unmarshaler says how a type reads its own form.
type unmarshaler int

const (
	noUnmarshaler unmarshaler = iota
	jsonUnmarshaler
	textUnmarshaler
)

var (
	jsonUnmarshalerType = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// unmarshalerOf looks at the pointer to t: whatever is stored is addressable.
func unmarshalerOf(t reflect.Type) unmarshaler {
	if t == timeType || t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return noUnmarshaler
	}
	p := reflect.PointerTo(t)
	switch {
	case p.Implements(jsonUnmarshalerType):
		return jsonUnmarshaler
	case p.Implements(textUnmarshalerType):
		return textUnmarshaler
	default:
		return noUnmarshaler
	}
}

func unmarshal(v any, rv reflect.Value, u unmarshaler) *Error {
	method := "UnmarshalJSON"
	var data []byte
	if u == textUnmarshaler {
		method = "UnmarshalText"
		text, ok := v.(string)
		if !ok {
			return mismatch(v, "a string")
		}
		data = []byte(text)
	} else {
		var e encoder
		var err *Error
		if data, err = e.value(nil, v, 0); err != nil {
			return err
		}
	}
	err := contain(func() error {
		switch x := rv.Addr().Interface().(type) {
		case json.Unmarshaler:
			return x.UnmarshalJSON(data)
		default:
			return x.(encoding.TextUnmarshaler).UnmarshalText(data)
		}
	})
	if err != nil {
		return marshalFault(method, rv.Type(), err)
	}
	return nil
}
