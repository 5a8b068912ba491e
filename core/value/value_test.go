package value

import (
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	seed   = flag.Uint64("seed", 0, "the seed of property tests; 0 takes one from the clock")
)

// seeded returns a generator whose seed is told when the test fails.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("run again with -seed %d", s)
		}
	})
	return rand.New(rand.NewPCG(s, 1))
}

func mustNormalize(t *testing.T, v any) any {
	t.Helper()
	out, err := Normalize(v)
	if err != nil {
		t.Fatalf("Normalize(%v): %v", v, err)
	}
	return out
}

func mustEncode(t *testing.T, v any) string {
	t.Helper()
	data, err := Encode(v)
	if err != nil {
		t.Fatalf("Encode(%v): %v", v, err)
	}
	return string(data)
}

func wantCode(t *testing.T, what string, err error, code Code) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("%s: got error %v; want code %s", what, err, code)
	}
}

func wantFault(t *testing.T, err error, code Code, path string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code != code || e.Path != path {
		t.Errorf("got error %v; want %s at %q", err, code, path)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

// randomValue returns a normalised value with a taste for the edges.
func randomValue(r *rand.Rand, depth int) any {
	kinds := 9
	if depth <= 0 {
		kinds = 7
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return int64(r.IntN(7) - 3)
	case 3:
		edges := []int64{math.MaxInt64, math.MinInt64, 1 << 53, 1<<53 + 1, -1<<53 - 1, int64(r.Uint64())}
		return edges[r.IntN(len(edges))]
	case 4:
		return randomFloat(r)
	case 5, 6:
		return randomString(r)
	case 7:
		list := make([]any, r.IntN(5))
		for i := range list {
			list[i] = randomValue(r, depth-1)
		}
		return list
	default:
		m := map[string]any{}
		for range r.IntN(5) {
			m[randomString(r)] = randomValue(r, depth-1)
		}
		return m
	}
}

func randomFloat(r *rand.Rand) any {
	for {
		f := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			f = math.Round(r.Float64()*1e6) / 1e3
		}
		if v, err := fromFloat(f); err == nil {
			return v
		}
	}
}

var alphabet = []string{
	"a", "B", "0", "-", "\"", "\\", "/", "<", ">", "&", "\x00", "\x1f", "\x7f", "\b", "\t", "\n", "\f", "\r",
	"\u0080", "é", "e\u0301", "\u2028", "\u2029", "\ud7ff", "\ue000", "\ufb33", "\ufffd", "\uffff", "😀", "\U00010000", "\U0010ffff",
}

func randomString(r *rand.Rand) string {
	s := ""
	for range r.IntN(6) {
		s += alphabet[r.IntN(len(alphabet))]
	}
	return s
}
