package schema

import (
	"maps"
	"slices"

	"github.com/docket-go/docket/core/value"
)

// Materialize returns x with the defaults of absent object fields filled in,
// at every depth, inside defaults too. An explicit null stays, and so does
// whatever doesn't match the schema. x is not changed: what differs is copied,
// the rest is shared. The default of the schema as a whole is the caller's to
// apply, who knows whether there was a value.
func (v *Validator) Materialize(x any) any {
	filled, _ := v.root.fill(x)
	return filled
}

// fill also reports whether the result differs from x.
func (s *shape) fill(x any) (any, bool) {
	if !s.fills {
		return x, false
	}
	switch x := x.(type) {
	case map[string]any:
		if s.kind == TypeObject {
			return s.fillObject(x)
		}
	case []any:
		if s.kind == TypeList {
			return s.fillList(x)
		}
	}
	return x, false
}

func (s *shape) fillObject(m map[string]any) (any, bool) {
	out, changed := m, false
	for _, f := range s.fields {
		filled, differs := any(nil), false
		if sub, has := m[f.name]; has {
			filled, differs = f.shape.fill(sub)
		} else if f.shape.standin.Set {
			filled, differs = value.Clone(f.shape.standin.Value), true
		}
		if !differs {
			continue
		}
		if !changed {
			out, changed = maps.Clone(m), true
			if out == nil {
				out = map[string]any{}
			}
		}
		out[f.name] = filled
	}
	return out, changed
}

func (s *shape) fillList(list []any) (any, bool) {
	out, changed := list, false
	for i, e := range list {
		filled, differs := s.item.fill(e)
		if !differs {
			continue
		}
		if !changed {
			out, changed = slices.Clone(list), true
		}
		out[i] = filled
	}
	return out, changed
}
