package value

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// level is a struct type met while embedded structs are opened, and the way to
// it.
type level struct {
	typ     reflect.Type
	index   []int
	pointer bool // embedded by pointer
}

// fieldsOf lists the keys of a struct, and its embedded pointers, as encoding/json does: embedded structs
// are opened, a shallower field hides deeper ones of its name, and among equals
// a tagged one wins. Where encoding/json silently drops all of several equals,
// this is a fault: one of two values would be lost.
func fieldsOf(t reflect.Type) ([]field, [][]int, *Error) {
	var fields []field
	var pointers [][]int
	taken := map[string]bool{}
	opened := map[reflect.Type]bool{}
	for now := []level{{typ: t}}; len(now) > 0; {
		var found []field
		var next []level
		for _, l := range now {
			if !opened[l.typ] {
				found, next = scanFields(l, found, next)
				if l.pointer {
					pointers = append(pointers, l.index)
				}
			}
		}
		for _, l := range now { // a type may occur twice at one depth, not below itself
			opened[l.typ] = true
		}
		kept, err := dominant(t, found, taken)
		if err != nil {
			return nil, nil, err
		}
		fields = append(fields, kept...)
		now = next
	}
	if len(fields) == 0 && t.NumField() > 0 && !anyExported(t) {
		return nil, nil, fault(CodeUnsupportedType, "a Go "+t.String()+" has only unexported fields")
	}
	slices.SortFunc(fields, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return fields, pointers, nil
}

// scanFields adds the fields of one struct type to found, and the structs that
// it embeds to next.
func scanFields(l level, found []field, next []level) ([]field, []level) {
	for i := range l.typ.NumField() {
		sf := l.typ.Field(i)
		inner := sf.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		embedsStruct := sf.Anonymous && inner.Kind() == reflect.Struct
		if !sf.IsExported() && !embedsStruct {
			continue
		}
		tag := sf.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !isTagName(name) {
			name = ""
		}
		index := append(slices.Clone(l.index), i)
		if name == "" && embedsStruct {
			next = append(next, level{typ: inner, index: index, pointer: inner != sf.Type})
			continue
		}
		if !sf.IsExported() {
			continue
		}
		f := field{name: cmp.Or(name, sf.Name), index: index, tagged: name != ""}
		f.options(options, sf.Type)
		found = append(found, f)
	}
	return found, next
}

func (f *field) options(list string, t reflect.Type) {
	for option := range strings.SplitSeq(list, ",") {
		switch option {
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = true
		case "string":
			if t.Kind() == reflect.Pointer && t.Name() == "" {
				t = t.Elem()
			}
			k := t.Kind()
			f.quoted = k >= reflect.Bool && k <= reflect.Float64 || k == reflect.String
		}
	}
}

// dominant picks one field for each name that no shallower depth took.
func dominant(t reflect.Type, found []field, taken map[string]bool) ([]field, *Error) {
	byName := map[string][]field{}
	for _, f := range found {
		if !taken[f.name] {
			byName[f.name] = append(byName[f.name], f)
		}
	}
	var kept []field
	for _, name := range Keys(byName) {
		equals := byName[name]
		if len(equals) > 1 {
			equals = slices.DeleteFunc(equals, func(f field) bool { return !f.tagged })
		}
		if len(equals) != 1 {
			return nil, fault(CodeKeyCollision, "a Go "+t.String()+" has two fields for one key").underKey(name)
		}
		kept = append(kept, equals[0])
		taken[name] = true
	}
	return kept, nil
}

func anyExported(t reflect.Type) bool {
	for i := range t.NumField() {
		if sf := t.Field(i); sf.IsExported() || sf.Anonymous {
			return true
		}
	}
	return false
}

// isTagName is the rule of encoding/json; another name is as if not given.
func isTagName(s string) bool {
	if s == "" {
		return false
	}
	for _, c := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return true
}
