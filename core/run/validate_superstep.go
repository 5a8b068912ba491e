package run

import (
	"slices"

	"github.com/docket-go/docket/core/value"
)

// checkSuperstep checks a parked superstep: its number is Step+1.
func checkSuperstep(r *Run) error {
	s := r.Active
	if s == nil {
		return nil
	}
	if len(s.Tasks) == 0 {
		return broken("active.tasks", "is empty: the superstep could have committed")
	}
	snapshot, err := value.Encode(s.Snapshot)
	if err != nil {
		return broken("active.snapshot", "%v", err)
	}
	if s.InputHash != hash(snapshot) {
		return broken("active.input_hash", "is not the snapshot's")
	}
	for _, name := range value.Keys(s.Versions) {
		if s.Versions[name] < 1 {
			return broken(value.PathKey("active.versions", name), "is below 1")
		}
	}
	for _, id := range value.Keys(s.Tasks) {
		if err := r.checkTask(id, s.Tasks[id]); err != nil {
			return err
		}
		if _, both := s.Writes[id]; both {
			return broken(value.PathKey("active.writes", id), "is finished and active at once")
		}
	}
	for _, id := range value.Keys(s.Writes) {
		if err := r.checkWrite(id, s.Writes[id]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) checkTask(id string, t Task) error {
	path := value.PathKey("active.tasks", id)
	if id != TaskID(r.ID, r.Step+1, t.NodeID) || value.CheckName(t.NodeID) != nil {
		return broken(path, "is not the id of node %q in superstep %d", t.NodeID, r.Step+1)
	}
	switch {
	case t.Attempt < 2 || t.Attempt != int64(len(t.Failures))+1:
		return broken(path+".attempt", "%d doesn't follow %d failures", t.Attempt, len(t.Failures))
	case t.IdempotencyKey != IdempotencyKey(r.ID, r.Step+1, t.NodeID, t.Attempt):
		return broken(path+".idempotency_key", "is not the next attempt's")
	case t.DueAt.IsZero() || !t.DueAt.Equal(value.Time(t.DueAt)):
		return broken(path+".due_at", "is missing or finer than a microsecond")
	}
	for i, f := range t.Failures {
		if f.Attempt != int64(i)+1 {
			return broken(value.PathIndex(path+".failures", i), "is of attempt %d", f.Attempt)
		}
	}
	return nil
}

func (r *Run) checkWrite(id string, w PendingWrite) error {
	path := value.PathKey("active.writes", id)
	if id != TaskID(r.ID, r.Step+1, w.NodeID) || value.CheckName(w.NodeID) != nil {
		return broken(path, "is not the id of node %q in superstep %d", w.NodeID, r.Step+1)
	}
	if w.Attempt < 1 {
		return broken(path+".attempt", "is below 1")
	}
	if len(w.Interrupts) > 0 && (len(w.Update) > 0 || len(w.Reset) > 0) {
		return broken(path, "writes and interrupts at once")
	}
	for i, in := range w.Interrupts {
		at := value.PathIndex(path+".interrupts", i)
		if err := checkInterrupt(at, in); err != nil {
			return err
		}
		if in.Status != InterruptOpen || in.NodeID != w.NodeID || in.Step != r.Step+1 {
			return broken(at, "is not an open interrupt of its node and superstep")
		}
	}
	return checkSorted(path+".reset", slices.Clone(w.Reset), []string{""})
}
