package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Start asks for a new run.
type Start struct {
	RunID    string
	Input    map[string]any // normalised by Initialize
	Metadata map[string]any
	At       time.Time // zero or past: at once
	Now      time.Time
}

// InputError says that a run's input doesn't fit its graph, with every reason.
type InputError struct {
	RunID   string
	Reasons []schema.Reason
}

// Error lists the reasons.
func (e *InputError) Error() string {
	return fmt.Sprintf("run %q: invalid input: %s", e.RunID, reasonsText(e.Reasons))
}

// Initialize validates the input and calculates the run_initialized moment, as if
// $start had completed. It needs only the graph's structure. It fails with an
// *InputError, or a *value.Error for a bad run id or metadata that can't be
// stored.
func Initialize(g *compiler.Graph, s Start) (*Moment, error) {
	if err := value.CheckID(s.RunID); err != nil {
		return nil, err
	}
	metadata, err := value.NormalizeMap(s.Metadata)
	if err != nil {
		return nil, err
	}
	input, err := checkInput(g, s)
	if err != nil {
		return nil, err
	}
	now := value.Time(s.Now)
	t := begin(g, &run.Run{
		ID: s.RunID, Graph: g.Ref, Status: run.Running, Input: input, Metadata: metadata,
		StartedAt: now, UpdatedAt: now,
	}, now)
	t.emit(run.EventInitialized, "", run.Initialized{Graph: g.Ref})
	changed := make(map[string]bool, len(input))
	for i := range g.Inputs {
		in := &g.Inputs[i]
		if _, given := input[in.Name]; given {
			changed[in.ID] = true
			t.emit(run.EventChannelUpdated, "", run.ChannelUpdated{Channel: in.ID, Version: 1})
		}
	}
	fired, err := t.fire(g.StartEdges, changed)
	if err != nil {
		return nil, fmt.Errorf("runtime: run %q: %w", s.RunID, err)
	}
	t.run.Changed = sortedIDs(changed, fired)
	if at := value.Time(s.At); !s.At.IsZero() && at.After(now) {
		return t.moment(run.CheckpointInitialized, Disposition{Kind: ParkAt, At: at, Reason: ReasonDelayedStart}), nil
	}
	return t.moment(run.CheckpointInitialized, Disposition{Kind: Continue, Reason: ReasonWork}), nil
}

// checkInput returns the effective input: normalised, defaults filled in.
func checkInput(g *compiler.Graph, s Start) (map[string]any, error) {
	given, err := value.NormalizeMap(s.Input)
	if err != nil {
		return nil, &InputError{RunID: s.RunID, Reasons: []schema.Reason{reasonOf(err)}}
	}
	var reasons []schema.Reason
	for _, name := range value.Keys(given) {
		if _, ok := g.Input(name); !ok {
			reasons = append(reasons, schema.Reason{Path: name, Code: "unknown_input", Message: "the graph has no such input"})
		}
	}
	for i := range g.Inputs {
		in := &g.Inputs[i]
		v, ok := given[in.Name]
		switch {
		case !ok && in.Default.Set:
			given[in.Name] = value.Clone(in.Default.Value)
		case !ok && in.Schema.Schema().Required:
			reasons = append(reasons, schema.Reason{Path: in.Name, Code: "required", Message: "is required"})
		case ok:
			v = in.Schema.Materialize(v)
			given[in.Name] = v
			reasons = append(reasons, schema.Within(in.Name, in.Schema.Validate(v))...)
		}
	}
	if len(reasons) > 0 {
		return nil, &InputError{RunID: s.RunID, Reasons: reasons}
	}
	return given, nil
}

func reasonOf(err error) schema.Reason {
	var at *value.Error
	if errors.As(err, &at) {
		return schema.Reason{Path: at.Path, Code: string(at.Code), Message: at.Message}
	}
	return schema.Reason{Code: "invalid", Message: err.Error()}
}
