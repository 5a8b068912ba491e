package wire

import (
	"encoding/base64"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docket-go/docket/core/value"
)

// decode is the inverse of encode. It is strict: a field that the type doesn't
// have, or of the wrong form, is Malformed with its path.
func decode(object map[string]any, path string, into any) error {
	if wrong := decodeStruct(object, path, reflect.ValueOf(into).Elem()); wrong != nil {
		return wrong
	}
	return nil
}

func decodeStruct(object map[string]any, path string, into reflect.Value) *Malformed {
	names := fieldNames(into.Type())
	known := 0
	for i, name := range names {
		encoded, present := object[name]
		if !present {
			continue
		}
		known++
		if wrong := decodeValue(encoded, path+"."+name, into.Field(i)); wrong != nil {
			return wrong
		}
	}
	if known == len(object) {
		return nil
	}
	for _, name := range value.Keys(object) {
		if !slices.Contains(names, name) {
			return malformed(path, "there is no field %q; it has %s", value.Cut(name, 64), strings.Join(names, ", "))
		}
	}
	return nil
}

func decodeValue(encoded any, path string, into reflect.Value) *Malformed {
	switch into.Type() {
	case timeType:
		micros, wrong := decodeInt(encoded, path)
		if wrong != nil {
			return wrong
		}
		into.Set(reflect.ValueOf(time.UnixMicro(micros).UTC()))
		return nil
	case bytesType, checksumType:
		return decodeBytes(encoded, path, into)
	}
	switch into.Kind() {
	case reflect.String:
		text, ok := encoded.(string)
		if !ok {
			return wrongForm(path, "text", encoded)
		}
		into.SetString(text)
	case reflect.Bool:
		yes, ok := encoded.(bool)
		if !ok {
			return wrongForm(path, "true or false", encoded)
		}
		into.SetBool(yes)
	case reflect.Int, reflect.Int64:
		n, wrong := decodeInt(encoded, path)
		if wrong != nil {
			return wrong
		}
		if into.OverflowInt(n) {
			return malformed(path, "%d doesn't fit", n)
		}
		into.SetInt(n)
	case reflect.Slice:
		return decodeList(encoded, path, into)
	case reflect.Struct:
		object, ok := encoded.(map[string]any)
		if !ok {
			return wrongForm(path, "an object", encoded)
		}
		return decodeStruct(object, path, into)
	}
	return nil
}

func decodeInt(encoded any, path string) (int64, *Malformed) {
	text, ok := encoded.(string)
	if !ok {
		return 0, wrongForm(path, "a decimal number in a string", encoded)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text {
		return 0, malformed(path, "%q is not a decimal number of 64 bits", value.Cut(text, 32))
	}
	return n, nil
}

func decodeBytes(encoded any, path string, into reflect.Value) *Malformed {
	text, ok := encoded.(string)
	if !ok {
		return wrongForm(path, "base64 text", encoded)
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return malformed(path, "not base64: %v", err)
	}
	if into.Type() == bytesType {
		if len(data) > 0 {
			into.SetBytes(data)
		}
		return nil
	}
	if len(data) != into.Len() {
		return malformed(path, "%d bytes, where a checksum has %d", len(data), into.Len())
	}
	reflect.Copy(into, reflect.ValueOf(data))
	return nil
}

func decodeList(encoded any, path string, into reflect.Value) *Malformed {
	list, ok := encoded.([]any)
	if !ok {
		return wrongForm(path, "a list", encoded)
	}
	if len(list) == 0 {
		return nil
	}
	items := reflect.MakeSlice(into.Type(), len(list), len(list))
	for i, item := range list {
		if wrong := decodeValue(item, value.PathIndex(path, i), items.Index(i)); wrong != nil {
			return wrong
		}
	}
	into.Set(items)
	return nil
}

func wrongForm(path, want string, got any) *Malformed {
	form := map[bool]string{true: "null", false: "something else"}[got == nil]
	switch got.(type) {
	case string:
		form = "a string"
	case bool:
		form = "a boolean"
	case int64, float64:
		form = "a number"
	case []any:
		form = "a list"
	case map[string]any:
		form = "an object"
	}
	return malformed(path, "want %s, got %s", want, form)
}
