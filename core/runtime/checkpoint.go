package runtime

import (
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/run"
)

// Checkpoint is the read-only account of a committed moment, for observers and
// inline callers. Nothing reads it to decide. Everything it returns is a copy.
type Checkpoint struct {
	m *Moment
}

// Checkpoint returns the moment's checkpoint. Build it only after the moment's
// transition was committed.
func (m *Moment) Checkpoint() Checkpoint { return Checkpoint{m: m} }

// RunID returns the run's id.
func (c Checkpoint) RunID() string { return c.m.Run.ID }

// Seq returns the checkpoint sequence.
func (c Checkpoint) Seq() int64 { return c.m.Run.CheckpointSeq }

// Type returns what the transition was.
func (c Checkpoint) Type() run.CheckpointType { return c.m.Type }

// Step returns the number of committed supersteps.
func (c Checkpoint) Step() int64 { return c.m.Run.Step }

// Status returns the run's status.
func (c Checkpoint) Status() run.Status { return c.m.Run.Status }

// Disposition returns what happens next.
func (c Checkpoint) Disposition() Disposition { return c.m.Disposition }

// Time returns when the transition was calculated.
func (c Checkpoint) Time() time.Time { return c.m.Time }

// Run returns a copy of the committed run.
func (c Checkpoint) Run() *run.Run { return c.m.Run.Clone() }

// Events returns a copy of the transition's events.
func (c Checkpoint) Events() []run.Event {
	events := make([]run.Event, len(c.m.Events))
	for i, e := range c.m.Events {
		events[i] = e.Clone()
	}
	return events
}

// Context says for whom a checkpoint was committed.
type Context struct {
	RunID string
	Graph graph.Ref
	Seq   int64
	Step  int64
	App   any // the host's application value
}

// Context returns the moment's context for the host's application value.
func (m *Moment) Context(app any) Context {
	return Context{RunID: m.Run.ID, Graph: m.Run.Graph, Seq: m.Run.CheckpointSeq, Step: m.Run.Step, App: app}
}
