package compiler

import (
	"fmt"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

const needsSchema = "has no schema: say what values it takes"

func (c *checker) checkInputs() {
	for _, name := range value.Keys(c.g.Inputs) {
		path := at("inputs", name)
		if _, taken := c.g.Fields[name]; taken {
			c.error(CodeDuplicateStateID, path, "a field has this name too and both share one namespace: rename one of them")
		}
		s := c.g.Inputs[name].Schema
		switch path := at(path, "schema"); {
		case c.broken(path):
		case s.IsZero():
			c.error(CodeInvalidSchema, path, needsSchema)
		default:
			c.inputs[name] = c.compileSchema(path, s)
		}
	}
}

func (c *checker) checkFields() {
	for _, name := range value.Keys(c.g.Fields) {
		path := at("fields", name)
		f := c.g.Fields[name]
		switch {
		case c.broken(at(path, "schema")) || c.broken(at(path, "reducer")):
		case f.Schema.IsZero():
			c.error(CodeInvalidField, at(path, "schema"), needsSchema)
		default:
			c.fields[name] = c.compileField(path, f)
		}
	}
}

func (c *checker) compileField(path string, f graph.Field) *reducer.Field {
	compiled, err := reducer.Compile(f.Reducer, f.Schema)
	if err == nil {
		return compiled
	}
	reasons := f.Schema.Check()
	if len(reasons) > 0 {
		c.schemaReasons(at(path, "schema"), reasons)
		return nil
	}
	told := false
	for _, r := range f.Reducer.Check(f.Schema) {
		if r.Code != CodeAmbiguousListWrite {
			c.error(r.Code, r.Within(at(path, "reducer")).Path, r.Message)
			told = true
		}
	}
	if !told {
		c.error(CodeInvalidField, path, err.Error())
	}
	return nil
}

func (c *checker) checkOutputs() {
	for _, name := range value.Keys(c.g.Outputs) {
		path := at("outputs", name)
		o := c.g.Outputs[name]
		source, ok := c.sourceSchema(o.Source)
		if !ok {
			c.error(CodeUnknownOutputSource, at(path, "source"),
				fmt.Sprintf("%q is no input or field: name the one this output shows", o.Source))
		}
		if path := at(path, "schema"); !o.Schema.IsZero() && !c.broken(path) {
			c.outputs[name] = c.compileSchema(path, o.Schema)
			if ok && !compatible(source, o.Schema) {
				c.error(CodeIncompatibleOutputSchema, path, fmt.Sprintf(
					"no value of %q (%s) can match this schema (%s): change one of them, or leave the output's out",
					o.Source, source.Type, o.Schema.Type))
			}
		}
	}
}

func (c *checker) sourceSchema(name string) (schema.Schema, bool) {
	if f, ok := c.g.Fields[name]; ok {
		return f.Schema, true
	}
	in, ok := c.g.Inputs[name]
	return in.Schema, ok
}

func (c *checker) compileSchema(path string, s schema.Schema) *schema.Validator {
	v, err := schema.Compile(s)
	if err != nil {
		c.schemaReasons(path, s.Check())
		return nil
	}
	return v
}

func (c *checker) schemaReasons(path string, reasons []schema.Reason) {
	for _, r := range schema.Within(path, reasons) {
		code := CodeInvalidSchema
		if r.Code == schema.CodeInvalidDefault {
			code = CodeInvalidDefault
		}
		c.error(code, r.Path, r.Message)
	}
}

// compatible reports whether some value could satisfy both schemas. It only
// looks at kinds: bounds and patterns are for the run to judge.
func compatible(a, b schema.Schema) bool {
	switch {
	case a.IsZero() || b.IsZero():
		return true
	case a.Type == schema.TypeEnum:
		return anyValue(a.Values, func(v any) bool { return admits(b, v) })
	case b.Type == schema.TypeEnum:
		return anyValue(b.Values, func(v any) bool { return admits(a, v) })
	case kindOf(a.Type) != kindOf(b.Type):
		return false
	case a.Type == schema.TypeList && a.Item != nil && b.Item != nil:
		return compatible(*a.Item, *b.Item)
	}
	for _, name := range value.Keys(a.Fields) {
		if other, ok := b.Fields[name]; ok && !compatible(a.Fields[name], other) {
			return false
		}
	}
	return true
}

func anyValue(values []any, ok func(any) bool) bool {
	for _, v := range values {
		if ok(v) {
			return true
		}
	}
	return len(values) == 0 // an empty enum is told as such
}

func admits(s schema.Schema, v any) bool {
	if s.Type == schema.TypeEnum {
		return anyValue(s.Values, func(listed any) bool { return value.Equal(listed, v) })
	}
	switch v.(type) {
	case string:
		return kindOf(s.Type) == "text"
	case int64, float64:
		return kindOf(s.Type) == "number"
	case bool:
		return s.Type == schema.TypeBoolean
	case []any:
		return s.Type == schema.TypeList
	case map[string]any:
		return kindOf(s.Type) == "object"
	default:
		return true // null fits anywhere
	}
}

func kindOf(t schema.Type) string {
	switch t {
	case schema.TypeInteger, schema.TypeFloat:
		return "number"
	case schema.TypeMap, schema.TypeObject:
		return "object"
	case schema.TypeString:
		return "text"
	default:
		return string(t)
	}
}
