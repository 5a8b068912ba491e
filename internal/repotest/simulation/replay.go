package simulation

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/lifecycle"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	machine "github.com/docket-go/docket/core/runtime"
)

// replay calculates a run's whole history again, by the pure machine alone, and
// wants the bytes that were committed. It returns the last document.
func (w *world) replay(h *history) (*run.Run, error) {
	g := w.graphOf(h)
	if g == nil {
		return nil, errors.New("the run's graph isn't among those that were saved")
	}
	var before *run.Run
	for i := range h.transitions {
		t := &h.transitions[i]
		after, err := lifecycle.Run(t.Run)
		if err != nil {
			return before, fmt.Errorf("checkpoint %d: %w", t.Run.CheckpointSeq, err)
		}
		if err := w.explain(g, before, after, t); err != nil {
			return before, fmt.Errorf("checkpoint %d (%s by %s): %w", t.Run.CheckpointSeq, t.Run.CheckpointType, t.by, err)
		}
		before = after
	}
	return before, nil
}

func (w *world) graphOf(h *history) *compiler.Graph {
	for _, g := range w.graphs {
		if len(h.transitions) > 0 && g.Ref == h.transitions[0].Run.Graph {
			return g
		}
	}
	return nil
}

// explain finds out how one run document came from the one before.
func (w *world) explain(g *compiler.Graph, before, after *run.Run, t *transition) error {
	switch {
	case before == nil:
		m, err := machine.Initialize(g, machine.Start{
			RunID: after.ID, Input: after.Input, Metadata: after.Metadata, At: t.Schedule.At, Now: after.UpdatedAt,
		})
		return t.matches(m, err)
	case t.op == "CommitUnclaimed" && after.Status == run.Cancelled:
		m, err := machine.Cancel(before, after.UpdatedAt)
		return t.matches(m, err)
	case t.op == "CommitUnclaimed":
		for id, in := range after.Interrupts {
			if was := before.Interrupts[id]; was.Status == run.InterruptOpen && in.Status == run.InterruptResolved {
				m, err := machine.Resolve(g, before, machine.Answer{InterruptID: id, Value: in.Answer, ID: t.answerID()}, after.UpdatedAt)
				return t.matches(m, err)
			}
		}
		return errors.New("a signal that answered nothing")
	default:
		return w.explainStep(g, before, after, t)
	}
}

// answerID is the id that whoever answered gave the answer.
func (t *transition) answerID() string {
	e, err := run.DecodeEvent(t.Events[0])
	if err != nil {
		return ""
	}
	answered, _ := e.Payload.(run.InterruptAnswered)
	return answered.AnswerID
}

// explainStep tries every time at which the superstep may have been planned, as
// far as it makes a difference: it decides which tasks of a parked one were due.
func (w *world) explainStep(g *compiler.Graph, before, after *run.Run, t *transition) error {
	planned := []time.Time{after.UpdatedAt}
	if before.Active != nil {
		first, _ := before.NextDue()
		planned = append(planned, first.Add(-time.Microsecond))
		for _, task := range before.Active.Tasks {
			planned = append(planned, task.DueAt)
		}
	}
	var err error
	for _, now := range planned {
		again := w.explainMoment(g, before, after, t, now)
		if again == nil {
			return nil
		}
		if err == nil {
			err = again
		}
	}
	return err
}

func (w *world) explainMoment(g *compiler.Graph, before, after *run.Run, t *transition, planned time.Time) error {
	step, err := machine.Plan(g, before, machine.Limits{MaxTimeout: attemptMax}, planned)
	if err != nil {
		return err
	}
	if step.Moment != nil {
		return t.matches(step.Moment, nil)
	}
	outcomes, err := w.outcomes(g, step.Tasks, t)
	if err != nil {
		return err
	}
	if err := w.punctual(before, step.Tasks); err != nil {
		return err
	}
	m, err := machine.Update(step, outcomes, after.UpdatedAt)
	return t.matches(m, err)
}

// outcomes tells what the tasks' attempts came to: what their scripts say, unless
// a process stood still over an attempt's deadline.
func (w *world) outcomes(g *compiler.Graph, tasks []machine.Task, t *transition) ([]machine.Outcome, error) {
	late, err := timeouts(t.Events)
	if err != nil {
		return nil, err
	}
	outcomes := make([]machine.Outcome, len(tasks))
	for i, task := range tasks {
		calls := w.journal.calls[task.IdempotencyKey]
		if len(calls) == 0 {
			return nil, fmt.Errorf("attempt %s was never made", task.IdempotencyKey)
		}
		n, _ := g.Node(task.NodeID)
		s := scriptOf(w.chance.at("attempt"), n.Implementation, task.Activation, task.Input)
		outcomes[i] = s.outcome(task)
		if late[task.ID] {
			if t.at-calls[0].at < task.Timeout {
				return nil, fmt.Errorf("attempt %s timed out before its time", task.IdempotencyKey)
			}
			outcomes[i] = timedOut(task)
		}
	}
	return outcomes, nil
}

// punctual wants no attempt that was made before its time, as far as the clocks of
// the world allow to say so.
func (w *world) punctual(before *run.Run, tasks []machine.Task) error {
	if before.Active == nil || w.skewed || w.jumps {
		return nil
	}
	for _, task := range tasks {
		due := before.Active.Tasks[task.ID].DueAt
		for _, c := range w.journal.calls[task.IdempotencyKey] {
			if c.now.Before(due) {
				return fmt.Errorf("attempt %s was made by %s at %v, due is %v", task.IdempotencyKey, c.by, c.now, due)
			}
		}
	}
	return nil
}

// timeouts returns the tasks of which an event tells a missed deadline.
func timeouts(events []record.Event) (map[string]bool, error) {
	late := map[string]bool{}
	for _, rec := range events {
		e, err := run.DecodeEvent(rec)
		if err != nil {
			return nil, err
		}
		if failed, ok := e.Payload.(run.NodeFailed); ok && failed.Reason == string(machine.ReasonTimeout) {
			late[failed.TaskID] = true
		}
	}
	return late, nil
}

// matches compares a calculated moment with the committed one, byte for byte.
func (t *transition) matches(m *machine.Moment, err error) error {
	if err != nil {
		return err
	}
	if m == nil {
		return errors.New("the machine says that nothing changes")
	}
	if reason, yielded := t.yielded(m); yielded {
		if m, err = machine.Yield(m, reason); err != nil {
			return err
		}
	}
	want, err := lifecycle.Transition(m, t.claim)
	if err != nil {
		return err
	}
	switch {
	case !bytes.Equal(want.Run.Document, t.Run.Document):
		return fmt.Errorf("the machine says\n\t%s\nand committed is\n\t%s", want.Run.Document, t.Run.Document)
	case want.Schedule.Kind != t.Schedule.Kind || !want.Schedule.At.Equal(t.Schedule.At):
		return fmt.Errorf("the machine's schedule is %v, the committed one %v", want.Schedule, t.Schedule)
	case want.Run.CheckpointType != t.Run.CheckpointType:
		return fmt.Errorf("the machine's checkpoint is %s, the committed one %s", want.Run.CheckpointType, t.Run.CheckpointType)
	case len(want.Events) != len(t.Events):
		return fmt.Errorf("the machine has %d events, %d are committed", len(want.Events), len(t.Events))
	}
	for i, e := range want.Events {
		got := t.Events[i]
		if e.Seq != got.Seq || e.Type != got.Type || e.Step != got.Step || !e.Time.Equal(got.Time) || !bytes.Equal(e.Payload, got.Payload) {
			return fmt.Errorf("event %d: the machine says %s %s, committed is %s %s", e.Seq, e.Type, e.Payload, got.Type, got.Payload)
		}
	}
	return nil
}

// yielded reports whether a moment that would have gone on was rewritten, and why.
func (t *transition) yielded(m *machine.Moment) (reason string, yielded bool) {
	if !t.claim || m.Disposition.Kind != machine.Continue || t.Schedule.Kind != record.ScheduleImmediate {
		return "", false
	}
	last, err := run.DecodeEvent(t.Events[len(t.Events)-1])
	if err != nil {
		return "", false
	}
	checkpoint, ok := last.Payload.(run.Checkpoint)
	return checkpoint.Reason, ok && slices.Contains([]string{machine.ReasonDrainBudget, "shutdown"}, checkpoint.Reason)
}
