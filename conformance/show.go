package conformance

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/docket-go/docket/core/record"
)

// show writes a request or an answer for people: field names, no zero fields,
// long bytes as their length and checksum, times in microseconds.
func show(v any) string {
	var b strings.Builder
	showValue(&b, reflect.ValueOf(v))
	return b.String()
}

func showValue(b *strings.Builder, v reflect.Value) {
	switch x := v.Interface().(type) {
	case time.Time:
		b.WriteString(showTime(x))
		return
	case time.Duration:
		b.WriteString(x.String())
		return
	case record.Checksum:
		fmt.Fprintf(b, "%.8s…", x.String())
		return
	case []byte:
		b.WriteString(showBytes(x))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		showStruct(b, v)
	case reflect.Slice:
		showList(b, v)
	case reflect.String:
		b.WriteString(showString(v.String()))
	default:
		fmt.Fprint(b, v.Interface())
	}
}

func showStruct(b *strings.Builder, v reflect.Value) {
	b.WriteByte('{')
	sep := ""
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			continue
		}
		b.WriteString(sep + v.Type().Field(i).Name + ":")
		showValue(b, v.Field(i))
		sep = " "
	}
	b.WriteByte('}')
}

// showList shows the first elements of a long list.
func showList(b *strings.Builder, v reflect.Value) {
	const most = 8
	b.WriteByte('[')
	for i := range min(v.Len(), most) {
		if i > 0 {
			b.WriteByte(' ')
		}
		showValue(b, v.Index(i))
	}
	if v.Len() > most {
		fmt.Fprintf(b, " … %d in all", v.Len())
	}
	b.WriteByte(']')
}

func showTime(t time.Time) string {
	if t.IsZero() {
		return "zero"
	}
	return t.Format("2006-01-02T15:04:05.999999999Z07:00")
}

func showBytes(data []byte) string {
	if len(data) <= 24 {
		return strconv.Quote(string(data))
	}
	return fmt.Sprintf("%d bytes (%.8s…)", len(data), record.Sum(data))
}

func showString(s string) string {
	if len(s) > 64 {
		return fmt.Sprintf("%q… (%d bytes)", s[:24], len(s))
	}
	return strconv.Quote(s)
}
