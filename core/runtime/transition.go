package runtime

import (
	"maps"
	"slices"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
)

// transition builds one moment on a copy of the committed run. Maps are copied
// before their first write; the values inside are shared and never changed.
type transition struct {
	g      *compiler.Graph
	base   *run.Run // as committed
	run    *run.Run // as proposed
	now    time.Time
	step   int64 // the superstep that events belong to
	events []run.Event

	ownChannels, ownInterrupts bool
}

func begin(g *compiler.Graph, r *run.Run, now time.Time) *transition {
	now = value.Time(now)
	if now.Before(r.UpdatedAt) {
		now = r.UpdatedAt
	}
	proposal := *r
	return &transition{g: g, base: r, run: &proposal, now: now, step: r.Step, events: make([]run.Event, 0, 8)}
}

func (t *transition) emit(typ run.EventType, nodeID string, payload run.Payload) {
	t.events = append(t.events, run.Event{Type: typ, Step: t.step, NodeID: nodeID, Payload: payload})
}

// moment closes the transition: sequences, times and the checkpoint's event.
func (t *transition) moment(typ run.CheckpointType, d Disposition) *Moment {
	t.run.CheckpointSeq++
	t.run.UpdatedAt = t.now
	if t.run.Status.Terminal() {
		t.run.FinishedAt = t.now
	}
	t.emit(run.EventCheckpoint, "", envelope(t.run, typ, d))
	for i := range t.events {
		t.run.EventSeq++
		t.events[i].Seq = t.run.EventSeq
		t.events[i].Time = t.now
	}
	return &Moment{Run: t.run, Events: t.events, Type: typ, Disposition: d, Time: t.now}
}

// setChannel commits a field's value, or that it is unset, at its next version.
func (t *transition) setChannel(name string, v value.Optional, by run.ChannelUpdated) {
	if !t.ownChannels {
		t.run.Channels = maps.Clone(t.run.Channels)
		if t.run.Channels == nil {
			t.run.Channels = make(map[string]run.Channel)
		}
		t.ownChannels = true
	}
	id := run.FieldPrefix + name
	version := t.run.Channels[id].Version + 1
	t.run.Channels[id] = run.Channel{Value: v.Value, Unset: !v.Set, Version: version}
	by.Channel, by.Version = id, version
	t.emit(run.EventChannelUpdated, "", by)
}

func (t *transition) setInterrupt(i run.Interrupt) {
	if !t.ownInterrupts {
		t.run.Interrupts = maps.Clone(t.run.Interrupts)
		if t.run.Interrupts == nil {
			t.run.Interrupts = make(map[string]run.Interrupt)
		}
		t.ownInterrupts = true
	}
	t.run.Interrupts[i.ID] = i
}

// end makes the run terminal. What could still have run is dropped, questions
// that nobody answered are closed.
func (t *transition) end(status run.Status) {
	t.run.Status = status
	t.run.Active, t.run.Pending = nil, nil
	for _, id := range value.Keys(t.run.Interrupts) {
		i := t.run.Interrupts[id]
		if i.Status == run.InterruptOpen {
			i.Status = run.InterruptClosed
			t.setInterrupt(i)
		}
	}
}

// fail ends the run by a failure, as one moment.
func (t *transition) fail(f run.Failure) *Moment {
	f.Message = value.Cut(f.Message, value.MaxText)
	t.end(run.Failed)
	t.run.Failure = &f
	t.emit(run.EventFailed, f.NodeID, run.RunFailed{Code: f.Code, Message: f.Message, Unsatisfied: t.unsatisfiedBarriers()})
	return t.moment(run.CheckpointFailed, Disposition{Kind: ParkTerminal, Reason: ReasonFailed})
}

// unsatisfiedBarriers lists the barrier edges that only some sources reached.
func (t *transition) unsatisfiedBarriers() []run.Barrier {
	var list []run.Barrier
	for _, id := range value.Keys(t.run.Barriers) {
		list = append(list, run.Barrier{Edge: id, Reached: t.run.Barriers[id]})
	}
	return list
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// insert returns a sorted list that holds id, without changing list.
func insert(list []string, id string) []string {
	i, found := slices.BinarySearch(list, id)
	if found {
		return list
	}
	return slices.Insert(slices.Clone(list), i, id)
}

// remove returns a sorted list without id, without changing list.
func remove(list []string, id string) []string {
	i, found := slices.BinarySearch(list, id)
	if !found {
		return list
	}
	return slices.Delete(slices.Clone(list), i, i+1)
}
