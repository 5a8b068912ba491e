package guard

import (
	"fmt"
	"slices"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Codes of the reasons that Check gives.
const (
	CodeInvalid      = "invalid_guard"
	CodeInvalidPath  = "invalid_guard_path"
	CodeUnknownField = "unknown_guard_field"
)

// Check reports everything wrong with g, in the order of its interchange form,
// which the paths follow. known tells the graph's inputs and state fields; nil
// takes every name.
func (g Guard) Check(known func(field string) bool) []schema.Reason {
	c := checker{known: known}
	c.guard(g, "", 0)
	return c.reasons
}

type checker struct {
	known   func(string) bool
	reasons []schema.Reason
}

func (c *checker) add(path, code, format string, args ...any) {
	c.reasons = append(c.reasons, schema.Reason{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) guard(g Guard, path string, level int) {
	if level >= MaxDepth {
		c.add(path, CodeInvalid, "guards nest at most %d deep", MaxDepth)
		return
	}
	at := value.PathKey(path, "$"+string(g.Op))
	switch g.Op {
	case OpChanged, OpVersionAtLeast:
		c.whole(g, at)
	case OpExists:
		c.ref(g.Ref, at)
	case OpEquals:
		c.ref(g.Ref, value.PathIndex(at, 0))
		c.operand(g.Value, value.PathIndex(at, 1))
	case OpAll, OpAny:
		c.group(g.Guards, at, level)
	case OpNot:
		c.negation(g.Guards, at, level)
	default:
		c.add(path, CodeInvalid, "%q is no operation of a guard", value.Cut(string(g.Op), 64))
		return
	}
	c.leftovers(g, at)
}

// whole checks a question about a field as such, which takes no path.
func (c *checker) whole(g Guard, at string) {
	if len(g.Ref.Path) > 0 {
		c.add(at, CodeInvalidPath, "%s asks about a whole field; a path fits exists and equals only", g.Op)
	}
	if g.Op == OpVersionAtLeast {
		if g.Version < 0 {
			c.add(value.PathIndex(at, 1), CodeInvalid, "a version is not negative")
		}
		at = value.PathIndex(at, 0)
	}
	c.field(g.Ref.Field, at)
}

func (c *checker) ref(r Ref, at string) {
	c.field(r.Field, at)
	for i, segment := range r.Path {
		under := value.PathIndex(value.PathKey(at, "$path"), i+1)
		switch s := segment.(type) {
		case string:
			if _, err := value.Encode(s); err != nil {
				c.add(under, CodeInvalidPath, "a key is valid UTF-8")
			}
		case int64:
			if s < 0 {
				c.add(under, CodeInvalidPath, "a list position is not negative")
			}
		default:
			c.add(under, CodeInvalidPath, "a path is made of keys and list positions, not of %T", segment)
		}
	}
}

func (c *checker) field(name, at string) {
	switch {
	case name == "":
		c.add(at, CodeInvalid, "names no field")
	case c.known != nil && !c.known(name):
		c.add(at, CodeUnknownField, "the graph has no input or state field %q", value.Cut(name, 128))
	}
}

func (c *checker) operand(v Operand, at string) {
	if v.Ref != nil {
		c.ref(*v.Ref, at)
		if v.Literal != nil {
			c.add(at, CodeInvalid, "is a reference and a literal at once")
		}
		return
	}
	if _, err := value.Encode(v.Literal); err != nil {
		c.add(at, CodeInvalid, "the literal is not a portable value: %v", err)
	}
}

func (c *checker) group(guards []Guard, at string, level int) {
	if len(guards) == 0 {
		c.add(at, CodeInvalid, "needs at least one guard")
	}
	for i, sub := range guards {
		c.guard(sub, value.PathIndex(at, i), level+1)
	}
}

func (c *checker) negation(guards []Guard, at string, level int) {
	if len(guards) != 1 {
		c.add(at, CodeInvalid, "takes exactly one guard, has %d", len(guards))
		return
	}
	c.guard(guards[0], at, level+1)
}

// leftovers reports parts that the operation doesn't use: no document could
// carry them, so they would be lost on the way to storage.
func (c *checker) leftovers(g Guard, at string) {
	group := g.Op == OpAll || g.Op == OpAny || g.Op == OpNot
	spare := group && (g.Ref.Field != "" || len(g.Ref.Path) > 0) ||
		!group && len(g.Guards) > 0 ||
		g.Op != OpVersionAtLeast && g.Version != 0 ||
		g.Op != OpEquals && (g.Value.Ref != nil || g.Value.Literal != nil)
	if spare {
		c.add(at, CodeInvalid, "%s carries parts it has no use for", g.Op)
	}
}

// Fields returns the fields that g names, sorted, each once.
func (g Guard) Fields() []string {
	names := g.names(nil)
	slices.Sort(names)
	return slices.Compact(names)
}

func (g Guard) names(names []string) []string {
	switch g.Op {
	case OpAll, OpAny, OpNot:
		for _, sub := range g.Guards {
			names = sub.names(names)
		}
		return names
	}
	names = append(names, g.Ref.Field)
	if g.Value.Ref != nil {
		names = append(names, g.Value.Ref.Field)
	}
	return names
}
