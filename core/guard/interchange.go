package guard

import (
	"strings"

	"github.com/docket-go/docket/core/value"
)

// Keys of tagged expressions, beside "$" + an operation's name.
const (
	keyField   = "$field"
	keyPath    = "$path"
	keyLiteral = "$literal"
)

// ToValue returns the guard as a document: {"$equals": [{"$field": "verdict"},
// "yes"]}. A literal that is, or holds, an object with "$" keys is wrapped as
// {"$literal": …}. The document shares nothing with g.
func (g Guard) ToValue() any {
	key := "$" + string(g.Op)
	switch g.Op {
	case OpChanged:
		return map[string]any{key: g.Ref.Field}
	case OpVersionAtLeast:
		return map[string]any{key: []any{g.Ref.Field, g.Version}}
	case OpExists:
		return map[string]any{key: g.Ref.toValue()}
	case OpEquals:
		return map[string]any{key: []any{g.Ref.toValue(), g.Value.toValue()}}
	case OpNot:
		if len(g.Guards) == 1 {
			return map[string]any{key: g.Guards[0].ToValue()}
		}
	}
	list := make([]any, len(g.Guards))
	for i, sub := range g.Guards {
		list[i] = sub.ToValue()
	}
	return map[string]any{key: list}
}

func (r Ref) toValue() any {
	if len(r.Path) == 0 {
		return map[string]any{keyField: r.Field}
	}
	return map[string]any{keyPath: append([]any{r.Field}, r.Path...)}
}

func (v Operand) toValue() any {
	if v.Ref != nil {
		return v.Ref.toValue()
	}
	literal := value.Clone(v.Literal)
	if hasTag(literal) {
		return map[string]any{keyLiteral: literal}
	}
	return literal
}

// hasTag reports whether v is or holds an object with a "$" key, which a
// reader would take for an expression.
func hasTag(v any) bool {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			if hasTag(e) {
				return true
			}
		}
	case map[string]any:
		for key, e := range x { // one answer for all keys: order shows nowhere
			if strings.HasPrefix(key, "$") || hasTag(e) {
				return true
			}
		}
	}
	return false
}
