package value

import (
	"reflect"
	"sync"
)

// shape is what reflection has to say about a type, found out once.
type shape struct {
	marshal   marshaler
	unmarshal unmarshaler
	bytes     bool    // a slice or array of plain bytes
	fields    []field // of a struct, in order of declaration
	byName    map[string]*field
	pointers  [][]int // the embedded pointers, outer before inner
	fault     *Error  // why the struct has no form
}

var shapes sync.Map // reflect.Type → *shape

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{marshal: marshalerOf(t), unmarshal: unmarshalerOf(t)}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		s.bytes = t.Elem().Kind() == reflect.Uint8 &&
			marshalerOf(t.Elem()) == noMarshaler && unmarshalerOf(t.Elem()) == noUnmarshaler
	case reflect.Struct:
		s.fields, s.pointers, s.fault = fieldsOf(t)
		s.byName = make(map[string]*field, len(s.fields))
		for i := range s.fields {
			s.byName[s.fields[i].name] = &s.fields[i]
		}
	}
	kept, _ := shapes.LoadOrStore(t, s)
	return kept.(*shape)
}

// faulty returns the struct's fault as an error of its own, to be given a path.
func (s *shape) faulty() *Error {
	e := *s.fault
	return &e
}

// field is one key of a struct.
type field struct {
	name      string
	index     []int
	tagged    bool
	quoted    bool // the string option
	omitEmpty bool
	omitZero  bool
}

// follow returns the value at index in the struct rv, or false inside an embedded
// nil pointer.
func follow(rv reflect.Value, index []int) (reflect.Value, bool) {
	for i, x := range index {
		if i > 0 && rv.Kind() == reflect.Pointer {
			if rv.IsNil() {
				return reflect.Value{}, false
			}
			rv = rv.Elem()
		}
		rv = rv.Field(x)
	}
	return rv, true
}

// omits says whether the tag leaves this value out.
func (f *field) omits(rv reflect.Value) (omit bool, err *Error) {
	if f.omitEmpty && isEmpty(rv) {
		return true, nil
	}
	if !f.omitZero {
		return false, nil
	}
	if k := rv.Kind(); (k == reflect.Pointer || k == reflect.Interface) && rv.IsNil() {
		return true, nil
	}
	z, ok := rv.Interface().(interface{ IsZero() bool })
	if !ok && rv.Kind() != reflect.Pointer && rv.Kind() != reflect.Interface {
		z, ok = addressOf(rv).Interface().(interface{ IsZero() bool })
	}
	if !ok {
		return rv.IsZero(), nil
	}
	if cause := contain(func() error { omit = z.IsZero(); return nil }); cause != nil {
		return false, marshalFault("IsZero", rv.Type(), cause)
	}
	return omit, nil
}

func isEmpty(rv reflect.Value) bool {
	switch rv.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return rv.Len() == 0
	case reflect.Struct:
		return false
	default:
		return rv.IsZero()
	}
}
