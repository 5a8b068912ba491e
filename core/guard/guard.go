package guard

import (
	"slices"

	"github.com/docket-go/docket/core/value"
)

// Op names what a guard asks.
type Op string

// The operations of a guard.
const (
	OpChanged        Op = "changed"
	OpVersionAtLeast Op = "version_at_least"
	OpExists         Op = "exists"
	OpEquals         Op = "equals"
	OpAll            Op = "all"
	OpAny            Op = "any"
	OpNot            Op = "not"
)

// MaxDepth bounds how deep guards nest.
const MaxDepth = 32

// Guard is a boolean expression as data.
type Guard struct {
	Op      Op
	Ref     Ref     // changed and version_at_least (the whole field), exists, equals
	Version int64   // version_at_least
	Value   Operand // equals
	Guards  []Guard // all, any, not (exactly one)
}

// Ref points at a state field or input, or into its value.
type Ref struct {
	Field string
	Path  []any // string and int64 segments; empty is the whole field
}

// Operand is what equals compares with: another place, or a literal.
type Operand struct {
	Ref     *Ref
	Literal any // a normalised value
}

// Changed holds if the last commit wrote the field, equal values included.
func Changed(field string) Guard { return Guard{Op: OpChanged, Ref: Ref{Field: field}} }

// VersionAtLeast holds if the field was committed at least n times.
func VersionAtLeast(field string, n int64) Guard {
	return Guard{Op: OpVersionAtLeast, Ref: Ref{Field: field}, Version: n}
}

// Exists holds if there is a value at ref. A null is a value.
func Exists(ref Ref) Guard { return Guard{Op: OpExists, Ref: ref} }

// Equals holds if there is a value at ref and it equals v: a Ref, else a
// literal of any Go kind that has a normalised form.
func Equals(ref Ref, v any) Guard {
	return Guard{Op: OpEquals, Ref: ref, Value: operand(v)}
}

// All holds if every guard holds.
func All(guards ...Guard) Guard { return Guard{Op: OpAll, Guards: guards} }

// Any holds if one guard holds.
func Any(guards ...Guard) Guard { return Guard{Op: OpAny, Guards: guards} }

// Not holds if g doesn't.
func Not(g Guard) Guard { return Guard{Op: OpNot, Guards: []Guard{g}} }

// Field refers to a whole field.
func Field(name string) Ref { return Ref{Field: name} }

// Path refers into a field's value: strings for map keys, integers for list
// positions.
func Path(field string, segments ...any) Ref {
	ref := Ref{Field: field}
	for _, s := range segments {
		ref.Path = append(ref.Path, normal(s))
	}
	return ref
}

// Clone returns a copy that shares nothing mutable with g.
func (g Guard) Clone() Guard {
	g.Ref = g.Ref.clone()
	if g.Value.Ref != nil {
		ref := g.Value.Ref.clone()
		g.Value.Ref = &ref
	}
	g.Value.Literal = value.Clone(g.Value.Literal)
	g.Guards = slices.Clone(g.Guards)
	for i := range g.Guards {
		g.Guards[i] = g.Guards[i].Clone()
	}
	return g
}

// Equal reports whether g and o are the same expression (not merely equivalent
// ones).
func (g Guard) Equal(o Guard) bool {
	return g.Op == o.Op && g.Version == o.Version && g.Ref.Equal(o.Ref) && g.Value.equal(o.Value) &&
		slices.EqualFunc(g.Guards, o.Guards, Guard.Equal)
}

// Equal reports whether r and o point at the same place.
func (r Ref) Equal(o Ref) bool {
	return r.Field == o.Field && slices.EqualFunc(r.Path, o.Path, value.Equal)
}

func (r Ref) clone() Ref {
	r.Path = slices.Clone(r.Path)
	return r
}

func (v Operand) equal(o Operand) bool {
	if v.Ref == nil || o.Ref == nil {
		return v.Ref == o.Ref && value.Equal(v.Literal, o.Literal)
	}
	return v.Ref.Equal(*o.Ref)
}

func operand(v any) Operand {
	switch v := v.(type) {
	case Ref:
		return Operand{Ref: &v}
	case *Ref:
		if v != nil {
			return Operand{Ref: v}
		}
	}
	return Operand{Literal: normal(v)}
}

// normal gives v its one form. What has none stays as it is and is reported by
// Check: a constructor has no error to return.
func normal(v any) any {
	if n, err := value.Normalize(v); err == nil {
		return n
	}
	return v
}
