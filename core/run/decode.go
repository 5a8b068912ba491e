package run

import (
	"time"

	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// Decode reads a document and validates it. It fails with ErrUnsupportedFormat
// when the document says it is newer, else with a *CorruptError.
func Decode(data []byte) (*Run, error) {
	doc, err := open("", data)
	if err != nil {
		return nil, err
	}
	r := &Run{}
	readRun(doc, r)
	if *doc.err != nil {
		return nil, &CorruptError{RunID: r.ID, Err: *doc.err}
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return r, nil
}

func readRun(doc fields, r *Run) {
	doc.sub("active", func(f fields) { r.Active = readSuperstep(f) })
	doc.sub("barriers", func(f fields) {
		r.Barriers = make(map[string][]string, len(f.m))
		for _, id := range value.Keys(f.m) {
			var sources []string
			f.strings(id, &sources)
			r.Barriers[id] = sources
		}
	})
	doc.strings("changed", &r.Changed)
	doc.sub("channels", func(f fields) {
		r.Channels = make(map[string]Channel, len(f.m))
		f.each(func(id string, f fields) {
			var c Channel
			_, set := f.m["value"]
			c.Value, c.Unset = f.take("value"), !set
			f.int("version", &c.Version)
			r.Channels[id] = c
		})
	})
	doc.int("checkpoint_seq", &r.CheckpointSeq)
	doc.int("event_seq", &r.EventSeq)
	doc.sub("failure", func(f fields) { r.Failure = readFailure(f) })
	doc.time("finished_at", &r.FinishedAt)
	doc.sub("graph", func(f fields) {
		f.text("hash", &r.Graph.Hash)
		f.text("id", &r.Graph.ID)
	})
	doc.text("id", &r.ID)
	doc.object("input", &r.Input)
	doc.sub("interrupts", func(f fields) {
		r.Interrupts = make(map[string]Interrupt, len(f.m))
		f.each(func(id string, f fields) { r.Interrupts[id] = readInterrupt(f) })
	})
	doc.object("metadata", &r.Metadata)
	doc.object("output", &r.Output)
	doc.strings("pending", &r.Pending)
	doc.time("started_at", &r.StartedAt)
	var status string
	doc.text("status", &status)
	r.Status = Status(status)
	doc.int("step", &r.Step)
	doc.time("updated_at", &r.UpdatedAt)
	doc.done()
}

func readSuperstep(f fields) *Superstep {
	s := &Superstep{Tasks: map[string]Task{}}
	f.text("input_hash", &s.InputHash)
	f.object("snapshot", &s.Snapshot)
	f.sub("tasks", func(f fields) {
		f.each(func(id string, f fields) { s.Tasks[id] = readTask(f) })
	})
	f.sub("versions", func(f fields) {
		s.Versions = make(map[string]int64, len(f.m))
		for _, name := range value.Keys(f.m) {
			var n int64
			f.int(name, &n)
			s.Versions[name] = n
		}
	})
	f.sub("writes", func(f fields) {
		s.Writes = make(map[string]PendingWrite, len(f.m))
		f.each(func(id string, f fields) { s.Writes[id] = readPendingWrite(f) })
	})
	return s
}

func readTask(f fields) Task {
	var t Task
	f.int("attempt", &t.Attempt)
	f.time("due_at", &t.DueAt)
	f.list("failures", func(f fields) {
		var a AttemptFailure
		f.int("attempt", &a.Attempt)
		f.text("message", &a.Message)
		f.text("reason", &a.Reason)
		t.Failures = append(t.Failures, a)
	})
	f.text("idempotency_key", &t.IdempotencyKey)
	f.text("node_id", &t.NodeID)
	return t
}

func readPendingWrite(f fields) PendingWrite {
	var p PendingWrite
	f.int("attempt", &p.Attempt)
	f.list("interrupts", func(f fields) { p.Interrupts = append(p.Interrupts, readInterrupt(f)) })
	f.text("node_id", &p.NodeID)
	f.strings("reset", &p.Reset)
	f.object("update", &p.Update)
	return p
}

func readInterrupt(f fields) Interrupt {
	var i Interrupt
	var status string
	i.Answer = f.take("answer")
	f.time("created_at", &i.CreatedAt)
	f.text("field", &i.Field)
	f.text("id", &i.ID)
	f.object("metadata", &i.Metadata)
	f.text("node_id", &i.NodeID)
	f.time("resolved_at", &i.ResolvedAt)
	if raw := f.take("schema"); raw != nil {
		s, err := schema.FromMap(raw)
		if err != nil {
			f.fail("schema", err.Error())
		}
		i.Schema = s
	}
	f.text("status", &status)
	i.Status = InterruptStatus(status)
	f.int("step", &i.Step)
	return i
}

func readFailure(f fields) *Failure {
	var failure Failure
	var code string
	f.text("code", &code)
	failure.Code = FailureCode(code)
	f.object("details", &failure.Details)
	f.text("message", &failure.Message)
	f.text("node_id", &failure.NodeID)
	return &failure
}

// fields reads one decoded object strictly: done reports the keys nobody took.
// The first error of a whole document is kept.
type fields struct {
	m    map[string]any
	path string
	err  *error
}

// open decodes a document and checks its format number before anything else.
func open(runID string, data []byte) (fields, error) {
	m, err := value.DecodeObject(data)
	if err != nil {
		return fields{}, &CorruptError{RunID: runID, Err: err}
	}
	switch format, ok := m["$format"].(int64); {
	case !ok || format < 1:
		return fields{}, &CorruptError{RunID: runID, Err: broken("$format", "is missing")}
	case format > Format:
		return fields{}, unsupportedFormat(runID, format)
	}
	delete(m, "$format")
	return fields{m: m, err: new(error)}, nil
}

func (f fields) fail(key, message string) {
	if *f.err == nil {
		*f.err = broken(value.PathKey(f.path, key), "%s", message)
	}
}

func (f fields) take(key string) any {
	v := f.m[key]
	delete(f.m, key)
	return v
}

func (f fields) done() {
	for _, key := range value.Keys(f.m) {
		f.fail(key, "is unknown")
	}
}

func (f fields) int(key string, dst *int64) {
	v, present := f.m[key]
	n, ok := v.(int64)
	if !present || !ok {
		f.fail(key, "is not an integer")
	}
	*dst = n
	delete(f.m, key)
}

// text leaves *dst empty when the key is absent: Validate decides whether it may be.
func (f fields) text(key string, dst *string) {
	v, present := f.m[key]
	if !present {
		return
	}
	s, ok := v.(string)
	if !ok {
		f.fail(key, "is not a string")
	}
	*dst = s
	delete(f.m, key)
}

func (f fields) time(key string, dst *time.Time) {
	var s string
	f.text(key, &s)
	if s == "" {
		return
	}
	t, err := value.ParseTime(s)
	if err != nil || value.FormatTime(t) != s {
		f.fail(key, "is not a UTC time in microseconds")
		return
	}
	*dst = t
}

func (f fields) object(key string, dst *map[string]any) {
	v, present := f.m[key]
	if !present {
		return
	}
	m, ok := v.(map[string]any)
	if !ok {
		f.fail(key, "is not an object")
	}
	*dst = m
	delete(f.m, key)
}

func (f fields) strings(key string, dst *[]string) {
	v, present := f.m[key]
	if !present {
		return
	}
	list, ok := v.([]any)
	if !ok {
		f.fail(key, "is not a list")
		return
	}
	delete(f.m, key)
	out := make([]string, len(list))
	for i, item := range list {
		s, ok := item.(string)
		if !ok {
			f.fail(value.PathIndex(key, i), "is not a string")
			return
		}
		out[i] = s
	}
	*dst = out
}

func (f fields) sub(key string, read func(fields)) {
	var m map[string]any
	f.object(key, &m)
	if m == nil {
		return
	}
	inner := fields{m: m, path: value.PathKey(f.path, key), err: f.err}
	read(inner)
	inner.done()
}

// each reads every entry of an object of objects.
func (f fields) each(read func(key string, f fields)) {
	for _, key := range value.Keys(f.m) {
		f.sub(key, func(inner fields) { read(key, inner) })
	}
}

func (f fields) list(key string, read func(fields)) {
	v, present := f.m[key]
	if !present {
		return
	}
	list, ok := v.([]any)
	if !ok {
		f.fail(key, "is not a list")
		return
	}
	delete(f.m, key)
	for i, item := range list {
		path := value.PathIndex(value.PathKey(f.path, key), i)
		m, ok := item.(map[string]any)
		if !ok {
			f.fail(key, "holds something that is not an object")
			return
		}
		inner := fields{m: m, path: path, err: f.err}
		read(inner)
		inner.done()
	}
}
