package run

import (
	"time"

	"github.com/docket-go/docket/core/value"
)

// Encode returns the document's canonical bytes. It fails only on values that
// aren't normalised. What is empty isn't written.
func Encode(r *Run) ([]byte, error) {
	return Append(nil, r)
}

// Append appends the document's canonical bytes to dst.
func Append(dst []byte, r *Run) ([]byte, error) {
	w := writer{b: dst}
	w.open()
	w.int("$format", Format)
	if r.Active != nil {
		w.key("active")
		w.superstep(r.Active)
	}
	if len(r.Barriers) > 0 {
		w.key("barriers")
		writeEach(&w, r.Barriers, func(sources []string) { w.list(sources) })
	}
	w.strings("changed", r.Changed)
	if len(r.Channels) > 0 {
		w.key("channels")
		writeEach(&w, r.Channels, w.channel)
	}
	w.int("checkpoint_seq", r.CheckpointSeq)
	w.int("event_seq", r.EventSeq)
	if r.Failure != nil {
		w.key("failure")
		w.failure(r.Failure)
	}
	w.time("finished_at", r.FinishedAt)
	w.key("graph")
	w.open()
	w.string("hash", r.Graph.Hash)
	w.string("id", r.Graph.ID)
	w.close()
	w.string("id", r.ID)
	w.object("input", r.Input)
	if len(r.Interrupts) > 0 {
		w.key("interrupts")
		writeEach(&w, r.Interrupts, w.interrupt)
	}
	w.object("metadata", r.Metadata)
	if r.Output != nil {
		w.key("output")
		w.any(r.Output)
	}
	w.strings("pending", r.Pending)
	w.time("started_at", r.StartedAt)
	w.string("status", string(r.Status))
	w.int("step", r.Step)
	w.time("updated_at", r.UpdatedAt)
	w.close()
	return w.b, w.err
}

func (w *writer) superstep(s *Superstep) {
	w.open()
	w.string("input_hash", s.InputHash)
	w.object("snapshot", s.Snapshot)
	w.key("tasks")
	writeEach(w, s.Tasks, w.task)
	if len(s.Versions) > 0 {
		w.key("versions")
		writeEach(w, s.Versions, func(n int64) { w.b = value.AppendInt(w.b, n) })
	}
	if len(s.Writes) > 0 {
		w.key("writes")
		writeEach(w, s.Writes, w.pendingWrite)
	}
	w.close()
}

func (w *writer) task(t Task) {
	w.open()
	w.int("attempt", t.Attempt)
	w.time("due_at", t.DueAt)
	w.key("failures")
	writeList(w, t.Failures, func(f AttemptFailure) {
		w.int("attempt", f.Attempt)
		w.string("message", f.Message)
		w.string("reason", f.Reason)
	})
	w.string("idempotency_key", t.IdempotencyKey)
	w.string("node_id", t.NodeID)
	w.close()
}

func (w *writer) pendingWrite(p PendingWrite) {
	w.open()
	w.int("attempt", p.Attempt)
	if len(p.Interrupts) > 0 {
		w.key("interrupts")
		writeList(w, p.Interrupts, w.interruptMembers)
	}
	w.string("node_id", p.NodeID)
	w.strings("reset", p.Reset)
	w.object("update", p.Update)
	w.close()
}

func (w *writer) interrupt(i Interrupt) {
	w.open()
	w.interruptMembers(i)
	w.close()
}

func (w *writer) interruptMembers(i Interrupt) {
	if i.Status == InterruptResolved && i.Answer != nil {
		w.key("answer")
		w.any(i.Answer)
	}
	w.time("created_at", i.CreatedAt)
	w.string("field", i.Field)
	w.string("id", i.ID)
	w.object("metadata", i.Metadata)
	w.string("node_id", i.NodeID)
	w.time("resolved_at", i.ResolvedAt)
	if !i.Schema.IsZero() {
		w.key("schema")
		w.any(i.Schema.ToMap())
	}
	w.string("status", string(i.Status))
	w.int("step", i.Step)
}

func (w *writer) channel(c Channel) {
	w.open()
	if !c.Unset {
		w.key("value")
		w.any(c.Value)
	}
	w.int("version", c.Version)
	w.close()
}

func (w *writer) failure(f *Failure) {
	w.open()
	w.string("code", string(f.Code))
	w.object("details", f.Details)
	w.string("message", f.Message)
	if f.NodeID != "" {
		w.string("node_id", f.NodeID)
	}
	w.close()
}

// writer writes canonical JSON whose keys its callers give in order.
type writer struct {
	b     []byte
	err   error
	comma bool
}

func (w *writer) open()  { w.b, w.comma = append(w.b, '{'), false }
func (w *writer) close() { w.b, w.comma = append(w.b, '}'), true }

func (w *writer) key(name string) {
	if w.comma {
		w.b = append(w.b, ',')
	}
	w.b = append(value.AppendString(w.b, name), ':')
	w.comma = true
}

func (w *writer) any(v any) {
	b, err := value.Append(w.b, v)
	if err != nil {
		if w.err == nil {
			w.err = err
		}
		return
	}
	w.b = b
}

func (w *writer) int(name string, n int64) {
	w.key(name)
	w.b = value.AppendInt(w.b, n)
}

func (w *writer) string(name, s string) {
	w.key(name)
	w.b = value.AppendString(w.b, s)
}

func (w *writer) time(name string, t time.Time) {
	if t.IsZero() {
		return
	}
	w.string(name, value.FormatTime(t))
}

func (w *writer) object(name string, m map[string]any) {
	if len(m) == 0 {
		return
	}
	w.key(name)
	w.any(m)
}

func (w *writer) strings(name string, list []string) {
	if len(list) == 0 {
		return
	}
	w.key(name)
	w.list(list)
}

func (w *writer) list(list []string) {
	w.b = append(w.b, '[')
	for i, s := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = value.AppendString(w.b, s)
	}
	w.b = append(w.b, ']')
}

// writeEach writes a map as an object; write writes one value.
func writeEach[V any](w *writer, m map[string]V, write func(V)) {
	w.open()
	for _, k := range value.CanonicalKeys(m) {
		w.key(k)
		write(m[k])
		w.comma = true
	}
	w.close()
}

// writeList writes a list of objects; write writes one object's members.
func writeList[V any](w *writer, list []V, write func(V)) {
	w.b = append(w.b, '[')
	for i := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.open()
		write(list[i])
		w.close()
	}
	w.b = append(w.b, ']')
	w.comma = true
}
