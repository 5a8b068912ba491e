package lifecycle

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
)

// Transition encodes a moment. claimed says whether the commit holds a claim: a
// moment that continues then retains it, else it leaves the run due at once.
// It fails with a *TooLargeError when something is over the store's limits, which
// runtime.Update prevents for the moments of supersteps.
func Transition(m *runtime.Moment, claimed bool) (record.Transition, error) {
	document, err := m.Document()
	if err != nil {
		return record.Transition{}, err
	}
	if err := within(m.Run.ID, "the run document", len(document), record.MaxRunBytes); err != nil {
		return record.Transition{}, err
	}
	if err := within(m.Run.ID, "the transition's events", len(m.Events), record.MaxCommitEvents); err != nil {
		return record.Transition{}, err
	}
	events, err := encodeEvents(m)
	if err != nil {
		return record.Transition{}, err
	}
	return record.Transition{Run: encodeRun(m, document), Events: events, Schedule: schedule(m.Disposition, claimed)}, nil
}

func encodeRun(m *runtime.Moment, document []byte) record.Run {
	r := m.Run
	return record.Run{
		ID:             r.ID,
		Graph:          r.Graph,
		Status:         string(r.Status),
		Step:           r.Step,
		CheckpointSeq:  r.CheckpointSeq,
		CheckpointType: string(m.Type),
		EventSeq:       r.EventSeq,
		OpenInterrupts: r.CountOpen(),
		StartedAt:      r.StartedAt,
		UpdatedAt:      r.UpdatedAt,
		FinishedAt:     r.FinishedAt,
		Encoding:       record.EncodingJSON,
		Document:       document,
		Checksum:       record.Sum(document),
	}
}

func encodeEvents(m *runtime.Moment) ([]record.Event, error) {
	events := make([]record.Event, len(m.Events))
	for i, e := range m.Events {
		payload, err := e.EncodePayload()
		if err != nil {
			return nil, fmt.Errorf("lifecycle: run %q, event %d: %w", m.Run.ID, e.Seq, err)
		}
		if err := within(m.Run.ID, "a "+string(e.Type)+" event", len(payload), record.MaxEventBytes); err != nil {
			return nil, err
		}
		events[i] = record.Event{
			RunID: m.Run.ID, Seq: e.Seq, Type: string(e.Type), Step: e.Step, Time: e.Time,
			Encoding: record.EncodingJSON, Payload: payload, Checksum: record.Sum(payload),
		}
	}
	return events, nil
}

// schedule maps every disposition to what the store does about claim and wake.
func schedule(d runtime.Disposition, claimed bool) record.Schedule {
	switch d.Kind {
	case runtime.Continue:
		if claimed {
			return record.Schedule{Kind: record.ScheduleRetain}
		}
		return record.Schedule{Kind: record.ScheduleImmediate}
	case runtime.ParkImmediate:
		return record.Schedule{Kind: record.ScheduleImmediate}
	case runtime.ParkExternal:
		return record.Schedule{Kind: record.ScheduleExternal}
	case runtime.ParkAt:
		return record.Schedule{Kind: record.ScheduleAt, At: d.At}
	case runtime.ParkTerminal:
		return record.Schedule{Kind: record.ScheduleTerminal}
	}
	panic("lifecycle: unknown disposition " + string(d.Kind)) // every kind is above
}

// TooLargeError says that a transition is over a limit of the store.
type TooLargeError struct {
	RunID string
	What  string
	Size  int // bytes, or events
	Max   int
}

// Error names what is too large and by how much.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("lifecycle: run %q: %s: %d is over the limit of %d", e.RunID, e.What, e.Size, e.Max)
}

func within(runID, what string, size, most int) error {
	if size > most {
		return &TooLargeError{RunID: runID, What: what, Size: size, Max: most}
	}
	return nil
}

// Run reads a stored run: it proves the record, decodes and validates the document
// and checks that the promoted columns say the same. It fails with a
// *run.CorruptError, or with record.ErrUnsupported or run.ErrUnsupportedFormat for
// what a newer host can read.
func Run(rec record.Run) (*run.Run, error) {
	if err := rec.Verify(); err != nil {
		if errors.Is(err, record.ErrUnsupported) {
			return nil, err
		}
		return nil, &run.CorruptError{RunID: rec.ID, Err: err}
	}
	r, err := run.Decode(rec.Document)
	if err != nil {
		return nil, err
	}
	if column := disagreement(rec, r); column != "" {
		return nil, &run.CorruptError{RunID: rec.ID, Path: column, Err: errors.New("the document and the stored column disagree")}
	}
	return r, nil
}

func disagreement(rec record.Run, r *run.Run) string {
	switch {
	case rec.ID != r.ID:
		return "id"
	case rec.Graph != r.Graph:
		return "graph"
	case rec.Status != string(r.Status):
		return "status"
	case rec.Step != r.Step:
		return "step"
	case rec.CheckpointSeq != r.CheckpointSeq:
		return "checkpoint_seq"
	case rec.EventSeq != r.EventSeq:
		return "event_seq"
	case rec.OpenInterrupts != r.CountOpen():
		return "open_interrupts"
	case !rec.StartedAt.Equal(r.StartedAt):
		return "started_at"
	case !rec.UpdatedAt.Equal(r.UpdatedAt):
		return "updated_at"
	case !rec.FinishedAt.Equal(r.FinishedAt):
		return "finished_at"
	}
	return ""
}
