package wire

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/value"
)

// The types that don't travel as their kind.
var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	bytesType    = reflect.TypeFor[[]byte]()
	checksumType = reflect.TypeFor[record.Checksum]()
)

// encode turns a request or an answer into what travels: an object whose fields
// are the Go fields in snake case, without those that are zero. Integers and
// times are decimal strings, bytes base64.
func encode(v any, path string) (map[string]any, error) {
	return encodeStruct(reflect.ValueOf(v), path)
}

func encodeStruct(v reflect.Value, path string) (map[string]any, error) {
	object := make(map[string]any, v.NumField())
	for i, name := range fieldNames(v.Type()) {
		field := v.Field(i)
		if field.IsZero() {
			continue
		}
		encoded, err := encodeValue(field, path+"."+name)
		if err != nil {
			return nil, err
		}
		object[name] = encoded
	}
	return object, nil
}

func encodeValue(v reflect.Value, path string) (any, error) {
	switch v.Type() {
	case timeType:
		return encodeTime(v.Interface().(time.Time), path)
	case bytesType:
		return base64.StdEncoding.EncodeToString(v.Bytes()), nil
	case checksumType:
		sum := v.Interface().(record.Checksum)
		return base64.StdEncoding.EncodeToString(sum[:]), nil
	}
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return nil, malformed(path, "text must be valid UTF-8")
		}
		return v.String(), nil
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int64: // time.Duration too: nanoseconds
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			item, err := encodeValue(v.Index(i), value.PathIndex(path, i))
			if err != nil {
				return nil, err
			}
			list[i] = item
		}
		return list, nil
	case reflect.Struct:
		return encodeStruct(v, path)
	}
	return nil, malformed(path, "a %s can't travel", v.Type()) // the port has none (ADR 0002)
}

// encodeTime gives microseconds since 1970, rounded down: finer parts don't
// count (VAL-3).
func encodeTime(t time.Time, path string) (any, error) {
	if t = value.Time(t); !time.UnixMicro(t.UnixMicro()).Equal(t) {
		return nil, malformed(path, "a time so far from 1970 that its microseconds aren't an int64")
	}
	return strconv.FormatInt(t.UnixMicro(), 10), nil
}

var namesOfTypes sync.Map // reflect.Type → []string

// fieldNames gives the names of a struct's fields as they travel.
func fieldNames(t reflect.Type) []string {
	if known, ok := namesOfTypes.Load(t); ok {
		return known.([]string)
	}
	names := make([]string, t.NumField())
	for i := range names {
		field := t.Field(i)
		if !field.IsExported() || field.Anonymous {
			panic(fmt.Sprintf("wire: %s.%s isn't plain data", t, field.Name))
		}
		names[i] = snakeCase(field.Name)
	}
	namesOfTypes.Store(t, names)
	return names
}

// snakeCase turns RunID into run_id and NextAfterSeq into next_after_seq.
func snakeCase(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) {
			afterLower := unicode.IsLower(runes[i-1])
			beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || beforeLower {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
