package guard

import (
	"fmt"

	"github.com/docket-go/docket/core/value"
)

// Cell is what a guard sees of one field: its value (a declared default counts
// as one), how often it was committed, and whether the last commit wrote it.
type Cell struct {
	Value   value.Optional
	Version int64
	Changed bool
}

// Env gives a guard its fields. False means that the graph has no such field;
// a field without a value is a Cell whose Value is not set.
type Env interface {
	Cell(field string) (Cell, bool)
}

// UnknownFieldError says that a guard names what the graph lacks.
type UnknownFieldError struct{ Field string }

// Error names the field.
func (e *UnknownFieldError) Error() string {
	return fmt.Sprintf("guard: the graph has no input or state field %q", e.Field)
}

// InvalidError says that a guard is malformed: Check would have refused it.
type InvalidError struct{ Reason string }

// Error tells what is malformed.
func (e *InvalidError) Error() string { return "guard: " + e.Reason }

// Eval decides g. Missing values and places make a question false, never an
// error. The errors are *UnknownFieldError and *InvalidError; every branch is
// looked at even if an earlier one decides, so whether a guard fails does not
// depend on the values. A decision costs no allocation.
func (g Guard) Eval(env Env) (bool, error) { return eval(&g, env, 0) }

func eval(g *Guard, env Env, level int) (bool, error) {
	if level >= MaxDepth {
		return false, &InvalidError{fmt.Sprintf("guards nest at most %d deep", MaxDepth)}
	}
	switch g.Op {
	case OpAll, OpAny:
		return evalGroup(g, env, level)
	case OpNot:
		if len(g.Guards) != 1 {
			return false, &InvalidError{fmt.Sprintf("not takes one guard, has %d", len(g.Guards))}
		}
		holds, err := eval(&g.Guards[0], env, level+1)
		return err == nil && !holds, err
	case OpChanged, OpVersionAtLeast, OpExists, OpEquals:
		return evalLeaf(g, env)
	}
	return false, &InvalidError{fmt.Sprintf("unknown operation %q", g.Op)}
}

func evalGroup(g *Guard, env Env, level int) (bool, error) {
	all, one := true, false
	for i := range g.Guards {
		holds, err := eval(&g.Guards[i], env, level+1)
		if err != nil {
			return false, err
		}
		all, one = all && holds, one || holds
	}
	if g.Op == OpAll {
		return all, nil
	}
	return one, nil
}

func evalLeaf(g *Guard, env Env) (bool, error) {
	cell, known := env.Cell(g.Ref.Field)
	if !known {
		return false, &UnknownFieldError{Field: g.Ref.Field}
	}
	switch g.Op {
	case OpChanged:
		return cell.Changed, nil
	case OpVersionAtLeast:
		return cell.Version >= g.Version, nil
	case OpExists:
		_, found := follow(cell.Value, g.Ref.Path)
		return found, nil
	}
	left, found := follow(cell.Value, g.Ref.Path)
	return evalEquals(left, found, &g.Value, env)
}

func evalEquals(left any, found bool, right *Operand, env Env) (bool, error) {
	if right.Ref == nil {
		return found && value.Equal(left, right.Literal), nil
	}
	cell, known := env.Cell(right.Ref.Field)
	if !known {
		return false, &UnknownFieldError{Field: right.Ref.Field}
	}
	v, there := follow(cell.Value, right.Ref.Path)
	return found && there && value.Equal(left, v), nil
}

// follow walks into a value that may be unset.
func follow(v value.Optional, path []any) (any, bool) {
	if !v.Set {
		return nil, false
	}
	return value.Follow(v.Value, path)
}
