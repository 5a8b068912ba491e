package schema

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/docket-go/docket/core/value"
)

func nan() float64 { return math.NaN() }
func inf() float64 { return math.Inf(1) }

// randomSchema returns a sound schema, biased to small and colliding parts.
func randomSchema(r *rand.Rand, depth int) Schema {
	types := Types()
	if depth == 0 {
		types = []Type{TypeString, TypeFloat, TypeInteger, TypeBoolean, TypeMap, TypeEnum}
	}
	s := Schema{Type: types[r.IntN(len(types))], Required: r.IntN(3) == 0}
	half := func() bool { return r.IntN(2) == 0 }
	switch s.Type {
	case TypeString:
		if half() {
			s = s.Length(int64(r.IntN(2)), int64(2+r.IntN(2)))
		}
		if half() {
			s.Pattern = []string{"a", "^é", "b$", "^$", "[0-9]"}[r.IntN(5)]
		}
	case TypeInteger:
		if half() {
			s.Min = []any{int64(math.MinInt64), int64(-1), int64(0)}[r.IntN(3)]
		}
		if half() {
			s.Max = []any{int64(2), int64(1) << 53, int64(math.MaxInt64)}[r.IntN(3)]
		}
	case TypeFloat:
		if half() {
			s.Min = []any{int64(-1), 0.5, -1e300}[r.IntN(3)]
		}
		if half() {
			s.Max = []any{int64(2), 2.5, 1e20}[r.IntN(3)]
		}
	case TypeEnum:
		s.Values = []any{"a", int64(1), 0.5, true, []any{}, map[string]any{"a": int64(1)}}[r.IntN(3):]
	case TypeList:
		item := randomSchema(r, depth-1)
		s.Item = &item
		if half() {
			s = s.Items(int64(r.IntN(2)), int64(1+r.IntN(2)))
		}
	case TypeObject:
		s.Open = half()
		s.Fields = map[string]Schema{}
		for _, name := range []string{"a", "b", "c d"}[:r.IntN(4)] {
			s.Fields[name] = randomSchema(r, depth-1)
		}
	}
	annotate(r, &s)
	return s
}

func annotate(r *rand.Rand, s *Schema) {
	if r.IntN(4) == 0 {
		s.Metadata = map[string]any{"title": "T", "n": int64(1)}
	}
	if r.IntN(4) == 0 {
		s.Extra = map[string]any{"x-unit": "km"}
	}
	if r.IntN(2) == 0 {
		return
	}
	v, err := Compile(*s)
	if err != nil {
		return
	}
	for range 20 { // a default that fits, if luck has one
		if x := randomValue(r, 3); v.Validate(x) == nil {
			s.Default = value.Some(x)
			return
		}
	}
}

// randomValue returns a normalised value, biased to what randomSchema asks for.
func randomValue(r *rand.Rand, depth int) any {
	n := 6
	if depth > 0 {
		n = 8
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2, 3:
		return []any{int64(-1), int64(0), int64(1), int64(2), int64(1)<<53 + 1, int64(math.MaxInt64), int64(math.MinInt64),
			0.5, 2.5, 1e20, -1e300, 9223372036854775808.0, -9223372036854777856.0}[r.IntN(13)]
	case 4, 5:
		return strings.Repeat([]string{"a", "b", "é", "😀", "1", ""}[r.IntN(6)], r.IntN(4))
	case 6:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = randomValue(r, depth-1)
		}
		return list
	}
	m := map[string]any{}
	for _, key := range []string{"a", "b", "c d", "z"} {
		if r.IntN(2) == 0 {
			m[key] = randomValue(r, depth-1)
		}
	}
	return m
}
