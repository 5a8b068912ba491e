package value

import (
	"maps"
	"slices"
)

// Keys returns the keys of m sorted by their UTF-8 bytes: the order of every
// result that comes from a map.
func Keys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}

// CanonicalKeys returns the keys of m in the order of canonical bytes: by UTF-16
// code units (RFC 8785). It differs from Keys only for keys outside the BMP, and
// is meant for encoders that write an object by hand.
func CanonicalKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	sortKeys(keys)
	return keys
}

// sortKeys sorts by UTF-16 code units, the order of RFC 8785. It differs from
// byte order only between characters beyond the BMP, which UTF-16 spells with
// surrogates, and U+E000 to U+FFFF.
func sortKeys(keys []string) {
	for _, k := range keys {
		for i := 0; i < len(k); i++ {
			if k[i] >= 0xF0 {
				slices.SortFunc(keys, compareUTF16)
				return
			}
		}
	}
	slices.Sort(keys)
}

func compareUTF16(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		// In valid UTF-8 the first difference between a four-byte character
		// (0xF0 and up) and one of U+E000 to U+FFFF (0xEE, 0xEF) is their lead
		// byte.
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			return int(y) - int(x)
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}
