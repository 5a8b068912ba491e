package repotest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// TestJSONSchemaExport has an independent validator read the JSON Schema of random
// schemas and judge random values: it must come to what Validate comes to.
func TestJSONSchemaExport(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	g := &schemaGen{rand.New(rand.NewPCG(seed, 0))}
	accepted, refused := 0, 0
	for n := range 2000 {
		s := g.schema(3)
		v, err := schema.Compile(s)
		if err != nil {
			continue // a default or a bound that doesn't fit: the export is of valid schemas
		}
		theirs := compileJSONSchema(t, s)
		for range 10 {
			x := g.value(s, 3)
			ours := v.Validate(x)
			verdict := theirs.Validate(asJSON(x))
			if (len(ours) == 0) != (verdict == nil) {
				t.Fatalf("seed %d, schema %d: %v\nvalue %v\nValidate: %v\nJSON Schema %v: %v", seed, n, s.ToMap(), x, ours, s.JSONSchema(), verdict)
			}
			if len(ours) == 0 {
				accepted++
			} else {
				refused++
			}
		}
	}
	if accepted < 1000 || refused < 1000 {
		t.Errorf("seed %d: %d accepted and %d refused prove little", seed, accepted, refused)
	}
}

func compileJSONSchema(t *testing.T, s schema.Schema) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///s.json", asJSON(s.JSONSchema())); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("mem:///s.json")
	if err != nil {
		t.Fatalf("%v\n%v", err, s.JSONSchema())
	}
	return compiled
}

// asJSON returns a normalised value as the validator wants its documents.
func asJSON(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = asJSON(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = asJSON(item)
		}
		return out
	default:
		return v
	}
}

type schemaGen struct{ *rand.Rand }

func (g *schemaGen) schema(depth int) schema.Schema {
	types := []schema.Type{schema.TypeString, schema.TypeFloat, schema.TypeInteger, schema.TypeBoolean, schema.TypeMap, schema.TypeEnum}
	if depth > 0 {
		types = append(types, schema.TypeObject, schema.TypeList, schema.TypeObject, schema.TypeList)
	}
	s := schema.Schema{Type: types[g.IntN(len(types))], Required: g.IntN(3) == 0}
	switch s.Type {
	case schema.TypeString:
		s.MinLength, s.MaxLength = g.bounds(0, 4)
		if g.IntN(4) == 0 {
			s.Pattern = []string{"^a", "b$", "[0-9]+", "é"}[g.IntN(4)]
		}
	case schema.TypeFloat, schema.TypeInteger:
		if lo, hi := g.bounds(-3, 3); lo != nil {
			s.Min = *lo
			if hi != nil {
				s.Max = *hi
			}
		}
	case schema.TypeEnum:
		s.Values = []any{"a", int64(1), 1.5, true, []any{int64(1)}, map[string]any{"a": int64(1)}}[:1+g.IntN(6)]
	case schema.TypeObject:
		s.Fields, s.Open = map[string]schema.Schema{}, g.IntN(3) == 0
		for _, name := range []string{"a", "b", "c"}[:g.IntN(4)] {
			s.Fields[name] = g.schema(depth - 1)
		}
	case schema.TypeList:
		item := g.schema(depth - 1)
		s.Item = &item
		s.MinItems, s.MaxItems = g.bounds(0, 3)
	}
	return s
}

func (g *schemaGen) bounds(least, most int64) (lo, hi *int64) {
	a, b := least+g.Int64N(most-least+1), least+g.Int64N(most-least+1)
	if g.IntN(2) == 0 {
		lo = new(min(a, b))
	}
	if g.IntN(2) == 0 {
		hi = new(max(a, b))
	}
	return lo, hi
}

// value returns a value that often fits the schema and often just doesn't.
func (g *schemaGen) value(s schema.Schema, depth int) any {
	if g.IntN(6) == 0 {
		return g.anything(depth)
	}
	switch s.Type {
	case schema.TypeString:
		return []string{"", "a", "ab", "aéb", "b1😀", "aaaaa"}[g.IntN(6)]
	case schema.TypeInteger:
		return g.Int64N(9) - 4
	case schema.TypeFloat:
		return []any{int64(0), 0.5, -2.5, int64(3), 1e300}[g.IntN(5)]
	case schema.TypeBoolean:
		return g.IntN(2) == 0
	case schema.TypeEnum:
		return value.Clone(s.Values[g.IntN(len(s.Values))])
	case schema.TypeMap:
		return map[string]any{fmt.Sprint(g.IntN(3)): g.anything(depth - 1)}
	case schema.TypeObject:
		m := map[string]any{}
		for _, name := range value.Keys(s.Fields) {
			if g.IntN(5) > 0 {
				m[name] = g.value(s.Fields[name], depth-1)
			}
		}
		if g.IntN(6) == 0 {
			m["other"] = true
		}
		return m
	default:
		list := make([]any, g.IntN(4))
		for i := range list {
			list[i] = g.value(*s.Item, depth-1)
		}
		return list
	}
}

func (g *schemaGen) anything(depth int) any {
	all := []any{nil, true, int64(1), int64(math.MaxInt64), int64(math.MinInt64), 1.5, 1e19, -1e19, "a", "", []any{}, map[string]any{}, []any{nil}}
	return value.Clone(all[g.IntN(len(all))])
}
