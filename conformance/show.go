package conformance

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// show writes a request or an answer for people: field names, no zero fields,
// long bytes as their length and checksum, times around the case's first Now as
// distances from it, which it calls T.
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
	case graph.Ref:
		b.WriteString(x.String())
		return
	case ports.Scope:
		b.WriteString(strings.TrimSuffix(string(x.Kind)+" "+x.Tenant, " "))
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
		_, checksum := v.Field(i).Interface().(record.Checksum) // the bytes show theirs
		if checksum || v.Field(i).IsZero() {
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
	if d := t.Sub(epoch); d == 0 {
		return "T"
	} else if d.Abs() < 400*24*time.Hour {
		return "T" + signed(d).String()
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

// signed prints a duration with its sign.
type signed time.Duration

func (s signed) String() string {
	if s < 0 {
		return time.Duration(s).String()
	}
	return "+" + time.Duration(s).String()
}
