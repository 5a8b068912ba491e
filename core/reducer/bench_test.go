package reducer

import (
	"testing"

	"github.com/docket-go/docket/core/schema"
)

// BenchmarkReduce folds one write of two elements into a prior value of 1000.
func BenchmarkReduce(b *testing.B) {
	texts := make(list, 1000)
	entries := make(object, 1000)
	for i := range texts {
		texts[i] = "element " + string(rune('a'+i%26)) + string(rune('a'+i/26))
		entries[texts[i].(string)] = int64(i)
	}
	for _, c := range []struct {
		name    string
		reducer Reducer
		schema  schema.Schema
		prior   any
		write   any
	}{
		{"last", Last(), schema.Map(), entries, entries},
		{"append", Append(), schema.List(schema.String()), texts, list{"x", "y"}},
		{"unique", Append().OnlyUnique(), schema.List(schema.String()), texts, list{"x", "y"}},
		{"merge", Merge(), schema.Map(), entries, object{"x": int64(1), "y": int64(2)}},
		{"sum", Sum(), schema.Integer(), int64(1), int64(2)},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, err := Compile(c.reducer, c.schema)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			writes := list{c.write}
			for b.Loop() {
				if _, err := f.Reduce(some(c.prior), writes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
