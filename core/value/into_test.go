package value

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net"
	"reflect"
	"testing"
	"time"
)

type grumpy struct{ seen string }

func (g *grumpy) UnmarshalJSON(data []byte) error {
	if g.seen = string(data); g.seen == `"panic"` {
		panic("grumpy")
	}
	if g.seen == `"fail"` {
		return errSick
	}
	return nil
}

type order struct {
	ID     string         `json:"id"`
	Total  int            `json:"total"`
	Rate   float64        `json:"rate"`
	Tags   []string       `json:"tags"`
	Labels map[color]int8 `json:"labels"`
	At     time.Time      `json:"at"`
	Ship   *address       `json:"ship"`
	Any    any            `json:"any"`
	Pair   [2]bool        `json:"pair"`
	Quoted int            `json:"quoted,string"`
	Base2
}

type Base2 struct {
	Owner string `json:"owner"`
}

func TestIntoRoundTrip(t *testing.T) {
	t.Parallel()
	want := order{
		ID: "A7", Total: 3, Rate: 2, Tags: []string{"x"}, Labels: map[color]int8{"red": -1},
		At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Ship: &address{"s", 1}, Any: []any{int64(1)},
		Pair: [2]bool{true, false}, Quoted: 9, Base2: Base2{"o"},
	}
	v := mustNormalize(t, want)
	var got order
	if err := Into(v, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	got.Any.([]any)[0] = "changed"
	if !Equal(v, mustNormalize(t, want)) {
		t.Error("the destination shares a list with the value")
	}
}

func TestIntoScalars(t *testing.T) {
	t.Parallel()
	seven := 7
	for name, tt := range map[string]struct{ v, want any }{
		"bool":                {true, true},
		"string":              {"x", "x"},
		"named":               {"red", color("red")},
		"int8":                {int64(-128), int8(-128)},
		"uint64":              {int64(math.MaxInt64), uint64(math.MaxInt64)},
		"float64 of int":      {int64(1 << 53), float64(1 << 53)},
		"float32":             {0.1, float32(0.1)},
		"float32 of int":      {int64(1 << 24), float32(1 << 24)},
		"float64, large":      {1e300, 1e300},
		"number":              {int64(9007199254740993), json.Number("9007199254740993")},
		"number, float":       {1e21, json.Number("1e+21")},
		"pointer":             {int64(7), &seven},
		"nil pointer":         {nil, (*int)(nil)},
		"nil slice":           {nil, []int(nil)},
		"nil map":             {nil, map[string]int(nil)},
		"empty slice":         {[]any{}, []int{}},
		"text unmarshaler":    {"10.0.0.1", net.ParseIP("10.0.0.1")},
		"json unmarshaler":    {map[string]any{"b": 1.5, "a": nil}, grumpy{`{"a":null,"b":1.5}`}},
		"unmarshaler of null": {nil, grumpy{"null"}},
		"raw JSON":            {[]any{int64(1)}, json.RawMessage("[1]")},
		"big.Int":             {int64(12), *big.NewInt(12)},
	} {
		dst := reflect.New(reflect.TypeOf(tt.want))
		if err := Into(tt.v, dst.Interface()); err != nil || !reflect.DeepEqual(dst.Elem().Interface(), tt.want) {
			t.Errorf("%s: got %#v, %v; want %#v", name, dst.Elem(), err, tt.want)
		}
	}
	var got any = "old"
	if err := Into(nil, &got); err != nil || got != nil {
		t.Errorf("null into any: %v, %v", got, err)
	}
}

func TestIntoRefuses(t *testing.T) {
	t.Parallel()
	object := func(k string, v any) map[string]any { return map[string]any{k: v} }
	for name, tt := range map[string]struct {
		v    any
		dst  any
		code Code
		path string
	}{
		"not a pointer":       {int64(1), 1, CodeUnsupportedType, ""},
		"nil pointer":         {int64(1), (*int)(nil), CodeUnsupportedType, ""},
		"nil":                 {int64(1), nil, CodeUnsupportedType, ""},
		"case variant":        {object("ID", "x"), new(order), CodeUnknownKey, "ID"},
		"both cases":          {map[string]any{"id": "x", "ID": "y"}, new(order), CodeUnknownKey, "ID"},
		"folded beyond ASCII": {object("\u212aind", "x"), new(Base), CodeUnknownKey, "[\"\u212aind\"]"},
		"unknown key":         {object("color", "x"), new(order), CodeUnknownKey, "color"},
		"Go name of a tag":    {object("Street", "x"), new(address), CodeUnknownKey, "Street"},
		"nested":              {object("ship", object("zip", "x")), new(order), CodeMismatch, "ship.zip"},
		"list item":           {object("tags", []any{"a", int64(1)}), new(order), CodeMismatch, "tags[1]"},
		"map item":            {object("labels", object("red hot", int64(200))), new(order), CodeOutOfRange, `labels["red hot"]`},
		"null int":            {object("total", nil), new(order), CodeMismatch, "total"},
		"null struct":         {nil, new(order), CodeMismatch, ""},
		"null time":           {nil, new(time.Time), CodeMismatch, ""},
		"fraction":            {1.5, new(int), CodeMismatch, ""},
		"wide":                {1e20, new(int), CodeOutOfRange, ""},
		"int8":                {int64(128), new(int8), CodeOutOfRange, ""},
		"uint":                {int64(-1), new(uint), CodeOutOfRange, ""},
		"uint8":               {int64(256), new(uint8), CodeOutOfRange, ""},
		"float64, inexact":    {int64(1<<53 + 1), new(float64), CodeOutOfRange, ""},
		"float64, max":        {int64(math.MaxInt64), new(float64), CodeOutOfRange, ""},
		"float32, inexact":    {int64(1<<24 + 1), new(float32), CodeOutOfRange, ""},
		"float32, wide":       {1e300, new(float32), CodeOutOfRange, ""},
		"string of number":    {int64(1), new(string), CodeMismatch, ""},
		"number of string":    {"1", new(json.Number), CodeMismatch, ""},
		"bool of number":      {int64(1), new(bool), CodeMismatch, ""},
		"list of object":      {map[string]any{}, new([]int), CodeMismatch, ""},
		"map of list":         {[]any{}, new(map[string]int), CodeMismatch, ""},
		"short array":         {[]any{true}, new([2]bool), CodeMismatch, ""},
		"bytes":               {"eA==", new([]byte), CodeUnsupportedType, ""},
		"int keys":            {map[string]any{}, new(map[int]int), CodeUnsupportedType, ""},
		"func":                {int64(1), new(func()), CodeUnsupportedType, ""},
		"interface":           {int64(1), new(error), CodeUnsupportedType, ""},
		"time":                {"yesterday", new(time.Time), CodeMismatch, ""},
		"quoted, not text":    {object("quoted", int64(1)), new(order), CodeMismatch, "quoted"},
		"quoted, bad":         {object("quoted", "1 2"), new(order), CodeTrailingBytes, "quoted"},
		"unmarshaler, panic":  {[]any{"panic"}, new([]grumpy), CodeMarshal, "[0]"},
		"unmarshaler, error":  {"fail", new(*grumpy), CodeMarshal, ""},
		"text of number":      {int64(1), new(net.IP), CodeMismatch, ""},
		"opaque struct":       {map[string]any{}, new(pointy), CodeUnsupportedType, ""},
		"unexported embedded": {object("hidden", int64(1)), new(struct{ *inner }), CodeUnsupportedType, ""},
		"first in key order":  {map[string]any{"zz": 1, "rate": "x", "id": int64(1)}, new(order), CodeMismatch, "id"},
	} {
		err := Into(tt.v, tt.dst)
		t.Run(name, func(t *testing.T) { wantFault(t, err, tt.code, tt.path) })
	}
	if err := Into("fail", new(grumpy)); !errors.Is(err, errSick) {
		t.Errorf("the unmarshaler's error is lost: %v", err)
	}
}

func TestIntoLeavesTheDestinationOnError(t *testing.T) {
	t.Parallel()
	base := &Base{"old", "old"}
	type holder struct {
		*Base
		Tags map[string]int
		Ship *address
		Bad  int
	}
	ship := &address{"old", 1}
	dst := holder{Base: base, Tags: map[string]int{"old": 1}, Ship: ship}
	v := map[string]any{"id": "new", "Tags": map[string]any{"new": int64(2)}, "Ship": map[string]any{"street": "new"}, "Bad": "x"}
	err := Into(v, &dst)
	wantFault(t, err, CodeMismatch, "Bad")
	want := holder{Base: &Base{"old", "old"}, Tags: map[string]int{"old": 1}, Ship: &address{"old", 1}}
	if !reflect.DeepEqual(dst, want) {
		t.Errorf("a failure changed the destination: %+v", dst)
	}
	v["Bad"] = int64(1)
	if err := Into(v, &dst); err != nil {
		t.Fatal(err)
	}
	want = holder{Base: &Base{"new", "old"}, Tags: map[string]int{"new": 2}, Ship: &address{Street: "new"}, Bad: 1}
	if !reflect.DeepEqual(dst, want) || base.ID != "old" || ship.Street != "old" {
		t.Errorf("got %+v %+v, base %+v", dst, dst.Base, base)
	}
	// An embedded pointer is made only when a key needs it.
	var empty holder
	if err := Into(map[string]any{"Bad": int64(1)}, &empty); err != nil || empty.Base != nil {
		t.Errorf("got %+v, %v", empty, err)
	}
	if err := Into(map[string]any{"Kind": "k"}, &empty); err != nil || empty.Base.Kind != "k" || empty.Bad != 1 {
		t.Errorf("got %+v, %v", empty, err)
	}
}
