package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
)

// documents are a run's state in small and in large.
func documents(b *testing.B) map[string]map[string]any {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	item := func(i int) map[string]any {
		return map[string]any{
			"id": fmt.Sprintf("item-%d", i), "amount": int64(r.IntN(1e6)), "rate": float64(r.IntN(1e5)) / 1e4,
			"paid": i%2 == 0, "note": "Grüße, \"quoted\" and plain text that runs on for a while", "tags": []any{"a", "b", nil},
		}
	}
	build := func(size int) map[string]any {
		items := []any{}
		m := map[string]any{"customer": "ACME", "items": items}
		for n := 0; n < size; n += 160 {
			items = append(items, item(n))
		}
		m["items"] = items
		return m
	}
	return map[string]map[string]any{"1KB": build(1 << 10), "1MB": build(1 << 20)}
}

func eachDocument(b *testing.B, run func(b *testing.B, v map[string]any, data []byte)) {
	docs := documents(b)
	for _, size := range []string{"1KB", "1MB"} {
		data, err := Encode(docs[size])
		if err != nil {
			b.Fatal(err)
		}
		b.Run(size, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			run(b, docs[size], data)
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	eachDocument(b, func(b *testing.B, v map[string]any, data []byte) {
		buf := make([]byte, 0, 2*len(data))
		for b.Loop() {
			if _, err := Append(buf, v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendStd(b *testing.B) {
	eachDocument(b, func(b *testing.B, v map[string]any, _ []byte) {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		for b.Loop() {
			buf.Reset()
			if err := enc.Encode(v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	eachDocument(b, func(b *testing.B, _ map[string]any, data []byte) {
		for b.Loop() {
			if _, err := Decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecodeStd(b *testing.B) {
	eachDocument(b, func(b *testing.B, _ map[string]any, data []byte) {
		for b.Loop() {
			var v any
			if err := json.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNormalize(b *testing.B) {
	eachDocument(b, func(b *testing.B, v map[string]any, _ []byte) {
		for b.Loop() {
			if _, err := Normalize(v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkClone(b *testing.B) {
	eachDocument(b, func(b *testing.B, v map[string]any, _ []byte) {
		for b.Loop() {
			Clone(v)
		}
	})
}

func BenchmarkEqual(b *testing.B) {
	eachDocument(b, func(b *testing.B, v map[string]any, _ []byte) {
		other := CloneMap(v)
		for b.Loop() {
			if !Equal(v, other) {
				b.Fatal("differs")
			}
		}
	})
}
