package schema

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/value"
)

func asValueError(err error, to **value.Error) bool { return errors.As(err, to) }

func compile(t *testing.T, s Schema) *Validator {
	t.Helper()
	v, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFromMapRefuses names the place of every mistake in a document.
func TestFromMapRefuses(t *testing.T) {
	t.Parallel()
	cases := []struct{ doc, path, code string }{
		{`1`, "", "type_mismatch"},
		{`{}`, "type", "type_mismatch"},
		{`{"type":1}`, "type", "type_mismatch"},
		{`{"type":"text"}`, "type", "unknown_type"},
		{`{"type":"string","required":null}`, "required", "type_mismatch"},
		{`{"type":"string","metadata":[]}`, "metadata", "type_mismatch"},
		{`{"type":"string","min_length":"1"}`, "min_length", "type_mismatch"},
		{`{"type":"string","max_length":1.5}`, "max_length", "type_mismatch"},
		{`{"type":"string","pattern":1}`, "pattern", "type_mismatch"},
		{`{"type":"integer","min":"1"}`, "min", "type_mismatch"},
		{`{"type":"integer","max":null}`, "max", "type_mismatch"},
		{`{"type":"list","min_items":true}`, "min_items", "type_mismatch"},
		{`{"type":"list","max_items":1e300}`, "max_items", "type_mismatch"},
		{`{"type":"list","item":{"type":"list","item":[]}}`, "item.item", "type_mismatch"},
		{`{"type":"object","open":1}`, "open", "type_mismatch"},
		{`{"type":"object","fields":[]}`, "fields", "type_mismatch"},
		{`{"type":"object","fields":{"a":{"type":"list","item":{"type":"float","min":"x"}}}}`, "fields.a.item.min", "type_mismatch"},
		{`{"type":"object","fields":{"a b":{"type":"x"}}}`, `fields["a b"].type`, "unknown_type"},
		{`{"type":"enum","values":{}}`, "values", "type_mismatch"},
	}
	for _, c := range cases {
		doc, err := value.Decode([]byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		_, err = FromMap(doc)
		var typed *value.Error
		if !errors.As(err, &typed) || typed.Path != c.path || string(typed.Code) != c.code {
			t.Errorf("FromMap(%s) = %v, want %s at %q", c.doc, err, c.code, c.path)
		}
	}
	if _, err := FromMap(map[string]any{"type": "string", "x": make(chan int)}); err == nil {
		t.Error("a channel made it into a schema")
	}
}

// TestNestingIsBounded proves that neither a document nor a schema that
// contains itself can exhaust the stack.
func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	nest := func(n int) Schema {
		s := String()
		for range n - 1 {
			s = List(s)
		}
		return s
	}
	if reasons := nest(MaxDepth).Check(); reasons != nil {
		t.Errorf("%d levels: %v", MaxDepth, reasons)
	}
	if _, err := FromMap(nest(MaxDepth).ToMap()); err != nil {
		t.Errorf("%d levels: %v", MaxDepth, err)
	}
	if reasons := nest(MaxDepth + 1).Check(); len(reasons) != 1 || reasons[0].Code != CodeTooDeep {
		t.Errorf("%d levels: %v", MaxDepth+1, reasons)
	}
	if _, err := FromMap(nest(MaxDepth + 1).ToMap()); err == nil {
		t.Errorf("%d levels were read", MaxDepth+1)
	}
	loop := List(String())
	loop.Item = &loop
	if _, err := FromMap(loop.ToMap()); err == nil || !loop.Clone().Equal(loop.Clone()) || loop.Check() == nil {
		t.Error("a schema inside itself was taken")
	}
	loop.JSONSchema()
}

// TestUnknownConstraintsAreKept proves that a later version's document
// survives a round trip through this one.
func TestUnknownConstraintsAreKept(t *testing.T) {
	t.Parallel()
	doc := map[string]any{"type": "string", "format": "email", "x": map[string]any{"n": int64(9007199254740993)}}
	s, err := FromMap(doc)
	if err != nil || !value.Equal(s.ToMap(), doc) {
		t.Fatalf("%s, %v", text(s.ToMap()), err)
	}
	if compile(t, s).Validate("no email") != nil {
		t.Error("an unknown constraint had a say")
	}
}

func TestKnownKeysAreComplete(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(known) {
		t.Fatal("known is searched, so it must be sorted")
	}
	for _, key := range known {
		s := Schema{}
		_ = s.set(key, "x", "", 0)
		if s.Extra != nil {
			t.Errorf("%s is known but not read", key)
		}
	}
}

// TestNothingIsShared mutates everything that went in and came out.
func TestNothingIsShared(t *testing.T) {
	t.Parallel()
	fields := map[string]Schema{"a": Enum([]any{"x"}).WithDefault([]any{"x"}).Describe(map[string]any{"m": []any{"x"}}),
		"l": List(Boolean()).Items(0, 1), "s": String().Length(0, 1)}
	s := Object(fields)
	s.Extra = map[string]any{"x": []any{"x"}}
	v := compile(t, s)
	want := text(v.Schema().ToMap())

	filled := v.Materialize(map[string]any{}).(map[string]any)
	filled["a"].([]any)[0] = "boom"
	doc := s.ToMap()
	doc["fields"].(map[string]any)["a"].(map[string]any)["default"].([]any)[0] = "boom"
	doc["fields"].(map[string]any)["a"].(map[string]any)["values"].([]any)[0].([]any)[0] = "boom"
	export := s.JSONSchema()
	export["properties"].(map[string]any)["a"].(map[string]any)["enum"].([]any)[0].([]any)[0] = "boom"
	doc["x"].([]any)[0] = "boom"
	if got := text(s.ToMap()); got != want {
		t.Errorf("the schema became %s", got)
	}
	*fields["l"].MaxItems = 0
	*fields["s"].MaxLength = 0
	fields["a"].Default.Value.([]any)[0] = "boom"
	fields["a"].Values[0].([]any)[0] = "boom"
	fields["a"].Metadata["m"] = "boom"
	fields["b"] = String().Require()
	delete(v.Schema().Fields, "a")
	s.Extra["x"].([]any)[0] = "boom"

	if got := text(v.Schema().ToMap()); got != want {
		t.Errorf("the validator's schema became %s", got)
	}
	if got := text(v.Materialize(map[string]any{})); got != `{"a":["x"]}` {
		t.Errorf("the default became %s", got)
	}
	if reasons := v.Validate(map[string]any{"a": []any{"x"}}); reasons != nil {
		t.Errorf("the enum changed: %v", reasons)
	}
	if v.Validate(map[string]any{"b": "x"}) == nil {
		t.Error("a field was added to a compiled schema")
	}
}

// TestFromMapTakesNoPartOfItsDocument keeps a live editor's document and the
// schema apart.
func TestFromMapTakesNoPartOfItsDocument(t *testing.T) {
	t.Parallel()
	doc := map[string]any{"type": "enum", "values": []any{"a"}, "metadata": map[string]any{"k": "v"}}
	s, err := FromMap(doc)
	if err != nil {
		t.Fatal(err)
	}
	doc["values"].([]any)[0] = "boom"
	doc["metadata"].(map[string]any)["k"] = "boom"
	if s.Values[0] != "a" || s.Metadata["k"] != "v" {
		t.Errorf("the schema follows its document: %s", text(s.ToMap()))
	}
}

func TestMaterializeTable(t *testing.T) {
	t.Parallel()
	retry := Object(map[string]Schema{
		"attempts": Integer().WithDefault(3),
		"jitter":   Float(),
	})
	s := Object(map[string]Schema{
		"retry":  retry.WithDefault(map[string]any{}),
		"backup": retry,
		"steps":  List(retry),
		"model":  String().WithDefault(nil),
	})
	v := compile(t, s)
	for _, c := range []struct{ in, out string }{
		{`{}`, `{"model":null,"retry":{"attempts":3}}`},
		{`{"retry":null}`, `{"model":null,"retry":null}`},
		{`{"retry":{"attempts":null}}`, `{"model":null,"retry":{"attempts":null}}`},
		{`{"backup":{},"model":"m"}`, `{"backup":{"attempts":3},"model":"m","retry":{"attempts":3}}`},
		{`{"model":"m","retry":{"jitter":0.5},"steps":[{},{"attempts":1},null]}`,
			`{"model":"m","retry":{"attempts":3,"jitter":0.5},"steps":[{"attempts":3},{"attempts":1},null]}`},
		{`[{}]`, `[{}]`},
		{`null`, `null`},
		{`{"retry":5,"model":"m"}`, `{"model":"m","retry":5}`},
	} {
		in, err := value.Decode([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		if got := text(v.Materialize(in)); got != c.out {
			t.Errorf("Materialize(%s) = %s, want %s", c.in, got, c.out)
		}
	}
}

// TestReasonsNeverQuoteTheValue: failures are durable, and values may be
// secrets.
func TestReasonsNeverQuoteTheValue(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2"
	for _, s := range []Schema{Integer(), String().Length(0, 3), String().Match("^x$"), Enum("a"), List(String()), Boolean()} {
		for _, r := range compile(t, s).Validate(secret) {
			if strings.Contains(r.String(), "hunter") {
				t.Errorf("%s tells the value: %s", s.Type, r)
			}
		}
	}
}

func TestErrorTellsTheFirstReasonsAndTheCount(t *testing.T) {
	t.Parallel()
	reasons := compile(t, List(String().Require())).Validate(make([]any, 12))
	err := &Error{Reasons: reasons}
	if len(reasons) != 12 || !strings.HasSuffix(err.Error(), "[7]: a value is required; and 4 more") {
		t.Errorf("%d reasons: %s", len(reasons), err)
	}
}

func TestWithinJoinsPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ under, path, want string }{
		{"", "a", "a"}, {"x", "", "x"}, {"x", "a.b", "x.a.b"}, {"x", "[1].b", "x[1].b"}, {"x", `["a b"]`, `x["a b"]`},
	} {
		got := Within(c.under, []Reason{{Path: c.path}})[0].Path
		if got != c.want {
			t.Errorf("%q within %q = %q, want %q", c.path, c.under, got, c.want)
		}
	}
}

func TestAMatchAllocatesNothing(t *testing.T) {
	s := Object(map[string]Schema{
		"items": List(Object(map[string]Schema{"id": Integer().Require().Between(1, nil), "tag": Enum("a", "b")})),
		"name":  String().Require().Length(1, 80),
		"rate":  Float().Between(0, 1),
	})
	v := compile(t, s)
	x := map[string]any{
		"name": "x", "rate": 0.5,
		"items": []any{map[string]any{"id": int64(1), "tag": "a"}, map[string]any{"id": int64(2)}, nil},
	}
	if n := testing.AllocsPerRun(100, func() {
		if v.Validate(x) != nil {
			t.Fatal("invalid")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
