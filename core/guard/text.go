package guard

import (
	"strconv"
	"strings"

	"github.com/docket-go/docket/core/value"
)

// shown is how many bytes of a literal String shows.
const shown = 48

// String returns a short text for drawings and messages, such as
//
//	all(changed(draft), equals(review.verdict, "approve"))
//
// A long literal is cut.
func (g Guard) String() string {
	switch g.Op {
	case OpChanged:
		return "changed(" + g.Ref.String() + ")"
	case OpVersionAtLeast:
		return "version_at_least(" + g.Ref.String() + ", " + strconv.FormatInt(g.Version, 10) + ")"
	case OpExists:
		return "exists(" + g.Ref.String() + ")"
	case OpEquals:
		return "equals(" + g.Ref.String() + ", " + g.Value.String() + ")"
	}
	parts := make([]string, len(g.Guards))
	for i, sub := range g.Guards {
		parts[i] = sub.String()
	}
	return string(g.Op) + "(" + strings.Join(parts, ", ") + ")"
}

// String returns the place as field.key[0].
func (r Ref) String() string {
	path := value.PathKey("", r.Field)
	for _, s := range r.Path {
		switch s := s.(type) {
		case string:
			path = value.PathKey(path, s)
		case int64:
			path = value.PathIndex(path, int(s))
		default:
			path += "[?]"
		}
	}
	return path
}

// String returns the place, or the literal's canonical text cut short.
func (v Operand) String() string {
	if v.Ref != nil {
		return v.Ref.String()
	}
	text, err := value.Encode(v.Literal)
	if err != nil {
		return "?"
	}
	if len(text) > shown {
		return value.Cut(string(text), shown) + "…"
	}
	return string(text)
}
