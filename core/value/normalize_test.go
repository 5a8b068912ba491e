package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

type (
	color   string
	celsius float32
	octet   uint8
	digest  [4]byte
	grade   uint8 // has a text form
	address struct {
		Street string `json:"street"`
		Zip    int    `json:"zip,omitempty"`
	}
	pointy  struct{ n int }
	broken  struct{}
	bomb    struct{}
	sick    struct{}
	rude    struct{ A int }
	linked  struct{ Next *linked }
	looping map[string]looping
	ring    []ring
	self    *self
)

func (l grade) MarshalText() ([]byte, error)   { return fmt.Appendf(nil, "L%d", uint8(l)), nil }
func (p *pointy) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `{"n":%d.0}`, p.n), nil }
func (broken) MarshalJSON() ([]byte, error)    { return []byte(`{"a":1,"a":2}`), nil }
func (bomb) MarshalJSON() ([]byte, error)      { panic("boom") }
func (sick) MarshalText() ([]byte, error)      { return nil, errSick }
func (rude) MarshalText() ([]byte, error)      { return []byte("\xff"), nil }
func (digest) MarshalText() ([]byte, error)    { return []byte("d1ge57"), nil }
func (c celsius) IsZero() bool                 { return c == -273.15 }

type celsius2 struct{}

func (*celsius2) IsZero() bool { panic("no zero") }

var errSick = errors.New("sick")

func TestNormalize(t *testing.T) {
	t.Parallel()
	n, s := 7, "text"
	var nilPointer *address
	var nilSlice []string
	var nilMap map[string]int
	var nilMarshaler *pointy
	when := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	for name, tt := range map[string]struct{ in, want any }{
		"nil":                      {nil, nil},
		"int":                      {int(-3), int64(-3)},
		"int8":                     {int8(-3), int64(-3)},
		"int16":                    {int16(3), int64(3)},
		"int32":                    {int32(3), int64(3)},
		"int64":                    {int64(math.MinInt64), int64(math.MinInt64)},
		"uint":                     {uint(3), int64(3)},
		"uint8":                    {uint8(3), int64(3)},
		"uint16":                   {uint16(3), int64(3)},
		"uint32":                   {uint32(3), int64(3)},
		"uint64":                   {uint64(math.MaxInt64), int64(math.MaxInt64)},
		"uintptr":                  {uintptr(3), int64(3)},
		"float32":                  {float32(0.5), 0.5},
		"float32, not a decimal":   {float32(0.1), float64(float32(0.1))},
		"float64, integral":        {3.0, int64(3)},
		"float64, -0":              {math.Copysign(0, -1), int64(0)},
		"float64, -2^63":           {-float64(1 << 63), int64(math.MinInt64)},
		"float64, 2^63":            {float64(1 << 63), float64(1 << 63)},
		"named float":              {celsius(1.5), 1.5},
		"named string":             {color("red"), "red"},
		"json.Number":              {json.Number("1.50e1"), int64(15)},
		"time.Duration":            {time.Second, int64(1e9)},
		"pointer":                  {&n, int64(7)},
		"pointer to interface":     {func() any { var v any = &s; return &v }(), "text"},
		"nil pointer":              {nilPointer, nil},
		"nil slice":                {nilSlice, []any{}},
		"nil map":                  {nilMap, map[string]any{}},
		"nil []any":                {[]any(nil), []any{}},
		"nil map[string]any":       {map[string]any(nil), map[string]any{}},
		"nil pointer to marshaler": {nilMarshaler, nil},
		"array":                    {[2]string{"a", "b"}, []any{"a", "b"}},
		"slices":                   {[][]int{{1}, nil}, []any{[]any{int64(1)}, []any{}}},
		"any in a slice":           {[]any{1, []int{2}, &s}, []any{int64(1), []any{int64(2)}, "text"}},
		"named keys":               {map[color]any{"red": 1}, map[string]any{"red": int64(1)}},
		"map of maps":              {map[string]map[string]string{"a": {"b": "c"}}, map[string]any{"a": map[string]any{"b": "c"}}},
		"struct":                   {address{Street: "x"}, map[string]any{"street": "x"}},
		"slice of struct pointers": {[]*address{{"x", 1}, nil}, []any{map[string]any{"street": "x", "zip": int64(1)}, nil}},
		"empty struct":             {struct{}{}, map[string]any{}},
		"time":                     {when, "2026-03-01T11:00:00.123456Z"},
		"pointer to time":          {&when, "2026-03-01T11:00:00.123456Z"},
		"time in a struct":         {struct{ At time.Time }{when}, map[string]any{"At": "2026-03-01T11:00:00.123456Z"}},
		"zero time":                {time.Time{}, "0001-01-01T00:00:00Z"},
		"pointer marshaler":        {&pointy{3}, map[string]any{"n": int64(3)}},
		"pointer marshaler, value": {pointy{3}, map[string]any{"n": int64(3)}},
		"pointer marshaler in map": {map[string]pointy{"p": {4}}, map[string]any{"p": map[string]any{"n": int64(4)}}},
		"raw JSON":                 {json.RawMessage(` {"a": [1.0]} `), map[string]any{"a": []any{int64(1)}}},
		"nil raw JSON":             {json.RawMessage(nil), nil},
		"big.Int":                  {big.NewInt(5), int64(5)},
		"big.Int by value":         {*big.NewInt(5), int64(5)},
		"text marshaler":           {net.IPv4(10, 0, 0, 1), "10.0.0.1"},
		"text marshaler, number":   {grade(3), "L3"},
		"list of text marshalers":  {[]grade{1, 2}, []any{"L1", "L2"}},
		"bytes that marshal":       {digest{1}, "d1ge57"},
		"odd text":                 {"\x00<>&\u2028\ufffd", "\x00<>&\u2028\ufffd"},
	} {
		got, err := Normalize(tt.in)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %#v, %v; want %#v", name, got, err, tt.want)
			continue
		}
		if again := mustNormalize(t, got); !reflect.DeepEqual(again, got) {
			t.Errorf("%s: not idempotent: %#v", name, again)
		}
		if back, err := Decode([]byte(mustEncode(t, got))); err != nil || !reflect.DeepEqual(back, got) {
			t.Errorf("%s: reads back as %#v, %v", name, back, err)
		}
	}
}

func TestNormalizeRefuses(t *testing.T) {
	t.Parallel()
	type item struct {
		When any `json:"when"`
	}
	loop := map[string]any{"a": int64(1)}
	loop["self"] = loop
	list := []any{nil}
	list[0] = list
	chain := &linked{}
	chain.Next = &linked{Next: chain}
	named := looping{}
	named["x"] = looping{"y": named}
	r := ring{nil}
	r[0] = r
	var p self
	p = &p
	var x any
	x = &x
	for name, tt := range map[string]struct {
		in   any
		code Code
		path string
	}{
		"func deep":             {map[string]any{"items": []item{{1}, {2}, {3}, {func() {}}}}, CodeUnsupportedType, "items[3].when"},
		"chan":                  {make(chan int), CodeUnsupportedType, ""},
		"complex":               {[]any{1i}, CodeUnsupportedType, "[0]"},
		"bytes":                 {map[string]any{"data": []byte("x")}, CodeUnsupportedType, "data"},
		"nil bytes":             {[]byte(nil), CodeUnsupportedType, ""},
		"named bytes":           {[]octet{1}, CodeUnsupportedType, ""},
		"array of bytes":        {[2]byte{}, CodeUnsupportedType, ""},
		"int keys":              {map[int]string{1: "x"}, CodeUnsupportedType, ""},
		"text keys":             {map[grade]string{1: "x"}, CodeUnsupportedType, ""},
		"any keys":              {map[any]any{"a": 1}, CodeUnsupportedType, ""},
		"opaque struct":         {map[string]any{"e": errors.New("x")}, CodeUnsupportedType, "e"},
		"atomic":                {struct{ N *atomic.Int64 }{new(atomic.Int64)}, CodeUnsupportedType, "N"},
		"uint64":                {uint64(1 << 63), CodeOutOfRange, ""},
		"big.Int":               {struct{ N *big.Int }{new(big.Int).Lsh(big.NewInt(1), 70)}, CodeOutOfRange, "N"},
		"json.Number, wide":     {json.Number("18446744073709551617"), CodeOutOfRange, ""},
		"json.Number, text":     {[]any{json.Number("1 ")}, CodeSyntax, "[0]"},
		"json.Number, empty":    {json.Number(""), CodeSyntax, ""},
		"json.Number, hex":      {json.Number("0x1"), CodeSyntax, ""},
		"year 10000":            {time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), CodeOutOfRange, ""},
		"string":                {[]string{"ok", "\xff"}, CodeInvalidUTF8, "[1]"},
		"lone surrogate":        {"\xed\xa0\x80", CodeInvalidUTF8, ""},
		"key":                   {map[string]any{"k": map[string]int{"\xff": 1}}, CodeInvalidUTF8, "k[\"\ufffd\"]"},
		"key of any":            {map[string]any{"a": 1, "\xff": 1}, CodeInvalidUTF8, "[\"\ufffd\"]"},
		"named string":          {color("\xff"), CodeInvalidUTF8, ""},
		"text marshaler":        {[]any{rude{}}, CodeInvalidUTF8, "[0]"},
		"marshaler, duplicates": {map[string]any{"x y": broken{}}, CodeDuplicateKey, `["x y"].a`},
		"marshaler, panic":      {[]any{0, bomb{}}, CodeMarshal, "[1]"},
		"marshaler, error":      {map[string]any{"s": sick{}}, CodeMarshal, "s"},
		"raw JSON, empty":       {json.RawMessage{}, CodeSyntax, ""},
		"self map":              {loop, CodeCycle, "self"},
		"self list":             {list, CodeCycle, "[0]"},
		"pointer ring":          {chain, CodeCycle, "Next.Next"},
		"named map":             {named, CodeCycle, "x.y"},
		"named slice":           {r, CodeCycle, "[0]"},
		"pointer to itself":     {p, CodeCycle, ""},
		"interface to itself":   {x, CodeCycle, ""},
		"first in key order":    {map[string]any{"c": 1i, "a": 1, "b": func() {}, "d": "\xff"}, CodeUnsupportedType, "b"},
	} {
		_, err := Normalize(tt.in)
		t.Run(name, func(t *testing.T) { wantFault(t, err, tt.code, tt.path) })
	}
	// A pointer chain that is no cycle, and one error among shared pointers.
	deep := any(1)
	for range 2 * MaxDepth {
		next := deep
		deep = &next
	}
	_, err := Normalize([]any{deep})
	wantFault(t, err, CodeTooDeep, "[0]")
	_, err = Normalize(struct {
		A celsius2 `json:"a,omitzero"`
	}{})
	wantFault(t, err, CodeMarshal, "a")
	if _, err := Normalize(sick{}); !errors.Is(err, errSick) {
		t.Errorf("the marshaler's error is lost: %v", err)
	}
	if _, err := Normalize([]byte("x")); !strings.Contains(err.Error(), "encode it") {
		t.Errorf("no advice: %v", err)
	}
}

// Sharing is not a cycle: one container may occur twice.
func TestNormalizeCopiesSharedContainers(t *testing.T) {
	t.Parallel()
	shared := map[string]any{"n": int64(1)}
	p := &address{Street: "s"}
	in := map[string]any{"a": shared, "b": []any{shared, shared}, "p": []*address{p, p}}
	out := mustNormalize(t, in).(map[string]any)
	out["a"].(map[string]any)["n"] = int64(2)
	shared["n"] = int64(3)
	if got := mustEncode(t, out["b"]); got != `[{"n":1},{"n":1}]` {
		t.Errorf("shared after normalisation: %s", got)
	}
	// The same, where an error makes the walk watch for cycles.
	in["z"] = func() {}
	_, err := Normalize(in)
	wantFault(t, err, CodeUnsupportedType, "z")
}

func TestNormalizeMap(t *testing.T) {
	t.Parallel()
	for _, v := range []any{nil, map[string]any(nil), map[string]int(nil), (*address)(nil)} {
		if m, err := NormalizeMap(v); err != nil || m == nil || len(m) != 0 {
			t.Errorf("%#v: got %v, %v", v, m, err)
		}
	}
	if m, err := NormalizeMap(&address{Street: "x"}); err != nil || !Equal(m, map[string]any{"street": "x"}) {
		t.Errorf("got %v, %v", m, err)
	}
	for _, v := range []any{1, "x", []int{}, true} {
		_, err := NormalizeMap(v)
		wantCode(t, fmt.Sprint(v), err, CodeMismatch)
	}
	_, err := NormalizeMap(map[string]any{"f": func() {}})
	wantFault(t, err, CodeUnsupportedType, "f")
}

// Whatever encoding/json decodes, and we accept, means the same to both.
func TestNormalizeAgreesWithDecode(t *testing.T) {
	t.Parallel()
	r := seeded(t)
	for range 2000 {
		v := randomValue(r, 4)
		var loose any
		dec := json.NewDecoder(strings.NewReader(mustEncode(t, v)))
		dec.UseNumber()
		if err := dec.Decode(&loose); err != nil {
			t.Fatal(err)
		}
		if got := mustNormalize(t, loose); !reflect.DeepEqual(got, v) {
			t.Fatalf("%#v normalises to %#v", v, got)
		}
		if got := mustNormalize(t, v); !reflect.DeepEqual(got, v) {
			t.Fatalf("%#v normalises to %#v", v, got)
		}
	}
}

// TestNormalizeSharedContainers stops a value that is small in memory and would be
// huge as a tree.
func TestNormalizeSharedContainers(t *testing.T) {
	t.Parallel()
	var list any = []any{}
	var object any = map[string]any{}
	type pair struct{ A, B any }
	var reflected any = pair{}
	for range 60 {
		list = []any{list, list}
		object = map[string]any{"a": object, "b": object}
		reflected = &pair{reflected, reflected}
	}
	wide := make([]any, 10_000)
	if _, err := normalizeWithin(wide, 10_000); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	for name, v := range map[string]any{"lists": list, "objects": object, "structs": reflected, "typed": [][2]any{{list, list}}} {
		if _, err := normalizeWithin(v, 10_000); err == nil || err.Code != CodeTooLarge {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
