package runtime

import (
	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
)

// fieldValue returns a field's committed value, else its effective default.
func fieldValue(f *compiler.Field, r *run.Run) value.Optional {
	if p := prior(f, r); p.Set {
		return p
	}
	return f.Reducer.Default()
}

// prior returns what a reducer starts from: the committed value, or unset.
func prior(f *compiler.Field, r *run.Run) value.Optional {
	if c, ok := r.Channels[f.ID]; ok && !c.Unset {
		return value.Some(c.Value)
	}
	return value.Optional{}
}

// snapshot returns the written fields by name, as a parked superstep keeps them.
func snapshot(g *compiler.Graph, r *run.Run) (values map[string]any, versions map[string]int64) {
	values = make(map[string]any, len(r.Channels))
	versions = make(map[string]int64, len(r.Channels))
	for i := range g.Fields {
		f := &g.Fields[i]
		if c, ok := r.Channels[f.ID]; ok {
			versions[f.Name] = c.Version
			if !c.Unset {
				values[f.Name] = c.Value
			}
		}
	}
	return values, versions
}

// view is what nodes read: inputs and fields in one namespace, with defaults.
func view(g *compiler.Graph, r *run.Run, written map[string]any) value.Reader {
	all := make(map[string]any, len(written)+len(r.Input)+len(g.Fields))
	for i := range g.Inputs {
		if v, ok := r.Input[g.Inputs[i].Name]; ok {
			all[g.Inputs[i].Name] = v
		}
	}
	for i := range g.Fields {
		f := &g.Fields[i]
		if v, ok := written[f.Name]; ok {
			all[f.Name] = v
		} else if d := f.Reducer.Default(); d.Set {
			all[f.Name] = d.Value
		}
	}
	return value.NewReader(all)
}

// sourceVersions is view's companion: given inputs have version 1.
func sourceVersions(g *compiler.Graph, r *run.Run, written map[string]int64) map[string]int64 {
	all := make(map[string]int64, len(written)+len(r.Input))
	for i := range g.Inputs {
		if _, ok := r.Input[g.Inputs[i].Name]; ok {
			all[g.Inputs[i].Name] = 1
		}
	}
	for _, name := range value.Keys(written) {
		all[name] = written[name]
	}
	return all
}

// cells is the state that guards judge.
type cells struct {
	g       *compiler.Graph
	r       *run.Run
	changed map[string]bool // runtime ids
}

// Cell returns what a guard may know of a field or input; false when the graph
// has neither.
func (c cells) Cell(name string) (guard.Cell, bool) {
	if f, ok := c.g.Field(name); ok {
		return guard.Cell{
			Value:   fieldValue(f, c.r),
			Version: c.r.Channels[f.ID].Version,
			Changed: c.changed[f.ID],
		}, true
	}
	if in, ok := c.g.Input(name); ok {
		cell := guard.Cell{Changed: c.changed[in.ID]}
		if v, given := c.r.Input[name]; given {
			cell.Value, cell.Version = value.Some(v), 1
		}
		return cell, true
	}
	return guard.Cell{}, false
}
