package node

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// inPlan and outPlan are what Func learnt from its types once.
type inPlan struct {
	fields      []inField
	names       []string
	configIndex []int // nil: no config
	config      schema.Schema
}

type inField struct {
	name     string
	index    []int
	required bool
}

type outPlan struct {
	fields []outField
	names  []string
}

type outField struct {
	name     string
	index    []int
	omitZero bool
	pointer  bool
}

func readPlan(t reflect.Type) (inPlan, error) {
	var plan inPlan
	err := eachTagged(t, func(f reflect.StructField, name string, options []string) error {
		switch {
		case name == "" && slices.Equal(options, []string{"config"}):
			if plan.configIndex != nil {
				return fmt.Errorf("%s has two config fields", t)
			}
			config, err := SchemaOf(f.Type)
			if err != nil {
				return err
			}
			if config.Type != schema.TypeObject {
				return fmt.Errorf("the config %s must be a struct", f.Type)
			}
			plan.configIndex, plan.config = f.Index, config
			return nil
		case name != "" && (len(options) == 0 || slices.Equal(options, []string{"optional"})):
			required := len(options) == 0 && f.Type.Kind() != reflect.Pointer
			plan.names = append(plan.names, name)
			plan.fields = append(plan.fields, inField{name: name, index: f.Index, required: required})
			return nil
		default:
			return fmt.Errorf("field %s of %s: use docket:\"name\", docket:\"name,optional\" or docket:\",config\"", f.Name, t)
		}
	})
	slices.Sort(plan.names)
	return plan, err
}

func writePlan(t reflect.Type) (outPlan, error) {
	var plan outPlan
	if t == reflect.TypeFor[Result]() {
		return plan, nil
	}
	plan.names = []string{}
	err := eachTagged(t, func(f reflect.StructField, name string, options []string) error {
		if name == "" || len(options) > 1 || len(options) == 1 && options[0] != "omitzero" {
			return fmt.Errorf("field %s of %s: use docket:\"name\" or docket:\"name,omitzero\"", f.Name, t)
		}
		plan.names = append(plan.names, name)
		plan.fields = append(plan.fields, outField{
			name: name, index: f.Index, omitZero: len(options) == 1, pointer: f.Type.Kind() == reflect.Pointer,
		})
		return nil
	})
	slices.Sort(plan.names)
	return plan, err
}

// eachTagged calls visit for every field of a struct; each needs a docket tag of
// its own name.
func eachTagged(t reflect.Type, visit func(f reflect.StructField, name string, options []string) error) error {
	if t.Kind() != reflect.Struct {
		return fmt.Errorf("%s isn't a struct", t)
	}
	seen := make(map[string]bool)
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("docket")
		if !ok || !f.IsExported() {
			return fmt.Errorf("field %s of %s must be exported and have a docket tag", f.Name, t)
		}
		name, rest, _ := strings.Cut(tag, ",")
		var options []string
		if rest != "" {
			options = strings.Split(rest, ",")
		}
		if name != "" {
			if err := value.CheckName(name); err != nil {
				return fmt.Errorf("field %s of %s: %w", f.Name, t, err)
			}
			if seen[name] {
				return fmt.Errorf("%s names %q twice", t, name)
			}
			seen[name] = true
		}
		if err := visit(f, name, options); err != nil {
			return err
		}
	}
	return nil
}
