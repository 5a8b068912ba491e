package guard

import (
	"fmt"

	"github.com/docket-go/docket/core/value"
)

// CodeUnknownOperation is the code of an error about a tag no guard has.
const CodeUnknownOperation value.Code = "unknown_operation"

// FromValue reads a guard document. It is strict about its form: one tag per
// object, the right kind of argument, no object with "$" keys where a literal
// is due. The error is a *value.Error with the path inside the document.
// Whether fields exist and positions make sense is Check's to say.
func FromValue(v any) (Guard, error) {
	n, err := value.Normalize(v)
	if err != nil {
		return Guard{}, err
	}
	return decode(n, "", 0)
}

func decode(v any, path string, level int) (Guard, error) {
	if level >= MaxDepth {
		return Guard{}, &value.Error{Code: value.CodeTooDeep, Path: path, Message: fmt.Sprintf("guards nest at most %d deep", MaxDepth)}
	}
	tag, arg, ok := tagged(v)
	if !ok {
		return Guard{}, mismatch(path, `an object with one "$" key`)
	}
	at := value.PathKey(path, tag)
	g := Guard{Op: Op(tag[1:])}
	var err error
	switch g.Op {
	case OpChanged:
		g.Ref.Field, err = asName(arg, at)
	case OpVersionAtLeast:
		err = g.decodeVersion(arg, at)
	case OpExists:
		g.Ref, err = decodeRef(arg, at)
	case OpEquals:
		err = g.decodeEquals(arg, at)
	case OpAll, OpAny:
		g.Guards, err = decodeGroup(arg, at, level)
	case OpNot:
		var sub Guard
		sub, err = decode(arg, at, level+1)
		g.Guards = []Guard{sub}
	default:
		err = &value.Error{Code: CodeUnknownOperation, Path: path,
			Message: fmt.Sprintf("%q is no operation of a guard", value.Cut(tag, 64))}
	}
	if err != nil {
		return Guard{}, err
	}
	return g, nil
}

// tagged takes {"$tag": arg} apart.
func tagged(v any) (tag string, arg any, ok bool) {
	m, isMap := v.(map[string]any)
	if !isMap || len(m) != 1 {
		return "", nil, false
	}
	for tag, arg = range m { // order-free: exactly one
		ok = len(tag) > 1 && tag[0] == '$'
	}
	return tag, arg, ok
}

func (g *Guard) decodeVersion(arg any, at string) error {
	pair, ok := arg.([]any)
	if !ok || len(pair) != 2 {
		return mismatch(at, "a list of a field's name and a version")
	}
	name, err := asName(pair[0], value.PathIndex(at, 0))
	if err != nil {
		return err
	}
	n, ok := pair[1].(int64)
	if !ok {
		return mismatch(value.PathIndex(at, 1), "an integer")
	}
	g.Ref.Field, g.Version = name, n
	return nil
}

func (g *Guard) decodeEquals(arg any, at string) (err error) {
	pair, ok := arg.([]any)
	if !ok || len(pair) != 2 {
		return mismatch(at, "a list of a reference and a literal or reference")
	}
	if g.Ref, err = decodeRef(pair[0], value.PathIndex(at, 0)); err != nil {
		return err
	}
	g.Value, err = decodeOperand(pair[1], value.PathIndex(at, 1))
	return err
}

func decodeOperand(v any, at string) (Operand, error) {
	switch tag, arg, _ := tagged(v); tag {
	case keyField, keyPath:
		ref, err := decodeRef(v, at)
		return Operand{Ref: &ref}, err
	case keyLiteral:
		return Operand{Literal: arg}, nil
	}
	if hasTag(v) {
		return Operand{}, mismatch(at, `a literal without "$" keys, or wrapped as {"$literal": …}`)
	}
	return Operand{Literal: v}, nil
}

func decodeRef(v any, at string) (Ref, error) {
	tag, arg, _ := tagged(v)
	under := value.PathKey(at, tag)
	switch tag {
	case keyField:
		name, err := asName(arg, under)
		return Ref{Field: name}, err
	case keyPath:
		return decodePath(arg, under)
	}
	return Ref{}, mismatch(at, `a reference: {"$field": name} or {"$path": [name, …]}`)
}

func decodePath(arg any, at string) (Ref, error) {
	list, ok := arg.([]any)
	if !ok || len(list) == 0 {
		return Ref{}, mismatch(at, "a list that opens with a field's name")
	}
	name, err := asName(list[0], value.PathIndex(at, 0))
	if err != nil {
		return Ref{}, err
	}
	for i, segment := range list[1:] {
		switch segment.(type) {
		case string, int64:
		default:
			return Ref{}, mismatch(value.PathIndex(at, i+1), "a key or a list position")
		}
	}
	if len(list) == 1 {
		return Ref{Field: name}, nil
	}
	return Ref{Field: name, Path: list[1:]}, nil
}

func decodeGroup(arg any, at string, level int) ([]Guard, error) {
	list, ok := arg.([]any)
	if !ok {
		return nil, mismatch(at, "a list of guards")
	}
	guards := make([]Guard, len(list))
	for i, e := range list {
		sub, err := decode(e, value.PathIndex(at, i), level+1)
		if err != nil {
			return nil, err
		}
		guards[i] = sub
	}
	return guards, nil
}

func asName(v any, at string) (string, error) {
	if name, ok := v.(string); ok {
		return name, nil
	}
	return "", mismatch(at, "a field's name")
}

func mismatch(path, want string) error {
	return &value.Error{Code: value.CodeMismatch, Path: path, Message: "must be " + want}
}
