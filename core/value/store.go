package value

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
)

func storePointer(v any, rv reflect.Value, partial bool) *Error {
	if v == nil {
		rv.SetZero()
		return nil
	}
	p := reflect.New(rv.Type().Elem())
	if err := store(v, p.Elem(), partial); err != nil {
		return err
	}
	rv.Set(p)
	return nil
}

func storeTime(v any, rv reflect.Value) *Error {
	text, ok := v.(string)
	if !ok {
		return mismatch(v, "a time")
	}
	t, err := parseTime(text)
	if err != nil {
		return err
	}
	rv.Set(reflect.ValueOf(t))
	return nil
}

func storeNumber(v any, rv reflect.Value) *Error {
	switch x := v.(type) {
	case int64:
		rv.SetString(strconv.FormatInt(x, 10))
	case float64:
		rv.SetString(string(appendFloat(nil, x)))
	default:
		return mismatch(v, "a number")
	}
	return nil
}

func storeAny(v any, rv reflect.Value) *Error {
	if rv.NumMethod() > 0 {
		return fault(CodeUnsupportedType, "a Go "+rv.Type().String()+" doesn't say which type to make")
	}
	if v == nil {
		rv.SetZero()
		return nil
	}
	rv.Set(reflect.ValueOf(Clone(v)))
	return nil
}

func storeScalar(v any, rv reflect.Value) *Error {
	switch t := rv.Type(); rv.Kind() {
	case reflect.Bool:
		b, ok := v.(bool)
		if !ok {
			return mismatch(v, "a boolean")
		}
		rv.SetBool(b)
	case reflect.String:
		s, ok := v.(string)
		if !ok {
			return mismatch(v, "a string")
		}
		rv.SetString(s)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := toInt(v)
		if err == nil && t.OverflowInt(n) {
			err = errRange(v, t)
		}
		if err != nil {
			return err
		}
		rv.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n, err := toInt(v)
		if err == nil && (n < 0 || t.OverflowUint(uint64(n))) {
			err = errRange(v, t)
		}
		if err != nil {
			return err
		}
		rv.SetUint(uint64(n))
	case reflect.Float32, reflect.Float64:
		return storeFloat(v, rv)
	default:
		return fault(CodeUnsupportedType, "a Go "+t.String()+" has no JSON form")
	}
	return nil
}

func storeFloat(v any, rv reflect.Value) *Error {
	f, err := toFloat(v)
	if err != nil {
		return err
	}
	if rv.Kind() == reflect.Float32 {
		narrow := float64(float32(f))
		if math.IsInf(narrow, 0) || f == math.Trunc(f) && narrow != f {
			return errRange(v, rv.Type())
		}
	}
	rv.SetFloat(f)
	return nil
}

func storeList(v any, rv reflect.Value) *Error {
	if v == nil && rv.Kind() == reflect.Slice {
		rv.SetZero()
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return mismatch(v, "a list")
	}
	target := rv
	if rv.Kind() == reflect.Slice {
		target = reflect.MakeSlice(rv.Type(), len(list), len(list))
	} else if len(list) != rv.Len() {
		return fault(CodeMismatch, fmt.Sprintf("a list of %d doesn't fill a Go %s", len(list), rv.Type()))
	}
	for i, item := range list {
		if err := store(item, target.Index(i), false); err != nil {
			return err.underIndex(i)
		}
	}
	if rv.Kind() == reflect.Slice {
		rv.Set(target)
	}
	return nil
}

func storeMap(v any, rv reflect.Value) *Error {
	t := rv.Type()
	if t.Key().Kind() != reflect.String {
		return fault(CodeUnsupportedType, "a Go "+t.String()+" has keys that aren't strings")
	}
	if v == nil {
		rv.SetZero()
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return mismatch(v, "an object")
	}
	out := reflect.MakeMapWithSize(t, len(m))
	for _, key := range Keys(m) {
		item := reflect.New(t.Elem()).Elem()
		if err := store(m[key], item, false); err != nil {
			return err.underKey(key)
		}
		out.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), item)
	}
	rv.Set(out)
	return nil
}

func errRange(v any, t reflect.Type) *Error {
	return fault(CodeOutOfRange, fmt.Sprintf("%v is beyond a Go %s", v, t))
}
