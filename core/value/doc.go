// Package value defines the one data model of inputs, state, config, payloads
// and outputs, and everything that makes it exact: normalisation, equality,
// canonical bytes, strict decoding, cloning.
//
// A normalised value is nil, bool, int64, float64, string, []any or
// map[string]any. It is JSON's model with one form per value:
//
//   - a number is an int64 when it is integral and within int64, else a finite
//     float64; 1, 1.0 and 1e0 are int64(1), and -0 is 0
//   - a string is valid UTF-8 and byte-exact: nothing is escaped away, folded
//     or composed
//   - at most [MaxDepth] containers are nested
//
// Values enter through [Normalize] (from Go) or [Decode] (from bytes) and leave
// through [Into] or [Encode]:
//
//	v, err := value.Normalize(order)   // map[string]any{"id": "A7", "total": int64(3)}
//	data, err := value.Encode(v)       // {"id":"A7","total":3}
//	back, err := value.Decode(data)    // value.Equal(back, v)
//
// # Canonical bytes
//
// [Encode] writes RFC 8785: no white space, keys ordered by UTF-16 code units,
// shortest string escapes, ECMAScript number text. It departs in one place: an
// int64 beyond ±2^53 prints all its digits, so a document without such integers
// hashes alike with any JCS library. Equal values have equal bytes, unequal
// values unequal bytes, and Decode(Encode(v)) equals v.
//
// # Invariants
//
// Normalize, Clone and every Reader method return values that share no
// container with their argument. No function here keeps its argument, except
// NewReader, which says so. Nothing depends on the iteration order of a map, the
// clock, or the locale. Everything is safe for concurrent use.
//
// # What it does not do
//
// It holds no bytes, times or decimals of its own: []byte is refused (encode
// it), a time becomes its RFC 3339 text, a decimal is a string. It doesn't
// describe what a value should look like; that is package schema.
package value
