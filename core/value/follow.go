package value

// Follow walks into a value: text segments lead into maps, integers into lists. It
// reports false where there is nothing. What it returns is shared, not a copy.
func Follow(v any, path []any) (any, bool) {
	for _, segment := range path {
		switch s := segment.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return nil, false
			}
			if v, ok = m[s]; !ok {
				return nil, false
			}
		case int64:
			list, ok := v.([]any)
			if !ok || s < 0 || s >= int64(len(list)) {
				return nil, false
			}
			v = list[s]
		default:
			return nil, false
		}
	}
	return v, true
}
