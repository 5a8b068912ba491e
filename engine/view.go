package engine

import (
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/lifecycle"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
	"github.com/docket-go/docket/ports"
)

// Run is a read-only copy of a run as last committed. Changing it changes
// nothing.
type Run struct {
	ID         string
	Tenant     string // empty when the run has none
	Graph      graph.Ref
	Status     run.Status
	Step       int64 // committed supersteps
	Input      map[string]any
	State      map[string]any  // the written state fields by name
	Output     map[string]any  // only when Status is done
	Failure    *run.Failure    // only when Status is failed
	Interrupts []run.Interrupt // the open ones, sorted by id
	Metadata   map[string]any

	CheckpointSeq int64
	EventSeq      int64
	StartedAt     time.Time
	UpdatedAt     time.Time
	FinishedAt    time.Time // zero until Status is terminal
}

// RunInfo is a run with its delivery state.
type RunInfo struct {
	Run       Run
	Damage    error     // why the run's document can't be read; Run then has only what the store keeps beside it
	WakeAt    time.Time // zero: no wake
	ClaimedAt time.Time // zero: unclaimed
	ClaimEnd  time.Time
	Attempts  int64 // claims since the last committed transition
	Abandons  int64
	Poison    ports.Poison
	Now       time.Time // the store's time
}

// Poisoned reports whether the run is out of delivery until RetryPoisonedRun.
func (i RunInfo) Poisoned() bool { return i.Poison.Reason != "" }

// RunSummary is one row of a list.
type RunSummary struct {
	ID             string
	Tenant         string
	Graph          graph.Ref
	Status         run.Status
	Step           int64
	CheckpointSeq  int64
	CheckpointType run.CheckpointType
	OpenInterrupts int64
	StartedAt      time.Time
	UpdatedAt      time.Time
	FinishedAt     time.Time
	Poison         ports.Poison
}

// viewRun copies a run document, so that neither side can change the other's.
func viewRun(o record.Owner, r *run.Run) Run {
	v := Run{
		ID: r.ID, Tenant: o.Tenant, Graph: r.Graph, Status: r.Status, Step: r.Step,
		Input:         value.CloneMap(r.Input),
		State:         r.State(),
		Output:        value.CloneMap(r.Output),
		Interrupts:    r.OpenInterrupts(),
		Metadata:      value.CloneMap(r.Metadata),
		CheckpointSeq: r.CheckpointSeq, EventSeq: r.EventSeq,
		StartedAt: r.StartedAt, UpdatedAt: r.UpdatedAt, FinishedAt: r.FinishedAt,
	}
	if r.Failure != nil {
		f := *r.Failure
		f.Details = value.CloneMap(f.Details)
		v.Failure = &f
	}
	return v
}

// viewRecord reads a stored run.
func viewRecord(o record.Owner, rec record.Run) (Run, error) {
	r, err := lifecycle.Run(rec)
	if err != nil {
		return Run{}, documentError(rec.ID, err)
	}
	return viewRun(o, r), nil
}

func viewSummary(s ports.RunSummary) RunSummary {
	r := s.Run
	return RunSummary{
		ID: r.ID, Tenant: s.Owner.Tenant, Graph: r.Graph, Status: run.Status(r.Status), Step: r.Step,
		CheckpointSeq: r.CheckpointSeq, CheckpointType: run.CheckpointType(r.CheckpointType),
		OpenInterrupts: r.OpenInterrupts,
		StartedAt:      r.StartedAt, UpdatedAt: r.UpdatedAt, FinishedAt: r.FinishedAt,
		Poison: s.Poison,
	}
}

// viewInfo keeps what the store knows when the document is damaged: operators
// look at exactly those runs.
func viewInfo(info ports.RunInfo) RunInfo {
	v := RunInfo{
		WakeAt: info.WakeAt, ClaimedAt: info.ClaimedAt, ClaimEnd: info.ClaimEnd,
		Attempts: info.Attempts, Abandons: info.Abandons, Poison: info.Poison, Now: info.Now,
	}
	r, err := viewRecord(info.Owner, info.Run)
	if err != nil {
		rec := info.Run
		v.Damage = err
		r = Run{
			ID: rec.ID, Tenant: info.Owner.Tenant, Graph: rec.Graph, Status: run.Status(rec.Status), Step: rec.Step,
			CheckpointSeq: rec.CheckpointSeq, EventSeq: rec.EventSeq,
			StartedAt: rec.StartedAt, UpdatedAt: rec.UpdatedAt, FinishedAt: rec.FinishedAt,
		}
	}
	v.Run = r
	return v
}
