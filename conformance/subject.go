package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// The vocabulary of the engine that records carry. A backend only compares it.
const (
	running   = "running"
	waiting   = "waiting"
	done      = "done"
	failed    = "failed"
	cancelled = "cancelled"

	runInitialized       = "run_initialized"
	stepCommitted        = "step_committed"
	interruptRequested   = "interrupt_requested"
	interruptResolved    = "interrupt_resolved"
	runCompleted         = "run_completed"
	runFailed            = "run_failed"
	runCancelled         = "run_cancelled"
	nodeCompleted        = "node_completed"
	channelUpdated       = "channel_updated"
	checkpointCommitted  = "checkpoint_committed"
	defaultEventsInStart = 2
)

// subject is a run as the case knows it: who owns it, the record of its latest
// transition, and every event it has.
type subject struct {
	owner  record.Owner
	run    record.Run
	events []record.Event
}

func (r *subject) scope() ports.Scope { return ports.ScopeOf(r.owner) }

// apply takes a transition that the store acknowledged.
func (r *subject) apply(t record.Transition) {
	t = t.Clone()
	r.run = t.Run
	r.events = append(r.events, t.Events...)
}

// change describes a transition. Its zero value commits one step of a running
// run that stays due at once, with two events.
type change struct {
	Type     string // checkpoint type; "" follows Status
	Status   string // "" means running
	Kind     record.ScheduleKind
	At       time.Time // for ScheduleAt
	Events   int       // how many; 0 means two, -1 none
	Open     int64     // open interrupts
	Pad      int       // bytes added to the document
	PadEvent int       // bytes added to the first payload
}

// begin builds the first transition of a run.
func begin(id string, ref graph.Ref, at time.Time, c change) record.Transition {
	if c.Type == "" {
		c.Type = runInitialized
	}
	blank := subject{run: record.Run{ID: id, Graph: ref, StartedAt: at.UTC().Truncate(time.Microsecond), Step: -1}}
	return blank.next(at, c)
}

// next builds the run's next transition as lifecycle would: sequence + 1, events
// that continue without a gap and end with checkpoint_committed.
func (r *subject) next(at time.Time, c change) record.Transition {
	c = c.complete()
	if at.IsZero() { // the store's clock judges; the record only must not go back
		at = r.run.UpdatedAt
	}
	at = at.UTC().Truncate(time.Microsecond)
	run := r.run
	run.Status, run.CheckpointType, run.OpenInterrupts = c.Status, c.Type, c.Open
	run.CheckpointSeq++
	if c.Type == runInitialized || c.Type == stepCommitted || c.Type == runCompleted {
		run.Step++
	}
	run.UpdatedAt, run.FinishedAt = at, time.Time{}
	if terminal(c.Status) {
		run.FinishedAt = at
	}
	events := make([]record.Event, 0, c.Events)
	for i := range c.Events {
		run.EventSeq++
		events = append(events, newEvent(run, i == c.Events-1, i, c.PadEvent))
	}
	run.Encoding = record.EncodingJSON
	run.Document = document(map[string]any{
		"format": 1, "id": run.ID, "graph": map[string]any{"id": run.Graph.ID, "hash": run.Graph.Hash}, "status": run.Status,
		"step": run.Step, "checkpoint_seq": run.CheckpointSeq, "event_seq": run.EventSeq, "padding": padding(c.Pad),
	})
	run.Checksum = record.Sum(run.Document)
	return record.Transition{Run: run, Events: events, Schedule: record.Schedule{Kind: c.Kind, At: c.At}}
}

// complete fills what the case left to its defaults.
func (c change) complete() change {
	if c.Status == "" {
		c.Status = running
	}
	if c.Type == "" {
		c.Type = map[string]string{
			running: stepCommitted, waiting: interruptRequested, done: runCompleted, failed: runFailed, cancelled: runCancelled,
		}[c.Status]
	}
	if c.Kind == "" {
		c.Kind = map[bool]record.ScheduleKind{true: record.ScheduleTerminal, false: record.ScheduleImmediate}[terminal(c.Status)]
		if c.Status == waiting {
			c.Kind = record.ScheduleExternal
		}
	}
	if c.Status == waiting && c.Open == 0 {
		c.Open = 1
	}
	switch c.Events {
	case 0:
		c.Events = defaultEventsInStart
	case -1:
		c.Events = 0
	}
	return c
}

func newEvent(run record.Run, last bool, i, pad int) record.Event {
	kind := nodeCompleted
	switch {
	case last:
		kind = checkpointCommitted
	case i == 0 && run.CheckpointType != stepCommitted:
		kind = run.CheckpointType
	case i > 0:
		kind = channelUpdated
	}
	if i > 0 {
		pad = 0
	}
	payload := document(map[string]any{"seq": run.CheckpointSeq, "event": run.EventSeq, "padding": padding(pad)})
	return record.Event{
		RunID: run.ID, Seq: run.EventSeq, Type: kind, Step: run.Step, Time: run.UpdatedAt,
		Encoding: record.EncodingJSON, Payload: payload, Checksum: record.Sum(payload),
	}
}

func terminal(status string) bool { return status == done || status == failed || status == cancelled }

// document makes plausible bytes; a backend must not look into them.
func document(v map[string]any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("conformance: a document of the suite can't be encoded: %v", err))
	}
	return data
}

// padding is n bytes of letters.
func padding(n int) string {
	const letters = "abcdefghijklmnopqrstuvw"
	return strings.Repeat(letters, n/len(letters)+1)[:n]
}

// version makes the n-th version of a graph.
func version(id string, n int) record.GraphVersion {
	return versionOf(id, document(map[string]any{"id": id, "schema_version": 1, "metadata": map[string]any{"n": n}}))
}

func versionOf(id string, doc []byte) record.GraphVersion {
	return record.GraphVersion{
		Ref: graph.Ref{ID: id, Hash: record.Sum(doc).String()}, Encoding: record.EncodingJSON, Document: doc,
	}
}
