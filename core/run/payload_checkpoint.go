package run

import (
	"slices"
	"time"
)

// Checkpoint is the payload of EventCheckpoint, the envelope that ends every
// transition: what was committed and what happens next, without any state.
type Checkpoint struct {
	Seq    int64 // the run's checkpoint sequence
	Type   CheckpointType
	Step   int64 // committed supersteps
	Status Status
	Next   string    // the kind of disposition, see package runtime
	At     time.Time // when, for a park until a time
	Reason string
	// While a superstep is parked: each task that will be attempted again, and the
	// nodes of the finished siblings that wait.
	Tasks    []ParkedTask
	Finished []string
}

// ParkedTask is a task that will be attempted again.
type ParkedTask struct {
	TaskID         string
	NodeID         string
	NextAttempt    int64
	IdempotencyKey string // the next attempt's
	DueAt          time.Time
}

func (p Checkpoint) write(w *writer) {
	w.key("disposition")
	w.open()
	w.time("at", p.At)
	w.string("kind", p.Next)
	w.string("reason", p.Reason)
	w.close()
	w.strings("finished", p.Finished)
	w.int("sequence", p.Seq)
	w.string("status", string(p.Status))
	w.int("step", p.Step)
	if len(p.Tasks) > 0 {
		w.key("tasks")
		writeList(w, p.Tasks, func(t ParkedTask) {
			w.time("due_at", t.DueAt)
			w.string("idempotency_key", t.IdempotencyKey)
			w.int("next_attempt", t.NextAttempt)
			w.string("node_id", t.NodeID)
			w.string("task_id", t.TaskID)
		})
	}
	w.string("type", string(p.Type))
}

func (p Checkpoint) read(f fields) Payload {
	var typ, status string
	f.sub("disposition", func(f fields) {
		f.time("at", &p.At)
		f.text("kind", &p.Next)
		f.text("reason", &p.Reason)
	})
	f.strings("finished", &p.Finished)
	f.int("sequence", &p.Seq)
	f.text("status", &status)
	f.int("step", &p.Step)
	f.list("tasks", func(f fields) {
		var t ParkedTask
		f.time("due_at", &t.DueAt)
		f.text("idempotency_key", &t.IdempotencyKey)
		f.int("next_attempt", &t.NextAttempt)
		f.text("node_id", &t.NodeID)
		f.text("task_id", &t.TaskID)
		p.Tasks = append(p.Tasks, t)
	})
	f.text("type", &typ)
	p.Type, p.Status = CheckpointType(typ), Status(status)
	return p
}

func (p Checkpoint) clone() Payload {
	p.Tasks, p.Finished = slices.Clone(p.Tasks), slices.Clone(p.Finished)
	return p
}
