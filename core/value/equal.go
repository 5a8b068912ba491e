package value

import (
	"cmp"
	"math"
)

// Equal is the one equality of docket: exact by value for guards, reducers,
// enums and bounds. Numbers compare mathematically and never through float64,
// key order doesn't exist, null equals only null. It never panics: what is not
// a normalised value equals nothing, not even itself.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case string:
		y, ok := b.(string)
		return ok && x == y
	case int64:
		if y, ok := b.(int64); ok {
			return x == y
		}
		c, ok := Compare(a, b)
		return ok && c == 0
	case float64:
		c, ok := Compare(a, b)
		return ok && c == 0
	case []any:
		y, ok := b.([]any)
		return ok && equalLists(x, y)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && equalMaps(x, y)
	default:
		return false
	}
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, x := range a { // a conjunction: order can't reach the answer
		y, ok := b[k]
		if !ok || !Equal(x, y) {
			return false
		}
	}
	return true
}

// Compare orders two numbers by exact value: -1, 0 or +1. It is false when
// either is not a number (NaN included).
func Compare(a, b any) (int, bool) {
	switch x := a.(type) {
	case int64:
		switch y := b.(type) {
		case int64:
			return cmp.Compare(x, y), true
		case float64:
			return compareMixed(x, y), !math.IsNaN(y)
		}
	case float64:
		switch y := b.(type) {
		case int64:
			return -compareMixed(y, x), !math.IsNaN(x)
		case float64:
			return cmp.Compare(x, y), !math.IsNaN(x) && !math.IsNaN(y)
		}
	}
	return 0, false
}

// compareMixed compares the integer part as integers, so that no digit of n is
// rounded away, and lets the fraction decide a tie.
func compareMixed(n int64, f float64) int {
	switch {
	case math.IsNaN(f):
		return 0
	case f >= two63:
		return -1
	case f < -two63:
		return 1
	}
	whole, fraction := math.Modf(f)
	if c := cmp.Compare(n, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(0, fraction)
}
