package ports

import (
	"fmt"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
)

// BaseEventSeq returns the event sequence that a stored run must have for the
// transition to continue it without a gap (RUN-2).
func BaseEventSeq(t record.Transition) int64 { return t.Run.EventSeq - int64(len(t.Events)) }

// transition checks what one operation stores: the record, its events, and
// that the schedule leaves a row of legal shape (RUN-5, RUN-11). Claimed says
// that there is a claim which the schedule may retain.
func (c *check) transition(t *record.Transition, inserts, claimed bool) {
	c.record(&t.Run)
	c.checkpoint(&t.Run, inserts)
	c.events(t)
	c.schedule(t, claimed)
}

func (c *check) record(r *record.Run) {
	const at = "Transition.Run."
	c.id(at+"ID", r.ID)
	c.ref(at+"Graph", r.Graph)
	c.status(at+"Status", r.Status)
	c.atLeast(at+"Step", r.Step, 0)
	c.atLeast(at+"CheckpointSeq", r.CheckpointSeq, 1)
	c.atLeast(at+"EventSeq", r.EventSeq, 0)
	c.atLeast(at+"OpenInterrupts", r.OpenInterrupts, 0)
	c.moment(at+"StartedAt", r.StartedAt)
	c.moment(at+"UpdatedAt", r.UpdatedAt)
	c.optionalMoment(at+"FinishedAt", r.FinishedAt)
	if run.Status(r.Status).Terminal() == r.FinishedAt.IsZero() {
		c.refuse(at+"FinishedAt", "a run has a finishing time exactly when its status is terminal")
	}
	c.name(at+"Encoding", string(r.Encoding))
	if len(r.Document) == 0 {
		c.refuse(at+"Document", "a run document is not empty")
	}
	c.tooLarge(at+"Document", len(r.Document), record.MaxRunBytes)
}

// checkpoint checks that type and status agree: each way to end has its own
// type, a retry leaves the run running, and only an insert initialises (RUN-1).
func (c *check) checkpoint(r *record.Run, inserts bool) {
	const path = "Transition.Run.CheckpointType"
	typ, status := run.CheckpointType(r.CheckpointType), run.Status(r.Status)
	if inserts {
		if typ != run.CheckpointInitialized {
			c.refuse(path, "an inserted run has checkpoint type run_initialized")
		}
		return
	}
	agree := false
	switch typ {
	case run.CheckpointStep, run.CheckpointInterruptRequested, run.CheckpointInterruptResolved:
		agree = !status.Terminal()
	case run.CheckpointRetry:
		agree = status == run.Running
	case run.CheckpointCompleted:
		agree = status == run.Done
	case run.CheckpointFailed:
		agree = status == run.Failed
	case run.CheckpointCancelled:
		agree = status == run.Cancelled
	case run.CheckpointInitialized:
		c.refuse(path, "only an insert initialises a run")
	default:
		c.refuse(path, "not a checkpoint type")
	}
	if !agree {
		c.refuse(path, fmt.Sprintf("%s can't leave a run %s", typ, status))
	}
}

// events checks that the events are the run's and numbered without a gap up to
// its event sequence (RUN-2, EVT-1).
func (c *check) events(t *record.Transition) {
	c.tooLarge("Transition.Events", len(t.Events), record.MaxCommitEvents)
	if BaseEventSeq(*t) < 0 {
		c.refuse("Transition.Events", "more events than Run.EventSeq counts")
	}
	if c.first != nil {
		return
	}
	next := BaseEventSeq(*t) + 1
	for i := range t.Events {
		if wrong := c.event(&t.Events[i], t.Run.ID, next+int64(i)); wrong != "" {
			c.first.Path = fmt.Sprintf("Transition.Events[%d].%s", i, wrong)
			return
		}
	}
}

// event returns the field that is at fault, so that the path of a good event
// is never built.
func (c *check) event(e *record.Event, runID string, seq int64) (field string) {
	switch {
	case e.RunID != runID:
		c.refuse("", "an event belongs to the run of its transition")
		return "RunID"
	case e.Seq != seq:
		c.refuse("", fmt.Sprintf("%d, where %d continues the run without a gap", e.Seq, seq))
		return "Seq"
	case e.Step < 0:
		c.refuse("", "less than 0")
		return "Step"
	}
	if c.name("", e.Type); c.first != nil {
		return "Type"
	}
	if c.moment("", e.Time); c.first != nil {
		return "Time"
	}
	if c.name("", string(e.Encoding)); c.first != nil {
		return "Encoding"
	}
	if c.tooLarge("", len(e.Payload), record.MaxEventBytes); c.first != nil {
		return "Payload"
	}
	return ""
}

// schedule refuses a pair of schedule and status after which the row would
// have a wake or a claim too many or too few (RUN-5, RUN-11).
func (c *check) schedule(t *record.Transition, claimed bool) {
	const at = "Transition.Schedule"
	s, status := t.Schedule, run.Status(t.Run.Status)
	if s.Kind == record.ScheduleAt {
		c.moment(at+".At", s.At)
	} else if !s.At.IsZero() {
		c.refuse(at+".At", "only the schedule at has a time")
	}
	legal := false
	switch s.Kind {
	case record.ScheduleRetain:
		if !claimed {
			c.refuse(at+".Kind", "there is no claim to retain")
		}
		legal = status == run.Running
	case record.ScheduleImmediate, record.ScheduleAt:
		legal = status == run.Running
	case record.ScheduleExternal:
		legal = status == run.Waiting
	case record.ScheduleTerminal:
		legal = status.Terminal()
	default:
		c.refuse(at+".Kind", "not a schedule")
	}
	if !legal {
		c.refuse(at+".Kind", fmt.Sprintf("%s can't go with status %s", s.Kind, status))
	}
}
