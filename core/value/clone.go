package value

const (
	// MaxDepth is how many containers may be nested in one value that enters
	// (Normalize).
	MaxDepth = 128
	// MaxDocumentDepth is how many may be nested in what Encode writes and Decode
	// reads: a document that holds a value of MaxDepth must come back.
	MaxDocumentDepth = MaxDepth + frame

	frame = 16

	// MaxItems is how many elements and entries a value that enters may have in
	// all, counting shared containers each time: one more wouldn't fit into the
	// largest document that is stored, 16 MiB, with two bytes each.
	MaxItems = 8 << 20
)

// Clone returns a deep copy of a normalised value. Scalars are immutable and
// returned as they are.
func Clone(v any) any {
	switch x := v.(type) {
	case []any:
		return cloneList(x)
	case map[string]any:
		if x == nil {
			return map[string]any{}
		}
		return CloneMap(x)
	default:
		return v
	}
}

// CloneMap returns a deep copy of a normalised map; nil stays nil.
func CloneMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, v := range m { // order can't reach the copy
		out[k] = Clone(v)
	}
	return out
}

func cloneList(list []any) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = Clone(v)
	}
	return out
}

// Optional is a value that may be absent, which differs from an explicit null.
type Optional struct {
	Set   bool
	Value any
}

// Some returns a set Optional.
func Some(v any) Optional { return Optional{Set: true, Value: v} }
