package reducer

import (
	"errors"
	"math"
	"testing"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

func TestDefaultTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reducer Reducer
		schema  schema.Schema
		want    string
	}{
		{Last(), schema.String(), "unset"},
		{Last(), schema.String().WithDefault(nil), "null"},
		{First(), schema.String(), "unset"},
		{Append(), numbers, "[]"},
		{Append(), numbers.WithDefault(list{1}), "[1]"},
		{Union(), numbers, "[]"},
		{Merge(), schema.Map(), "{}"},
		{Merge(), schema.Object(map[string]schema.Schema{"a": schema.String().Require()}), "{}"},
		{Sum(), schema.Integer(), "0"},
		{Sum(), schema.Float().WithDefault(0.5), "0.5"},
	} {
		f, err := Compile(c.reducer, c.schema)
		if err != nil {
			t.Fatal(err)
		}
		if got := optional(f.Default()); got != c.want {
			t.Errorf("%s over %s: default %s, want %s", text(c.reducer.ToMap()), text(c.schema.ToMap()), got, c.want)
		}
		if c.reducer.Kind != f.Kind() {
			t.Errorf("kind %s became %s", c.reducer.Kind, f.Kind())
		}
	}
}

func TestCompileReportsTheSchemaFirst(t *testing.T) {
	t.Parallel()
	_, err := Compile(Append(), schema.List(schema.String().Match("(")))
	var typed *schema.Error
	if !errors.As(err, &typed) || typed.Reasons[0].Path != "item.pattern" {
		t.Errorf("%v", err)
	}
}

// TestCompileKeepsNothingOfItsArguments: an editor may go on with both.
func TestCompileKeepsNothingOfItsArguments(t *testing.T) {
	t.Parallel()
	r := Union("id")
	s := people.WithDefault(list{object{"id": 1}})
	f := compile(t, r, s)
	r.By[0] = "name"
	s.Default.Value.([]any)[0].(map[string]any)["id"] = "boom"
	if optional(f.Default()) != `[{"id":1}]` {
		t.Errorf("default %s", optional(f.Default()))
	}
	got, err := f.Reduce(unset, list{object{"id": int64(1), "name": "x"}})
	if err != nil || optional(got) != `[{"id":1}]` {
		t.Errorf("%s, %v", optional(got), err)
	}
}

// TestTheCommittedValueKeepsItsOwnSchema: writes are loose, the commit is not.
func TestTheCommittedValueKeepsItsOwnSchema(t *testing.T) {
	t.Parallel()
	f := compile(t, Merge(), schema.Object(map[string]schema.Schema{
		"a": schema.Integer().Require(), "b": schema.Integer().Require(),
	}))
	half, err := f.Reduce(unset, list{object{"a": int64(1)}})
	if err != nil || f.Validate(half.Value) == nil {
		t.Errorf("half an object was committed: %s, %v", optional(half), err)
	}
	whole, err := f.Reduce(unset, list{object{"a": int64(1)}, object{"b": int64(2)}})
	if err != nil || f.Validate(whole.Value) != nil {
		t.Errorf("%s: %v, %v", optional(whole), f.Validate(whole.Value), err)
	}
	window := compile(t, Append(), numbers.Items(0, 2))
	three, err := window.Reduce(unset, list{list{int64(1), int64(2), int64(3)}})
	if err != nil || window.Validate(three.Value) == nil {
		t.Errorf("max_items was passed: %s, %v", optional(three), err)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code    string
		reducer Reducer
		schema  schema.Schema
		prior   value.Optional
		write   any
	}{
		{CodeSumOverflow, Sum(), schema.Integer(), some(int64(math.MinInt64)), int64(-1)},
		{CodeSumNotFinite, Sum(), schema.Float(), some(-math.MaxFloat64), -math.MaxFloat64},
		{CodeInvalidWrite, Sum(), schema.Integer(), unset, 0.5},
		{CodeInvalidWrite, Sum(), schema.Float(), unset, "1"},
		{CodeInvalidWrite, Merge(), schema.Map(), unset, "1"},
		{CodeInvalidWrite, Union(), numbers, unset, make(chan int)},
		{CodeInvalidPrior, Sum(), schema.Integer(), some(nil), int64(1)},
		{CodeInvalidPrior, Sum(), schema.Float(), some("x"), int64(1)},
		{CodeInvalidPrior, Merge(), schema.Map(), some(list{}), object{}},
		{CodeInvalidPrior, Append(), numbers, some(nil), int64(1)},
	} {
		got, err := compile(t, c.reducer, c.schema).Reduce(c.prior, list{c.write})
		var typed *Error
		if !errors.As(err, &typed) || typed.Code != c.code || got.Set {
			t.Errorf("%s <- %v: %v, %v, want %s", optional(c.prior), c.write, optional(got), err, c.code)
		}
	}
}

func TestInterchangeTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reducer Reducer
		doc     string
	}{
		{Reducer{}, `"last_value"`},
		{First(), `"first_value"`},
		{Append(), `"append"`},
		{Append().OnlyUnique().KeepLast(3), `{"kind":"append","max_length":3,"unique":true}`},
		{Union("id"), `{"by":"id","kind":"union"}`},
		{Union("a", 0), `{"by":["a",0],"kind":"union"}`},
		{Union(0), `{"by":[0],"kind":"union"}`},
		{Merge(), `"merge"`},
		{DeepMerge(), `{"deep":true,"kind":"merge"}`},
		{Sum(), `"sum"`},
	} {
		if got := text(c.reducer.ToMap()); got != c.doc {
			t.Errorf("ToMap = %s, want %s", got, c.doc)
		}
		back, err := FromMap(c.reducer.ToMap())
		if err != nil || !back.Equal(c.reducer) || !back.Clone().Equal(back) {
			t.Errorf("FromMap(%s) = %+v, %v", c.doc, back, err)
		}
	}
}

func TestFromMapRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		doc, path string
		code      value.Code
	}{
		{`null`, "", value.CodeMismatch},
		{`["append"]`, "", value.CodeMismatch},
		{`"max"`, "", value.CodeMismatch},
		{`{}`, "kind", value.CodeMismatch},
		{`{"kind":"max"}`, "kind", value.CodeMismatch},
		{`{"kind":1}`, "kind", value.CodeMismatch},
		{`{"kind":"append","uniq":true}`, "uniq", value.CodeUnknownKey},
		{`{"kind":"append","unique":1}`, "unique", value.CodeMismatch},
		{`{"kind":"append","max_length":1.5}`, "max_length", value.CodeMismatch},
		{`{"kind":"merge","deep":null}`, "deep", value.CodeMismatch},
		{`{"kind":"union","by":1}`, "by", value.CodeMismatch},
		{`{"kind":"union","by":["a",1.5]}`, "by[1]", value.CodeMismatch},
	} {
		doc, err := value.Decode([]byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		_, err = FromMap(doc)
		var typed *value.Error
		if !errors.As(err, &typed) || typed.Path != c.path || typed.Code != c.code {
			t.Errorf("FromMap(%s) = %v, want %s at %q", c.doc, err, c.code, c.path)
		}
	}
	if _, err := FromMap(map[string]any{"kind": make(chan int)}); err == nil {
		t.Error("a channel made it into a reducer")
	}
}

func TestEqualTellsReducersApart(t *testing.T) {
	t.Parallel()
	all := []Reducer{Last(), First(), Append(), Append().OnlyUnique(), Append().KeepLast(1), Union(), Union("a"), Union("b"),
		Union("a", 1), Merge(), DeepMerge(), Sum()}
	for i, a := range all {
		for j, b := range all {
			if a.Equal(b) != (i == j) {
				t.Errorf("Equal(%s, %s) = %v", text(a.ToMap()), text(b.ToMap()), a.Equal(b))
			}
		}
	}
	if !Last().Equal(Reducer{}) {
		t.Error("no reducer is not last_value")
	}
}

func FuzzReducer(f *testing.F) {
	for _, seed := range []string{`"append"`, `{"kind":"union","by":["a",0]}`, `{"kind":"append","unique":true,"max_length":-1}`,
		`{"kind":"merge","deep":true}`, `{"kind":"sum","by":[]}`} {
		f.Add([]byte(seed), []byte(`[[1,{"a":[1]},null],{"a":{"b":1}},1.5,"x"]`))
	}
	f.Fuzz(func(t *testing.T, doc, input []byte) {
		v, err := value.Decode(doc)
		if err != nil {
			return
		}
		r, err := FromMap(v)
		if err != nil {
			var typed *value.Error
			if !errors.As(err, &typed) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if back, err := FromMap(r.ToMap()); err != nil || !back.Equal(r) {
			t.Fatalf("%s became %s: %v", text(r.ToMap()), text(back.ToMap()), err)
		}
		in, err := value.Decode(input)
		if err != nil {
			return
		}
		writes, _ := in.([]any)
		before := text(in)
		for _, s := range []schema.Schema{people, schema.Map(), schema.Integer(), schema.Float()} {
			field, err := Compile(r, s)
			if err != nil {
				continue
			}
			reduceAll(t, field, writes)
		}
		if text(in) != before {
			t.Fatal("Reduce changed its input")
		}
	})
}

// reduceAll proves that a write that validates always folds, save for sums
// that leave their range.
func reduceAll(t *testing.T, f *Field, writes []any) {
	prior := unset
	for _, w := range writes {
		valid := f.ValidateWrite(w) == nil
		next, err := f.Reduce(prior, []any{w})
		var typed *Error
		if err != nil && !errors.As(err, &typed) {
			t.Fatalf("%T: %v", err, err)
		}
		if valid && err != nil && typed.Code != CodeSumOverflow && typed.Code != CodeSumNotFinite {
			t.Fatalf("%s is a valid write: %v", text(w), err)
		}
		if err == nil && valid {
			prior = next
		}
	}
}
