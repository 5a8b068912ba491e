package schema

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/docket-go/docket/core/value"
)

// portable reports whether v is a normalised value, and adds a reason for the
// first place where it isn't. Constructors and FromMap normalise; a literal may
// hold anything.
func (c *checker) portable(v any, path string) bool {
	at, why := foreign(v, path, 0)
	if why != "" {
		c.add(at, CodeNotPortable, "%s", why)
	}
	return why == ""
}

// foreign finds the first part of v that is no normalised value.
func foreign(v any, path string, level int) (at, why string) {
	if level > value.MaxDepth {
		return path, fmt.Sprintf("nests more than %d deep", value.MaxDepth)
	}
	switch v := v.(type) {
	case nil, bool, int64:
		return "", ""
	case float64:
		return path, foreignFloat(v)
	case string:
		if !utf8.ValidString(v) {
			return path, "is not valid UTF-8"
		}
		return "", ""
	case []any:
		for i, e := range v {
			if at, why = foreign(e, value.PathIndex(path, i), level+1); why != "" {
				return at, why
			}
		}
		return "", ""
	case map[string]any:
		for _, key := range value.Keys(v) {
			if !utf8.ValidString(key) {
				return value.PathKey(path, key), "has a key that is not valid UTF-8"
			}
			if at, why = foreign(v[key], value.PathKey(path, key), level+1); why != "" {
				return at, why
			}
		}
		return "", ""
	}
	return path, fmt.Sprintf("the Go type %T is not a normalised one", v)
}

func foreignFloat(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "is not a finite number"
	case f == math.Trunc(f) && f >= -1<<63 && f < 1<<63:
		return "is an integral number that is not an int64"
	}
	return ""
}
