package value

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Into stores a normalised value in the Go value that dst points to, by json
// tags, and loses nothing on the way:
//
//   - an integer kind takes integers within its range; a float kind takes
//     numbers, but an integer only when it is exact (a fraction is rounded to the
//     nearest float32); json.Number takes any number, string kinds only strings
//   - null goes into pointers, interfaces, slices and maps
//   - a struct takes an object whose keys all name fields, by their exact case; a
//     field without a key keeps its value
//   - an array takes a list of its length; bytes are refused, as in Normalize
//   - time.Time takes an RFC 3339 text; json.Unmarshaler gets canonical bytes,
//     encoding.TextUnmarshaler a string; any gets a copy
//
// Maps, slices and pointers are made anew. The error is an *Error with the
// path; dst is unchanged then.
func Into(v any, dst any) error { return asError(into(v, dst, false)) }

// into decodes into a copy of what dst points to and stores it when all is well.
// partial lets the outermost struct skip keys that it has no field for.
func into(v any, dst any, partial bool) *Error {
	rv := reflect.ValueOf(dst)
	if rv.Kind() != reflect.Pointer || rv.IsNil() {
		return fault(CodeUnsupportedType, fmt.Sprintf("the destination is a Go %T, not a pointer to a value", dst))
	}
	fresh := reflect.New(rv.Type().Elem()).Elem()
	fresh.Set(rv.Elem())
	if err := store(v, fresh, partial); err != nil {
		return err
	}
	rv.Elem().Set(fresh)
	return nil
}

func store(v any, rv reflect.Value, partial bool) *Error {
	t := rv.Type()
	if t.Kind() == reflect.Pointer {
		return storePointer(v, rv, partial)
	}
	switch t {
	case timeType:
		return storeTime(v, rv)
	case numberType:
		return storeNumber(v, rv)
	}
	s := shapeOf(t)
	if s.unmarshal != noUnmarshaler {
		return unmarshal(v, rv, s.unmarshal)
	}
	switch t.Kind() {
	case reflect.Struct:
		return storeStruct(v, rv, s, partial)
	case reflect.Slice, reflect.Array:
		if s.bytes {
			return errBytes(t)
		}
		return storeList(v, rv)
	case reflect.Map:
		return storeMap(v, rv)
	case reflect.Interface:
		return storeAny(v, rv)
	default:
		return storeScalar(v, rv)
	}
}

func storeStruct(v any, rv reflect.Value, s *shape, partial bool) *Error {
	if s.fault != nil {
		return s.faulty()
	}
	m, ok := v.(map[string]any)
	if !ok {
		return mismatch(v, "an object")
	}
	if err := s.renew(rv, m); err != nil {
		return err
	}
	for _, key := range Keys(m) {
		f := s.byName[key]
		if f == nil {
			if err := s.unknown(m, key, rv.Type(), partial); err != nil {
				return err
			}
			continue
		}
		if err := f.store(m[key], rv); err != nil {
			return err.underKey(key)
		}
	}
	return nil
}

// unknown says why a key that names no field is refused. One that a reader with
// folded case would take for a field is refused even when others are skipped,
// unless that field has its own entry.
func (s *shape) unknown(m map[string]any, key string, t reflect.Type, partial bool) *Error {
	for i := range s.fields {
		name := s.fields[i].name
		if _, has := m[name]; strings.EqualFold(name, key) && !(partial && has) {
			return fault(CodeUnknownKey, "the key differs from "+strconv.Quote(name)+" by case").underKey(key)
		}
	}
	if partial {
		return nil
	}
	return fault(CodeUnknownKey, "a Go "+t.String()+" has no such field").underKey(key)
}

// renew gives the embedded pointers that m reaches into copies of what they point
// to, so that a failure leaves the caller's untouched.
func (s *shape) renew(rv reflect.Value, m map[string]any) *Error {
	for _, index := range s.pointers {
		if !s.reaches(index, m) {
			continue
		}
		slot, _ := follow(rv, index) // the outer pointers come first: none is nil
		if !slot.CanSet() {
			return fault(CodeUnsupportedType, "a Go "+rv.Type().String()+" embeds a pointer to an unexported struct")
		}
		p := reflect.New(slot.Type().Elem())
		if !slot.IsNil() {
			p.Elem().Set(slot.Elem())
		}
		slot.Set(p)
	}
	return nil
}

// reaches says whether m has a key for a field inside the embedded struct.
func (s *shape) reaches(index []int, m map[string]any) bool {
	for i := range s.fields {
		f := &s.fields[i]
		if _, has := m[f.name]; has && len(f.index) > len(index) && slices.Equal(f.index[:len(index)], index) {
			return true
		}
	}
	return false
}

func (f *field) store(v any, rv reflect.Value) *Error {
	target, _ := follow(rv, f.index) // no embedded pointer is nil after renew
	if f.quoted && v != nil {
		text, ok := v.(string)
		if !ok {
			return mismatch(v, "a quoted value")
		}
		inner, err := decode([]byte(text), 0)
		if err != nil {
			err.Offset = 0 // the text is no document
			return err
		}
		v = inner
	}
	return store(v, target, false)
}
