package runtime

import (
	"fmt"
	"slices"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
)

// finish is the moment of a run in which nothing can proceed: it waits when
// interrupts are open, else it completes with its outputs. typ is the checkpoint
// type of a run that waits.
func (t *transition) finish(typ run.CheckpointType) *Moment {
	if t.run.CountOpen() > 0 {
		t.run.Status = run.Waiting
		return t.moment(typ, Disposition{Kind: ParkExternal, Reason: ReasonInterrupt})
	}
	output, failed := t.outputs()
	if failed != nil {
		return t.fail(*failed)
	}
	t.end(run.Done)
	t.run.Output = output
	t.emit(run.EventCompleted, "", run.Completed{Outputs: value.Keys(output), Unsatisfied: t.unsatisfiedBarriers()})
	return t.moment(run.CheckpointCompleted, Disposition{Kind: ParkTerminal, Reason: ReasonCompleted})
}

// outputs projects the outputs. What has no value is left out, unless it is
// required.
func (t *transition) outputs() (map[string]any, *run.Failure) {
	output := make(map[string]any, len(t.g.Outputs))
	var missing []string
	env := cells{g: t.g, r: t.run}
	for i := range t.g.Outputs {
		o := &t.g.Outputs[i]
		cell, _ := env.Cell(o.Source)
		if !cell.Value.Set {
			if o.Required {
				missing = append(missing, o.Name)
			}
			continue
		}
		if o.Schema != nil {
			if reasons := o.Schema.Validate(cell.Value.Value); len(reasons) > 0 {
				return nil, &run.Failure{
					Code:    run.FailureOutputInvalid,
					Message: fmt.Sprintf("output %q: %s", o.Name, reasonsText(reasons)),
					Details: map[string]any{"output": o.Name},
				}
			}
		}
		output[o.Name] = cell.Value.Value
	}
	if len(missing) > 0 {
		return nil, &run.Failure{
			Code:    run.FailureOutput,
			Message: fmt.Sprintf("required outputs have no value: %q", missing),
			Details: map[string]any{"outputs": texts(missing)},
		}
	}
	return output, nil
}

// sortedIDs merges changed channels and fired edges into one sorted list.
func sortedIDs(changed map[string]bool, fired []string) []string {
	ids := make([]string, 0, len(changed)+len(fired))
	for id := range changed { // order-free: sorted below
		ids = append(ids, id)
	}
	ids = append(ids, fired...)
	slices.Sort(ids)
	return ids
}
