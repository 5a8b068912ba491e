package node

import (
	"context"
	"fmt"
	"reflect"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Func makes a Node from a typed function. In and Out are structs whose fields
// name what they map to by a docket tag:
//
//	type reviewIn struct {
//		Draft    string  `docket:"draft"`           // a field or input; missing is an error
//		Tone     string  `docket:"tone,optional"`   // missing leaves the zero value
//		Decision *string `docket:"decision"`        // missing leaves nil
//		Config   struct {
//			MaxWords int `json:"max_words" default:"200"`
//		} `docket:",config"`
//	}
//	type reviewOut struct {
//		Score float64 `docket:"score"`              // always written
//		Notes []Note  `docket:"notes,omitzero"`     // absent when zero
//		Title *string `docket:"title"`              // absent when nil
//	}
//
// Values convert by json tags and strictly: a number that doesn't fit, an unknown
// key or another kind is a permanent failure that names the place. The config
// struct gives the node's ConfigSchema: see SchemaOf.
//
// Out may also be Result, for nodes that interrupt or reset. Func panics when a
// type can't be mapped, which is a mistake in the program.
func Func[In, Out any](fn func(ctx context.Context, in In) (Out, error)) Node {
	in, err := readPlan(reflect.TypeFor[In]())
	if err != nil {
		panic("node.Func: " + err.Error())
	}
	out, err := writePlan(reflect.TypeFor[Out]())
	if err != nil {
		panic("node.Func: " + err.Error())
	}
	return &typed[In, Out]{fn: fn, in: in, out: out}
}

type typed[In, Out any] struct {
	fn  func(ctx context.Context, in In) (Out, error)
	in  inPlan
	out outPlan
}

// ConfigSchema returns the schema of the config struct.
func (t *typed[In, Out]) ConfigSchema() schema.Schema { return t.in.config }

// Writes returns the names of the fields the node may write; nil when Out is
// Result, which may write any.
func (t *typed[In, Out]) Writes() []string { return t.out.names }

// Reads returns the names of the fields and inputs the node reads.
func (t *typed[In, Out]) Reads() []string { return t.in.names }

// Call fills In, calls the function and collects Out.
func (t *typed[In, Out]) Call(ctx context.Context, in Input) (Result, error) {
	var arg In
	if err := t.in.fill(reflect.ValueOf(&arg).Elem(), in); err != nil {
		return Result{}, Permanent(err)
	}
	out, err := t.fn(ctx, arg)
	if err != nil {
		return Result{}, err
	}
	if result, ok := any(out).(Result); ok {
		return result, nil
	}
	return Result{Update: t.out.collect(reflect.ValueOf(&out).Elem())}, nil
}

// fill reads what the plan names from state and config.
func (p inPlan) fill(dst reflect.Value, in Input) error {
	for _, f := range p.fields {
		v, ok := in.State.Get(f.name)
		if !ok {
			if f.required {
				return fmt.Errorf("state %q: the node needs it and it is missing", f.name)
			}
			continue
		}
		if err := value.Into(v, dst.FieldByIndex(f.index).Addr().Interface()); err != nil {
			return fmt.Errorf("state %q: %w", f.name, err)
		}
	}
	if p.configIndex == nil {
		return nil
	}
	if err := in.Config.DecodeAll(dst.FieldByIndex(p.configIndex).Addr().Interface()); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}

// collect returns the writes of a filled Out.
func (p outPlan) collect(src reflect.Value) map[string]any {
	update := make(map[string]any, len(p.fields))
	for _, f := range p.fields {
		v := src.FieldByIndex(f.index)
		if f.omitZero && v.IsZero() || f.pointer && v.IsNil() {
			continue
		}
		update[f.name] = v.Interface()
	}
	return update
}
