package reducer

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/name, which is also meant to be read.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, []byte(got)) {
		t.Errorf("%s differs (run with -update and read the diff); got:\n%s", path, got)
	}
}

func text(v any) string {
	b, err := value.Encode(v)
	if err != nil {
		return fmt.Sprintf("(%v)", err)
	}
	return string(b)
}

func optional(o value.Optional) string {
	if !o.Set {
		return "unset"
	}
	return text(o.Value)
}

func outcome(o value.Optional, err error) string {
	if err != nil {
		return err.Error()
	}
	return optional(o)
}

type list = []any
type object = map[string]any

var (
	unset   = value.Optional{}
	some    = value.Some
	numbers = schema.List(schema.Float())
	people  = schema.List(schema.Map())
)

// TestReduceTable is the documentation of what each reducer makes of writes.
// "writes" are in writer order; null is a write, absent is none.
func TestReduceTable(t *testing.T) {
	t.Parallel()
	type row struct {
		prior  value.Optional
		writes []any
	}
	cases := []struct {
		about   string
		reducer Reducer
		schema  schema.Schema
		rows    []row
	}{
		{"last_value: the greatest writer wins, null is a value", Reducer{}, schema.String(), []row{
			{unset, nil}, {unset, list{"a", "b"}}, {some("a"), list{nil}}, {some("a"), list{""}}, {some("a"), nil},
		}},
		{"last_value: a default is there before any write", Last(), schema.String().WithDefault("d"), []row{
			{unset, nil}, {unset, list{"a"}},
		}},
		{"last_value: an explicit null default is a value", Last(), schema.String().WithDefault(nil), []row{{unset, nil}}},
		{"first_value: once set it stays, even null", First(), schema.String(), []row{
			{unset, nil}, {unset, list{"a", "b"}}, {some("a"), list{"b"}}, {some(nil), list{"b"}}, {unset, list{nil, "b"}},
		}},
		{"first_value: a default counts as set", First(), schema.String().WithDefault("d"), []row{{unset, list{"a"}}}},
		{"first_value: so does an explicit null default", First(), schema.String().WithDefault(nil), []row{{unset, list{"a"}}}},
		{"append: a list write concatenates, anything else is one element", Append(), numbers, []row{
			{unset, nil},
			{unset, list{int64(1), list{int64(2), int64(3)}}},
			{some(list{int64(1)}), list{nil}},
			{some(list{int64(1)}), list{list{}}},
			{some(list{int64(1)}), list{list{list{int64(2)}}}},
			{some(list{int64(1)}), list{object{}}},
			{some(list{int64(1)}), list{int64(1), 1.5, "1"}},
		}},
		{"append: a default is the base", Append(), schema.List(schema.String()).WithDefault(list{"a"}), []row{
			{unset, nil}, {unset, list{"b"}}, {some(list{}), list{"b"}},
		}},
		{"append unique: equal values are one, wherever they come from", Append().OnlyUnique(), numbers, []row{
			{unset, list{int64(1), "1", true, nil, list{nil, int64(1), 1.5}}},
			{some(list{int64(2), int64(2)}), list{int64(1)}},
			{some(list{int64(9007199254740993)}), list{int64(9007199254740992), 9007199254740994.0}},
			{unset, list{object{"a": int64(1), "b": list{}}, object{"b": list{}, "a": int64(1)}, list{list{int64(1)}, list{int64(1)}}}},
		}},
		{"append max_length: the last n are kept", Append().KeepLast(2), numbers, []row{
			{unset, list{int64(1)}}, {some(list{int64(1), int64(2)}), list{int64(3)}}, {unset, list{list{int64(1), int64(2), int64(3), int64(4)}}},
		}},
		{"append unique and max_length: unique comes first", Append().OnlyUnique().KeepLast(2), numbers, []row{
			{some(list{int64(1), int64(2)}), list{int64(2), int64(1), int64(3)}},
		}},
		{"union: duplicates are dropped, the first wins", Union(), numbers, []row{
			{unset, list{list{int64(1), int64(2), int64(1)}, int64(2)}}, {some(list{int64(2)}), list{int64(1), int64(2)}},
		}},
		{"union: a default with duplicates loses them with the first write", Union(), numbers.WithDefault(list{1, 1}), []row{
			{unset, nil}, {unset, list{list{}}},
		}},
		{"union by key: null is a key's value, elements without the key compare whole", Union("id"), people, []row{
			{unset, list{
				object{"id": int64(1), "v": "a"}, object{"id": int64(1), "v": "b"}, object{"id": nil}, object{"id": nil, "v": "c"},
				object{"v": "d"}, object{"v": "d"}, object{"v": "e"}, int64(1), int64(1),
			}},
		}},
		{"union by path", Union("who", 0, "id"), people, []row{
			{unset, list{
				object{"who": list{object{"id": "x"}}, "n": int64(1)}, object{"who": list{object{"id": "x"}}, "n": int64(2)},
				object{"who": list{}}, object{"who": object{"0": "x"}}, object{"who": list{}},
			}},
		}},
		{"union: an element without the key is never taken for one with it", Union("id"), schema.List(schema.String()), []row{
			{unset, list{object{"id": "x"}, "x", "x"}},
		}},
		{"merge: the later writer wins key by key, null is a value", Merge(), schema.Map(), []row{
			{unset, nil},
			{unset, list{object{"a": int64(1), "b": int64(1)}, object{"b": int64(2)}}},
			{some(object{"a": int64(1)}), list{object{"a": nil}}},
			{some(object{"a": int64(1)}), list{object{}}},
			{some(object{"a": object{"x": int64(1)}}), list{object{"a": object{"y": int64(2)}}}},
		}},
		{"merge: a default is the base", Merge(), schema.Map().WithDefault(object{"k": 1}), []row{{unset, list{object{"a": int64(1)}}}}},
		{"merge deep: maps inside maps are merged, lists are replaced", DeepMerge(), schema.Map(), []row{
			{some(object{"a": object{"x": int64(1)}, "l": list{int64(1)}}), list{object{"a": object{"y": int64(2)}, "l": list{}}}},
			{some(object{"a": object{"x": int64(1)}}), list{object{"a": int64(1)}, object{"a": object{"z": int64(1)}}}},
			{some(object{"a": int64(1)}), list{object{"a": object{"x": object{"p": int64(1)}}}, object{"a": object{"x": object{"q": int64(2)}}}}},
			{some(object{"a": object{"x": int64(1)}}), list{object{"a": object{}}, object{"a": object{"x": nil}}}},
		}},
		{"sum of integers is checked in writer order", Sum(), schema.Integer(), []row{
			{unset, nil}, {unset, list{int64(1), int64(2)}}, {some(int64(1)), list{int64(-5)}},
			{some(int64(math.MaxInt64)), list{int64(0)}},
			{some(int64(math.MaxInt64)), list{int64(1), int64(-1)}},
			{some(int64(math.MaxInt64)), list{int64(-1), int64(1)}},
			{some(int64(math.MinInt64)), list{int64(-1)}},
			{unset, list{1.5}}, {unset, list{nil}},
		}},
		{"sum: a default is the base", Sum(), schema.Integer().WithDefault(10), []row{{unset, list{int64(5)}}}},
		{"sum of floats: an integral result has an integer's form", Sum(), schema.Float(), []row{
			{unset, list{0.5}}, {some(0.5), list{0.5}}, {some(int64(1)), list{0.1, 0.2}}, {some(0.1), list{0.2, int64(1)}},
			{some(math.MaxFloat64), list{math.MaxFloat64}},
			{some(math.MaxFloat64), list{math.MaxFloat64, -math.MaxFloat64}},
			{some(-math.MaxFloat64), list{-math.MaxFloat64}},
			{some(int64(math.MaxInt64)), list{int64(1)}},
			{some(1e16), list{int64(1), int64(1)}},
		}},
		{"a prior value the reducer can't add to", Append(), numbers, []row{{some("x"), list{int64(1)}}}},
		{"a fragment that is none", Merge(), schema.Map(), []row{{unset, list{object{}, list{}}}, {unset, list{nil}}}},
	}
	var b strings.Builder
	for _, c := range cases {
		f, err := Compile(c.reducer, c.schema)
		if err != nil {
			t.Fatalf("%s: %v", c.about, err)
		}
		fmt.Fprintf(&b, "%s\n  %s over %s\n", c.about, text(c.reducer.ToMap()), text(c.schema.ToMap()))
		for _, r := range c.rows {
			fmt.Fprintf(&b, "    %s <- %s\n      = %s\n", optional(r.prior), text(list(r.writes)), outcome(f.Reduce(r.prior, r.writes)))
		}
		b.WriteString("\n")
	}
	golden(t, "reduce.golden", b.String())
}

// TestWriteTable is the documentation of which writes each reducer takes.
func TestWriteTable(t *testing.T) {
	t.Parallel()
	strict := schema.Object(map[string]schema.Schema{
		"id":   schema.Integer().Require(),
		"name": schema.Object(map[string]schema.Schema{"last": schema.String().Require()}).Require(),
	})
	writes := list{nil, list{}, object{}, int64(1), 1.5, "x", list{int64(1), nil, "x"},
		object{"id": int64(1)}, object{"id": nil}, object{"name": object{}}, object{"z": nil}}
	cases := []struct {
		about   string
		reducer Reducer
		schema  schema.Schema
	}{
		{"last_value takes the whole value", Last(), schema.Integer().Between(0, 9).Require()},
		{"first_value takes the whole value", First(), strict},
		{"append takes an element or a list of elements", Append(), schema.List(schema.Integer()).Items(5, 9)},
		{"append of required elements refuses null", Append(), schema.List(schema.Integer().Require())},
		{"union takes the same", Union(), schema.List(strict)},
		{"append to a list of lists: a bare element is concatenated", Append(), schema.List(schema.List(schema.Integer()))},
		{"merge takes a fragment: its own required fields may be absent or null", Merge(), strict.Require()},
		{"merge into a map takes any map", Merge(), schema.Map()},
		{"sum takes an integer, without the field's bounds", Sum(), schema.Integer().Between(100, 200).WithDefault(100)},
		{"sum of floats takes any number", Sum(), schema.Float()},
	}
	var b strings.Builder
	for _, c := range cases {
		f, err := Compile(c.reducer, c.schema)
		if err != nil {
			t.Fatalf("%s: %v", c.about, err)
		}
		fmt.Fprintf(&b, "%s\n  %s over %s\n", c.about, text(c.reducer.ToMap()), text(c.schema.ToMap()))
		for _, w := range writes {
			fmt.Fprintf(&b, "    %-20s %s\n", text(w), verdict(f.ValidateWrite(w)))
		}
		b.WriteString("\n")
	}
	golden(t, "write.golden", b.String())
}

func verdict(reasons []schema.Reason) string {
	if len(reasons) == 0 {
		return "ok"
	}
	var parts []string
	for _, r := range reasons {
		parts = append(parts, r.Code+" "+r.String())
	}
	return strings.Join(parts, "; ")
}

// TestCheckTable is the documentation of what a reducer may not be.
func TestCheckTable(t *testing.T) {
	t.Parallel()
	cases := []struct {
		about   string
		reducer Reducer
		schema  schema.Schema
	}{
		{"no reducer is last_value, which fits every type", Reducer{}, schema.Boolean()},
		{"an unknown kind", Reducer{Kind: "max"}, schema.Integer()},
		{"options of another kind", Reducer{Kind: KindSum, Unique: true, MaxLength: 1, By: list{"a"}, Deep: true}, schema.Integer()},
		{"unique belongs to append", Union().OnlyUnique(), numbers},
		{"a negative window", Append().KeepLast(-1), numbers},
		{"a path that is none", Union("a", -1, 1.5, nil), people},
		{"append needs a list", Append(), schema.String()},
		{"union needs a list", Union(), schema.Map()},
		{"merge needs a map or object", Merge(), numbers},
		{"sum needs a number", Sum(), schema.String()},
		{"a null default can't accumulate", Append(), numbers.WithDefault(nil)},
		{"not for merge", Merge(), schema.Map().WithDefault(nil)},
		{"not for sum", Sum(), schema.Float().WithDefault(nil)},
		{"elements that are lists are ambiguous (a warning)", Append(), schema.List(schema.List(schema.String()))},
		{"so are enums with lists (a warning)", Union(), schema.List(schema.Enum("a", list{1}))},
	}
	var b strings.Builder
	for _, c := range cases {
		reasons := c.reducer.Check(c.schema)
		fmt.Fprintf(&b, "%s\n", c.about)
		if len(reasons) == 0 {
			b.WriteString("    ok\n")
		}
		stops := false
		for _, r := range reasons {
			fmt.Fprintf(&b, "    %-24s %s\n", r.Code, r)
			stops = stops || r.Code != CodeAmbiguous
		}
		_, err := Compile(c.reducer, c.schema)
		var typed *schema.Error
		if stops != (err != nil) || err != nil && !errors.As(err, &typed) {
			t.Errorf("%s: Check says %v, Compile says %v", c.about, reasons, err)
		}
	}
	golden(t, "check.golden", b.String())
}
