package schema

import (
	"math/big"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/docket-go/docket/core/value"
)

// each runs f with many seeds; a failure names the seed that repeats it.
func each(t *testing.T, n int, f func(t *testing.T, r *rand.Rand)) {
	t.Helper()
	for seed := range uint64(n) {
		f(t, rand.New(rand.NewPCG(seed, 1)))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestInterchangeReturnsTheSameSchema(t *testing.T) {
	t.Parallel()
	each(t, 2000, func(t *testing.T, r *rand.Rand) {
		s := randomSchema(r, 3)
		doc := s.ToMap()
		back, err := FromMap(doc)
		if err != nil || !back.Equal(s) {
			t.Fatalf("FromMap(%s) = %s, %v", text(doc), text(back.ToMap()), err)
		}
		decoded, err := value.Decode([]byte(text(doc)))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := FromMap(decoded); err != nil || !again.Equal(s) || text(again.ToMap()) != text(doc) {
			t.Fatalf("through bytes: %s, %v", text(again.ToMap()), err)
		}
		if c := s.Clone(); !c.Equal(s) || !reflect.DeepEqual(c, s) {
			t.Fatalf("Clone differs: %s", text(c.ToMap()))
		}
		if reasons := back.Check(); reasons != nil {
			t.Fatalf("%s: %v", text(doc), reasons)
		}
	})
}

func TestEqualTellsSchemasApart(t *testing.T) {
	t.Parallel()
	differ := 0
	each(t, 2000, func(t *testing.T, r *rand.Rand) {
		a, b := randomSchema(r, 2), randomSchema(r, 2)
		same := text(a.ToMap()) == text(b.ToMap())
		if a.Equal(b) != same || b.Equal(a) != same {
			t.Fatalf("Equal = %v on %s and %s", !same, text(a.ToMap()), text(b.ToMap()))
		}
		if !same {
			differ++
		}
	})
	if differ < 1000 {
		t.Fatalf("only %d pairs differed", differ)
	}
}

// TestJSONSchemaAgreesWithValidate judges values by the exported document,
// with an evaluator that knows nothing of this package.
func TestJSONSchemaAgreesWithValidate(t *testing.T) {
	t.Parallel()
	valid, invalid := 0, 0
	each(t, 3000, func(t *testing.T, r *rand.Rand) {
		s := randomSchema(r, 2)
		v, err := Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		doc := s.JSONSchema()
		for range 12 {
			x := randomValue(r, 3)
			ok := v.Validate(x) == nil
			if ok {
				valid++
			} else {
				invalid++
			}
			if accepts(doc, x) != ok {
				t.Fatalf("schema %s\nexport %s\nvalue %s: %v", text(s.ToMap()), text(doc), text(x), v.Validate(x))
			}
		}
	})
	if valid < 3000 || invalid < 3000 {
		t.Fatalf("%d valid and %d invalid values prove little", valid, invalid)
	}
}

// accepts is JSON Schema 2020-12 as far as JSONSchema uses it.
func accepts(schema map[string]any, x any) bool {
	if allowed, has := schema["enum"]; has {
		if !slices.ContainsFunc(allowed.([]any), func(v any) bool { return text(v) == text(x) }) {
			return false
		}
	}
	if want, has := schema["type"]; has {
		names, many := want.([]any)
		if !many {
			names = []any{want}
		}
		if !slices.ContainsFunc(names, func(n any) bool { return isOf(n.(string), x) }) {
			return false
		}
	}
	switch x := x.(type) {
	case int64, float64:
		return acceptsNumber(schema, x)
	case string:
		n := int64(utf8.RuneCountInString(x))
		pattern, has := schema["pattern"]
		return within(schema, "minLength", "maxLength", n) && (!has || regexp.MustCompile(pattern.(string)).MatchString(x))
	case []any:
		items, has := schema["items"]
		return within(schema, "minItems", "maxItems", int64(len(x))) &&
			!slices.ContainsFunc(x, func(e any) bool { return has && !accepts(items.(map[string]any), e) })
	case map[string]any:
		return acceptsObject(schema, x)
	}
	return true
}

func acceptsNumber(schema map[string]any, x any) bool {
	if low, has := schema["minimum"]; has && rational(x).Cmp(rational(low)) < 0 {
		return false
	}
	high, has := schema["maximum"]
	return !has || rational(x).Cmp(rational(high)) <= 0
}

func acceptsObject(schema, x map[string]any) bool {
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, has := x[name.(string)]; !has {
			return false
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for key, e := range x {
		sub, declared := properties[key]
		if declared && !accepts(sub.(map[string]any), e) || !declared && schema["additionalProperties"] == false {
			return false
		}
	}
	return true
}

func isOf(name string, x any) bool {
	switch x.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return name == "number" || name == "integer" && rational(x).IsInt()
}

func rational(x any) *big.Rat {
	if n, ok := x.(int64); ok {
		return new(big.Rat).SetInt64(n)
	}
	return new(big.Rat).SetFloat64(x.(float64))
}

func within(schema map[string]any, low, high string, n int64) bool {
	a, hasLow := schema[low].(int64)
	b, hasHigh := schema[high].(int64)
	return (!hasLow || n >= a) && (!hasHigh || n <= b)
}

func TestValidateIsStableAndPure(t *testing.T) {
	t.Parallel()
	each(t, 500, func(t *testing.T, r *rand.Rand) {
		v, err := Compile(randomSchema(r, 3))
		if err != nil {
			t.Fatal(err)
		}
		x := randomValue(r, 4)
		before, first := text(x), v.Validate(x)
		for range 5 {
			if again := v.Validate(value.Clone(x)); !slices.Equal(first, again) {
				t.Fatalf("%v, then %v", first, again)
			}
		}
		if text(x) != before {
			t.Fatalf("Validate changed %s into %s", before, text(x))
		}
	})
}

func TestMaterializeFillsOnceAndKeepsValidity(t *testing.T) {
	t.Parallel()
	filled := 0
	each(t, 3000, func(t *testing.T, r *rand.Rand) {
		field := func() Schema { return List(randomSchema(r, 2)) }
		s := Object(map[string]Schema{"a": field(), "b": randomSchema(r, 2), "c d": randomSchema(r, 2)}).Opened()
		v, err := Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		x := any(map[string]any{"a": randomValue(r, 3), "b": randomValue(r, 3)})
		before := text(x)
		out := v.Materialize(x)
		if text(x) != before {
			t.Fatalf("Materialize changed its input %s into %s", before, text(x))
		}
		if text(out) != before {
			filled++
		}
		if again := v.Materialize(out); text(again) != text(out) {
			t.Fatalf("not idempotent: %s, then %s", text(out), text(again))
		}
		if v.Validate(x) == nil && v.Validate(out) != nil {
			t.Fatalf("%s is valid, %s is not: %v", before, text(out), v.Validate(out))
		}
	})
	if filled < 100 {
		t.Fatalf("only %d values had something to fill", filled)
	}
}

func FuzzSchema(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		f.Add([]byte(text(randomSchema(r, 3).ToMap())))
	}
	f.Add([]byte(`{"type":"list","item":{"type":"object","fields":{"a":{"type":"enum","values":[1,1]}}}}`))
	f.Add([]byte(strings.Repeat(`{"type":"list","item":`, 40) + `1` + strings.Repeat(`}`, 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := value.Decode(data)
		if err != nil {
			return
		}
		s, err := FromMap(doc)
		if err != nil {
			var typed *value.Error
			if !asValueError(err, &typed) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		back, err := FromMap(s.ToMap())
		if err != nil || !back.Equal(s) || text(back.ToMap()) != text(s.ToMap()) {
			t.Fatalf("%s became %s: %v", text(s.ToMap()), text(back.ToMap()), err)
		}
		v, err := Compile(s)
		if (err == nil) != (s.Check() == nil) {
			t.Fatalf("Compile: %v, Check: %v", err, s.Check())
		}
		if err == nil {
			v.Validate(doc)
			v.Materialize(doc)
			if s.Default.Set && v.Validate(v.Materialize(s.Default.Value)) != nil {
				t.Fatal("the default stops being valid once filled in")
			}
		}
		if _, err := value.Encode(s.JSONSchema()); err != nil {
			t.Fatal(err)
		}
	})
}
