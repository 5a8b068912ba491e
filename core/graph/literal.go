package graph

import (
	"strings"

	"github.com/docket-go/docket/core/value"
)

// literalTag marks a value of a document that is meant as it stands, though it
// holds keys that begin with $.
const literalTag = "$literal"

// wrapLiteral returns a normalised value in its document form. Only an object
// that itself has a $ key is tagged, so that every value has one form.
func wrapLiteral(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if tagged(v) {
			return map[string]any{literalTag: v}
		}
		out := make(map[string]any, len(v))
		for key, entry := range v { // order can't reach the copy
			out[key] = wrapLiteral(entry)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, entry := range v {
			out[i] = wrapLiteral(entry)
		}
		return out
	default:
		return v
	}
}

// unwrapLiteral is the way back. A $ key without the tag is refused: a later
// version may give it a meaning.
func unwrapLiteral(v any, path string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if inner, ok := v[literalTag]; ok && len(v) == 1 {
			return inner, nil
		}
		out := make(map[string]any, len(v))
		for _, key := range value.Keys(v) {
			at := value.PathKey(path, key)
			if strings.HasPrefix(key, "$") {
				return nil, &Error{Code: CodeReservedKey, Path: at, Message: reservedKey}
			}
			entry, err := unwrapLiteral(v[key], at)
			if err != nil {
				return nil, err
			}
			out[key] = entry
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, entry := range v {
			var err error
			if out[i], err = unwrapLiteral(entry, value.PathIndex(path, i)); err != nil {
				return nil, err
			}
		}
		return out, nil
	default:
		return v, nil
	}
}

func tagged(m map[string]any) bool {
	for key := range m { // any order gives the same answer
		if strings.HasPrefix(key, "$") {
			return true
		}
	}
	return false
}
