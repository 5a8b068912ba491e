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

// view is what the nodes of a superstep read, and the versions of it: inputs and
// fields in one namespace, with defaults. On a parked superstep it is what the
// superstep has kept, whatever was committed since.
func view(g *compiler.Graph, r *run.Run) (value.Reader, map[string]int64) {
	all := make(map[string]any, len(r.Input)+len(g.Fields))
	versions := make(map[string]int64, len(r.Input)+len(r.Channels))
	for i := range g.Inputs {
		name := g.Inputs[i].Name
		if v, ok := r.Input[name]; ok {
			all[name], versions[name] = v, 1
		}
	}
	for i := range g.Fields {
		f := &g.Fields[i]
		v, version := kept(f, r)
		if v.Set {
			all[f.Name] = v.Value
		}
		if version > 0 {
			versions[f.Name] = version
		}
	}
	return value.NewReader(all), versions
}

func kept(f *compiler.Field, r *run.Run) (value.Optional, int64) {
	if r.Active == nil {
		return fieldValue(f, r), r.Channels[f.ID].Version
	}
	version := r.Active.Versions[f.Name]
	if v, ok := r.Active.Snapshot[f.Name]; ok {
		return value.Some(v), version
	}
	return f.Reducer.Default(), version
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
