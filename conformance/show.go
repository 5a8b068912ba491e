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
	case record.Checksum:
		b.WriteString(shortSum(x))
		return
	case record.Run:
		b.WriteString(showRun(x))
		return
	case record.Event:
		b.WriteString(showEvent(x))
		return
	case record.Transition:
		b.WriteString(showTransition(x))
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

// showTransition shows what tells one transition of a run from the next: where it
// leads, what comes after it, and how many events it brings.
func showTransition(t record.Transition) string {
	then := string(t.Schedule.Kind)
	if !t.Schedule.At.IsZero() {
		then += " " + showTime(t.Schedule.At)
	}
	return fmt.Sprintf("{%s then %s, %d events, %s}", showProgress(t.Run), then, len(t.Events), showBytes(t.Run.Document))
}

func showRun(r record.Run) string {
	return fmt.Sprintf("{%s, %s}", showProgress(r), showBytes(r.Document))
}

// showProgress shows how far a run is, in the order in which a reader needs it:
// the rest of a long line is cut. Graph and started_at never change.
func showProgress(r record.Run) string {
	text := fmt.Sprintf("%s seq %d %s/%s step %d events %d at %s", showString(r.ID), r.CheckpointSeq, r.Status, r.CheckpointType, r.Step,
		r.EventSeq, showTime(r.UpdatedAt))
	if r.OpenInterrupts != 0 {
		text += fmt.Sprintf(" interrupts %d", r.OpenInterrupts)
	}
	if !r.FinishedAt.IsZero() {
		text += " finished " + showTime(r.FinishedAt)
	}
	return text
}

func showEvent(e record.Event) string {
	return fmt.Sprintf("{%s #%d %s step %d %s at %s}", showString(e.RunID), e.Seq, e.Type, e.Step, showBytes(e.Payload), showTime(e.Time))
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
	return fmt.Sprintf("%d bytes (%s)", len(data), shortSum(record.Sum(data)))
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

// ellipsis ends a text that is longer than width.
func ellipsis(text string, width int) string {
	if runes := []rune(text); len(runes) > width {
		return string(runes[:max(width, 1)-1]) + "…"
	}
	return text
}
