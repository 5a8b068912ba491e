package value

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"
)

var (
	timeType   = reflect.TypeFor[time.Time]()
	numberType = reflect.TypeFor[json.Number]()
)

// reflected takes what value has no direct case for: it follows pointers and
// interfaces to something concrete, or to a pointer that marshals itself.
func (n *normalizer) reflected(rv reflect.Value, depth int) (any, *Error) {
	open := len(n.trail)
	for hops := 0; rv.Kind() == reflect.Pointer || rv.Kind() == reflect.Interface; hops++ {
		if rv.IsNil() {
			return nil, nil
		}
		if rv.Kind() == reflect.Pointer {
			if shapeOf(rv.Type()).marshal != noMarshaler {
				break
			}
			if n.careful {
				if err := n.enter(rv); err != nil {
					return nil, err
				}
			}
		}
		if hops > MaxDepth {
			return nil, fault(CodeTooDeep, "more than a hundred pointers in a row")
		}
		rv = rv.Elem()
	}
	out, err := n.concrete(rv, depth)
	n.trail = n.trail[:open]
	return out, err
}

func (n *normalizer) concrete(rv reflect.Value, depth int) (any, *Error) {
	t := rv.Type()
	switch t {
	case timeType:
		return fromTime(rv.Interface().(time.Time))
	case numberType:
		return fromLiteral(rv.String())
	}
	s := shapeOf(t)
	if s.marshal != noMarshaler {
		return marshaled(rv, s.marshal, depth)
	}
	switch rv.Kind() {
	case reflect.Bool:
		return rv.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return rv.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return fromUint(rv.Uint())
	case reflect.Float32, reflect.Float64:
		return fromFloat(rv.Float())
	case reflect.String:
		if !utf8.ValidString(rv.String()) {
			return nil, errText()
		}
		return rv.String(), nil
	case reflect.Slice, reflect.Array:
		if s.bytes {
			return nil, errBytes(t)
		}
		return n.reflectedList(rv, depth+1)
	case reflect.Map:
		return n.reflectedMap(rv, depth+1)
	case reflect.Struct:
		return n.reflectedStruct(rv, s, depth+1)
	default:
		return nil, fault(CodeUnsupportedType, "a Go "+t.String()+" has no JSON form")
	}
}

func (n *normalizer) reflectedList(rv reflect.Value, depth int) (any, *Error) {
	if n.careful && rv.Kind() == reflect.Slice {
		if err := n.enter(rv); err != nil {
			return nil, err
		}
		defer n.leave()
	}
	if err := n.open(depth, rv.Len()); err != nil {
		return nil, err
	}
	out := make([]any, rv.Len())
	for i := range out {
		var err *Error
		if out[i], err = n.reflected(rv.Index(i), depth); err != nil {
			return nil, err.underIndex(i)
		}
	}
	return out, nil
}

func (n *normalizer) reflectedMap(rv reflect.Value, depth int) (any, *Error) {
	if rv.Type().Key().Kind() != reflect.String {
		return nil, fault(CodeUnsupportedType, "a Go "+rv.Type().String()+" has keys that aren't strings")
	}
	if n.careful {
		if err := n.enter(rv); err != nil {
			return nil, err
		}
		defer n.leave()
	}
	if err := n.open(depth, rv.Len()); err != nil {
		return nil, err
	}
	items := make(map[string]reflect.Value, rv.Len())
	for iter := rv.MapRange(); iter.Next(); {
		items[iter.Key().String()] = iter.Value()
	}
	out := make(map[string]any, len(items))
	for _, key := range Keys(items) {
		if !utf8.ValidString(key) {
			return nil, errKey(key)
		}
		v, err := n.reflected(items[key], depth)
		if err != nil {
			return nil, err.underKey(key)
		}
		out[key] = v
	}
	return out, nil
}

func (n *normalizer) reflectedStruct(rv reflect.Value, s *shape, depth int) (any, *Error) {
	if err := n.open(depth, len(s.fields)); err != nil {
		return nil, err
	}
	if s.fault != nil {
		return nil, s.faulty()
	}
	out := make(map[string]any, len(s.fields))
	for i := range s.fields {
		f := &s.fields[i]
		fv, ok := follow(rv, f.index)
		if !ok {
			continue
		}
		omit, err := f.omits(fv)
		if err != nil {
			return nil, err.underKey(f.name)
		}
		if omit {
			continue
		}
		v, err := n.reflected(fv, depth)
		if err == nil && f.quoted {
			v, err = quote(v)
		}
		if err != nil {
			return nil, err.underKey(f.name)
		}
		out[f.name] = v
	}
	return out, nil
}

// quote is the string option of a json tag: the value's JSON text as a string.
func quote(v any) (any, *Error) {
	if v == nil {
		return nil, nil
	}
	var e encoder
	text, err := e.value(nil, v, 0)
	return string(text), err
}

func errBytes(t reflect.Type) *Error {
	return fault(CodeUnsupportedType, fmt.Sprintf("a Go %s is bytes: encode it, for example with base64", t))
}
