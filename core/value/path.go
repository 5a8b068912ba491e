package value

import "strconv"

// maxPathKey bounds how much of a long key a path shows.
const maxPathKey = 128

// PathKey returns path extended by an object key: a.b, or a["x y"] when the key
// isn't a name by CheckName. A key over 128 bytes is shown cut.
func PathKey(path, key string) string {
	if isName(key) {
		if path == "" {
			return key
		}
		return path + "." + key
	}
	if cut := Cut(key, maxPathKey); len(key) > maxPathKey {
		key = cut + "…"
	} else {
		key = cut
	}
	out := make([]byte, 0, len(path)+len(key)+4)
	out = append(out, path...)
	out = append(out, '[')
	out = AppendString(out, key)
	return string(append(out, ']'))
}

// PathIndex returns path extended by a list index: a[3].
func PathIndex(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}
