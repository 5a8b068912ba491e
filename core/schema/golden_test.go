package schema

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// text shows a value in its canonical form.
func text(v any) string {
	b, err := value.Encode(v)
	if err != nil {
		return fmt.Sprintf("(%v)", err)
	}
	return string(b)
}

func tell(b *strings.Builder, reasons []Reason) {
	if len(reasons) == 0 {
		fmt.Fprintf(b, "      ok\n")
	}
	for _, r := range reasons {
		fmt.Fprintf(b, "      %-18s %s\n", r.Code, r)
	}
}

// TestValidateTable is the documentation of what each type accepts.
func TestValidateTable(t *testing.T) {
	t.Parallel()
	address := Object(map[string]Schema{
		"street": String().Require(),
		"zip":    String().Match(`^\d{5}$`),
	})
	cases := []struct {
		about  string
		schema Schema
		values []any
	}{
		{"null is valid unless required", String(), []any{nil, "", "x", int64(1)}},
		{"required refuses null", String().Require(), []any{nil, "x"}},
		{"length counts characters, not bytes", String().Length(2, 3), []any{"é", "éé", "日本語", "日本語で", "😀😀"}},
		{"a pattern matches anywhere unless anchored", String().Match(`b+`), []any{"abc", "ac"}},
		{"an integer is an int64", Integer(), []any{int64(1), 1.5, 1e20, "1", true}},
		{"a float is any number", Float(), []any{int64(1), 1.5, 1e20, int64(9007199254740993), "1.5"}},
		{"bounds are inclusive", Integer().Between(1, 3), []any{int64(0), int64(1), int64(3), int64(4)}},
		{"bounds are exact beyond 2^53", Integer().Between(int64(9007199254740993), nil),
			[]any{int64(9007199254740992), int64(9007199254740993)}},
		{"a float's bound may be fractional", Float().Between(0.5, int64(2)), []any{int64(0), 0.5, int64(2), 2.000001}},
		{"boolean", Boolean(), []any{true, false, int64(1), "true"}},
		{"a map takes any keys", Map(), []any{map[string]any{}, map[string]any{"a": nil}, []any{}}},
		{"an object takes its fields", address, []any{
			map[string]any{"street": "Elm"},
			map[string]any{},
			map[string]any{"street": nil, "zip": "1"},
			map[string]any{"street": "Elm", "zip": nil},
			map[string]any{"street": "Elm", "zap": "1", "a b": nil},
			[]any{},
		}},
		{"an open object takes others, too", address.Opened(), []any{
			map[string]any{"street": "Elm", "zap": "1"},
			map[string]any{"zap": "1"},
		}},
		{"an enum is closed and compares by exact value",
			Enum("on", 1, 1.5, false, []any{1}, map[string]any{"a": 1, "b": 2}, int64(9007199254740993)), []any{
				"on", "off", int64(1), 1.5, "1", true, false, nil, []any{int64(1)}, []any{int64(2)},
				map[string]any{"b": int64(2), "a": int64(1)}, int64(9007199254740993), int64(9007199254740992),
			}},
		{"a list checks length and every item", List(Integer().Require()).Items(1, 3), []any{
			[]any{}, []any{int64(1)}, []any{int64(1), nil, "x", 2.5}, map[string]any{},
		}},
		{"every reason is told, with its path, deep down", Object(map[string]Schema{
			"home":  address.Require(),
			"moves": List(address),
		}), []any{
			map[string]any{},
			map[string]any{
				"home":  map[string]any{"zip": "abc"},
				"moves": []any{map[string]any{"street": int64(1)}, nil, map[string]any{"x": nil}},
				"z":     nil,
			},
		}},
	}
	var b strings.Builder
	for _, c := range cases {
		v, err := Compile(c.schema)
		if err != nil {
			t.Fatalf("%s: %v", c.about, err)
		}
		fmt.Fprintf(&b, "%s\n  %s\n", c.about, text(c.schema.ToMap()))
		for _, x := range c.values {
			fmt.Fprintf(&b, "    %s\n", text(x))
			tell(&b, v.Validate(x))
		}
		b.WriteString("\n")
	}
	golden(t, "validate.golden", b.String())
}

// TestCheckTable is the documentation of what a definition may not say.
func TestCheckTable(t *testing.T) {
	t.Parallel()
	negative := int64(-1)
	loop := List(String())
	loop.Item = &loop
	cases := []struct {
		about  string
		schema Schema
	}{
		{"a sound definition", Object(map[string]Schema{"n": Integer().Between(0, 9).WithDefault(3)})},
		{"no type", Schema{}},
		{"an unknown type, deep down", Object(map[string]Schema{"a": List(Schema{Type: "text"})})},
		{"constraints of another type", Schema{Type: TypeBoolean, Min: int64(1), Max: int64(2), MinLength: &negative,
			MaxLength: &negative, Pattern: "x", MinItems: &negative, MaxItems: &negative, Open: true,
			Fields: map[string]Schema{"a": String()}, Values: []any{"x"}, Item: &Schema{Type: TypeString}}},
		{"a bound of the wrong kind", Object(map[string]Schema{"a": List(Integer().Between(0.5, "9"))})},
		{"a bound that is a bare Go int", Schema{Type: TypeInteger, Min: 3}},
		{"a bound that is no number", Schema{Type: TypeFloat, Min: nan(), Max: inf()}},
		{"an integral bound in the wrong form", Schema{Type: TypeFloat, Min: 3.0}},
		{"max below min", Float().Between(2, 1.5)},
		{"min and max may be equal", Float().Between(2, 2)},
		{"negative lengths", String().Length(-1, 5)},
		{"a negative upper length", Schema{Type: TypeString, MaxLength: &negative}},
		{"lengths the wrong way round", String().Length(5, 4)},
		{"items the wrong way round", List(String()).Items(5, 4)},
		{"a bad pattern", String().Match(`(?=x)`)},
		{"an empty enum", Enum()},
		{"an enum that repeats itself", Enum("a", 1, "a", 1.0)},
		{"an enum with null", Enum("a", nil)},
		{"an enum with what no document can carry", Enum(make(chan int), []any{"\xff"})},
		{"a list without item", Schema{Type: TypeList}},
		{"a default that violates the schema", Object(map[string]Schema{
			"n": Integer().Between(1, nil).WithDefault(0),
			"o": Object(map[string]Schema{"s": String().Require()}).WithDefault(map[string]any{"t": 1}),
		})},
		{"a null default on a required schema", String().Require().WithDefault(nil)},
		{"a null default elsewhere", String().WithDefault(nil)},
		{"a default must hold before those inside it are filled in",
			Object(map[string]Schema{"n": Integer().Require().WithDefault(1)}).WithDefault(map[string]any{})},
		{"a default that is a bare Go int", Schema{Type: TypeInteger, Default: value.Some(3)}},
		{"metadata no document can carry", String().Describe(map[string]any{"a": []any{nil, func() {}}})},
		{"an unknown constraint that is known", Schema{Type: TypeString, Extra: map[string]any{"min": int64(1)}}},
		{"an unknown constraint no document can carry", Schema{Type: TypeString, Extra: map[string]any{"x": "\xff"}}},
		{"a field name that is no text", Object(map[string]Schema{"\xff": String()})},
		{"a schema inside itself", loop},
	}
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "%s\n", c.about)
		reasons := c.schema.Check()
		tell(&b, reasons)
		_, err := Compile(c.schema)
		if (err == nil) != (len(reasons) == 0) {
			t.Errorf("%s: Check says %v, Compile says %v", c.about, reasons, err)
		}
	}
	golden(t, "check.golden", b.String())
}

func TestJSONSchemaTable(t *testing.T) {
	t.Parallel()
	cases := []Schema{
		String(),
		String().Require().Length(1, 80).Match(`^\p{L}+$`).Describe(map[string]any{"title": "Name", "description": "As printed", "x": 1}),
		Integer(),
		Integer().Require().Between(1, nil),
		Float().Between(0.5, 2).WithDefault(1),
		Boolean().WithDefault(nil),
		Map(),
		Enum("a", 1, nil),
		Enum("a", 1).Require(),
		List(Enum("a").Require()).Items(1, 2),
		Object(nil),
		Object(map[string]Schema{"b": String().Require(), "a": List(Boolean())}),
		Object(map[string]Schema{"a": String()}).Opened().Require(),
	}
	cases[7].Values = cases[7].Values[:2]
	var b strings.Builder
	for _, s := range cases {
		fmt.Fprintf(&b, "%s\n  %s\n", text(s.ToMap()), text(s.JSONSchema()))
	}
	golden(t, "jsonschema.golden", b.String())
}
