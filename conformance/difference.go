package conformance

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/docket-go/docket/core/record"
)

// scalars tells two different single values on one line. Values of many parts are
// difference's.
func scalars(want, got any) (text string, differs bool) {
	if !isScalar(want) || reflect.TypeOf(want) != reflect.TypeOf(got) || reflect.DeepEqual(want, got) {
		return "", false
	}
	return fmt.Sprintf("got %s, want %s", show(got), show(want)), true
}

func isScalar(v any) bool {
	switch v.(type) {
	case record.Checksum:
		return true
	case nil:
		return false
	}
	switch kind := reflect.TypeOf(v).Kind(); kind {
	case reflect.Bool, reflect.String:
		return true
	default:
		return kind >= reflect.Int && kind <= reflect.Float64
	}
}

// difference lists the parts in which two values differ, a line each: path, one
// value, an arrow, the other. It is "" for equal values, and the same text in
// every process. It is cmp.Equal, which is slow, behind a test that is fast.
func difference(a, b any, opts ...cmp.Option) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	var found parts
	if cmp.Equal(a, b, append(opts[:len(opts):len(opts)], wholeBytes, wholeSums, cmp.Reporter(&found))...) {
		return ""
	}
	return found.text()
}

// Bytes and checksums are told whole, not digit by digit.
var (
	wholeBytes = cmp.FilterValues(func(a, b []byte) bool { return len(a)+len(b) > 0 }, cmp.Comparer(bytes.Equal))
	wholeSums  = cmp.Comparer(func(a, b record.Checksum) bool { return a == b })
)

const (
	mostParts = 24 // that are told of one difference
	partWidth = 120
)

// parts is a cmp.Reporter that keeps the differing parts.
type parts struct {
	path  cmp.Path
	lines []string
	more  int
}

// PushStep descends into a part.
func (p *parts) PushStep(step cmp.PathStep) { p.path = append(p.path, step) }

// PopStep leaves it.
func (p *parts) PopStep() { p.path = p.path[:len(p.path)-1] }

// Report is told about each part that has no parts.
func (p *parts) Report(r cmp.Result) {
	switch {
	case r.Equal():
	case len(p.lines) == mostParts:
		p.more++
	default:
		a, b := p.path.Last().Values()
		line := showPart(a, b) + " → " + showPart(b, a)
		if where := p.where(); where != "" {
			line = where + ": " + line
		}
		p.lines = append(p.lines, line)
	}
}

func (p *parts) text() string {
	lines := p.lines
	if p.more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", p.more))
	}
	return strings.Join(lines, "\n")
}

// where is the path as Go has it, from the value that is compared.
func (p *parts) where() string {
	var b strings.Builder
	for _, step := range p.path {
		switch s := step.(type) {
		case cmp.StructField:
			b.WriteString("." + s.Name())
		case cmp.SliceIndex:
			i, j := s.SplitKeys()
			b.WriteString("[" + strconv.Itoa(max(i, j)) + "]")
		case cmp.MapIndex:
			b.WriteString("[" + show(s.Key().Interface()) + "]")
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// showPart shows a part beside its counterpart.
func showPart(v, other reflect.Value) string {
	if !v.IsValid() {
		return "absent"
	}
	switch x := v.Interface().(type) {
	case nil:
		return "nil"
	case []byte:
		if len(x) <= partWidth && x != nil {
			return strconv.Quote(string(x))
		}
	case record.Checksum:
		// Two that share their first digits would look alike.
		if o, ok := counterpart(other); ok && o != x && shortSum(o) == shortSum(x) {
			return x.String()
		}
	}
	if v.Kind() == reflect.Slice && v.IsNil() {
		return "nil"
	}
	return ellipsis(show(v.Interface()), partWidth)
}

func counterpart(v reflect.Value) (sum record.Checksum, ok bool) {
	if v.IsValid() {
		sum, ok = v.Interface().(record.Checksum)
	}
	return sum, ok
}

func shortSum(c record.Checksum) string { return c.String()[:12] + "…" }
