package run

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/value"
)

// Validate checks what always holds of a stored document, and returns a
// *CorruptError for the first rule that doesn't:
//
//   - ids are well formed, the status is durable, sequences and versions positive;
//   - terminal exactly with FinishedAt, failed exactly with Failure, Output only on done;
//   - an active superstep only while running, a node once in it, its task ids,
//     idempotency keys, attempts, timers and input hash consistent;
//   - waiting exactly with open interrupts and nothing due; no open interrupt once terminal;
//   - lists sorted without duplicates, times UTC in whole microseconds.
func (r *Run) Validate() error {
	for _, check := range []func(*Run) error{
		checkIdentity, checkStatus, checkTimes, checkChannels, checkInterrupts, checkSuperstep,
	} {
		if err := check(r); err != nil {
			return corrupt(r.ID, err)
		}
	}
	return nil
}

func corrupt(runID string, err error) error {
	var at *invalid
	if errors.As(err, &at) {
		return &CorruptError{RunID: runID, Path: at.path, Err: errors.New(at.message)}
	}
	return &CorruptError{RunID: runID, Err: err}
}

func checkIdentity(r *Run) error {
	if err := value.CheckID(r.ID); err != nil {
		return broken("id", "%v", err)
	}
	if err := value.CheckName(r.Graph.ID); err != nil {
		return broken("graph.id", "%v", err)
	}
	if !isHash(r.Graph.Hash) {
		return broken("graph.hash", "is not a SHA-256 in lower-case hexadecimal")
	}
	switch {
	case r.Step < 0:
		return broken("step", "is negative")
	case r.CheckpointSeq < 1:
		return broken("checkpoint_seq", "is not positive")
	case r.EventSeq < 1:
		return broken("event_seq", "is not positive")
	}
	return nil
}

func checkStatus(r *Run) error {
	switch {
	case !r.Status.Durable():
		return broken("status", "%q can't be stored", r.Status)
	case r.Status.Terminal() == r.FinishedAt.IsZero():
		return broken("finished_at", "must be set exactly when the status is terminal (status %s)", r.Status)
	case (r.Status == Failed) != (r.Failure != nil):
		return broken("failure", "must be set exactly when the status is failed (status %s)", r.Status)
	case r.Output != nil && r.Status != Done:
		return broken("output", "only a done run has one (status %s)", r.Status)
	case r.Output == nil && r.Status == Done:
		return broken("output", "is missing on a done run")
	case r.Active != nil && r.Status != Running:
		return broken("active", "only a running run has an active superstep (status %s)", r.Status)
	}
	if f := r.Failure; f != nil {
		if !slices.Contains(FailureCodes(), f.Code) {
			return broken("failure.code", "%q is unknown", f.Code)
		}
		if len(f.Message) > value.MaxText {
			return broken("failure.message", "is longer than %d bytes", value.MaxText)
		}
	}
	return nil
}

func checkTimes(r *Run) error {
	for _, t := range []struct {
		name string
		time time.Time
	}{{"started_at", r.StartedAt}, {"updated_at", r.UpdatedAt}, {"finished_at", r.FinishedAt}} {
		if !t.time.Equal(value.Time(t.time)) {
			return broken(t.name, "is finer than a microsecond")
		}
	}
	switch {
	case r.StartedAt.IsZero():
		return broken("started_at", "is missing")
	case r.UpdatedAt.Before(r.StartedAt):
		return broken("updated_at", "is before started_at")
	case !r.FinishedAt.IsZero() && !r.FinishedAt.Equal(r.UpdatedAt):
		return broken("finished_at", "is not the time of the last transition")
	}
	return nil
}

func checkChannels(r *Run) error {
	for _, id := range value.Keys(r.Channels) {
		if !hasPrefixedName(id, FieldPrefix) {
			return broken(value.PathKey("channels", id), "is not a state field's id")
		}
		if r.Channels[id].Version < 1 {
			return broken(value.PathKey("channels", id), "has a version below 1")
		}
	}
	for _, list := range []struct {
		name     string
		ids      []string
		prefixes []string
	}{
		{"changed", r.Changed, []string{FieldPrefix, InputPrefix, EdgePrefix}},
		{"pending", r.Pending, []string{""}},
	} {
		if err := checkSorted(list.name, list.ids, list.prefixes); err != nil {
			return err
		}
	}
	for _, id := range value.Keys(r.Barriers) {
		path := value.PathKey("barriers", id)
		if !hasPrefixedName(id, EdgePrefix) || len(r.Barriers[id]) == 0 {
			return broken(path, "is not an edge's id with at least one source")
		}
		if err := checkSorted(path, r.Barriers[id], []string{""}); err != nil {
			return err
		}
	}
	return nil
}

func checkSorted(path string, ids []string, prefixes []string) error {
	for i, id := range ids {
		named := func(prefix string) bool { return hasPrefixedName(id, prefix) }
		if !slices.ContainsFunc(prefixes, named) {
			return broken(value.PathIndex(path, i), "%q is not a valid id there", id)
		}
		if i > 0 && ids[i-1] >= id {
			return broken(value.PathIndex(path, i), "is not sorted or stands twice")
		}
	}
	return nil
}

func checkInterrupts(r *Run) error {
	open := map[string]bool{}
	for _, id := range value.Keys(r.Interrupts) {
		i, path := r.Interrupts[id], value.PathKey("interrupts", id)
		if err := checkInterrupt(path, i); err != nil {
			return err
		}
		switch {
		case i.ID != id:
			return broken(path+".id", "is %q", i.ID)
		case i.Step < 1 || i.Step > r.Step:
			return broken(path+".step", "%d is not a committed superstep", i.Step)
		case i.Status == InterruptOpen && r.Status.Terminal():
			return broken(path+".status", "is open though the run is %s", r.Status)
		case i.Status == InterruptClosed && !r.Status.Terminal():
			return broken(path+".status", "is closed though the run is %s", r.Status)
		case i.Status == InterruptOpen && !slices.Contains(r.Pending, i.NodeID):
			return broken(path+".node_id", "%q isn't pending though its interrupt is open", i.NodeID)
		}
		if i.Status == InterruptOpen {
			open[i.NodeID] = true
		}
	}
	if len(r.Pending) > 0 && r.Status.Terminal() {
		return broken("pending", "a %s run has none", r.Status)
	}
	if r.Status == Waiting && len(open) == 0 {
		return broken("status", "is waiting though no interrupt is open")
	}
	if r.Status == Waiting {
		for i, id := range r.Pending {
			if !open[id] {
				return broken(value.PathIndex("pending", i), "%q could run though the run is waiting", id)
			}
		}
	}
	return nil
}

func checkInterrupt(path string, i Interrupt) error {
	if err := value.CheckID(i.ID); err != nil {
		return broken(path+".id", "%v", err)
	}
	if err := value.CheckName(i.NodeID); err != nil {
		return broken(path+".node_id", "%v", err)
	}
	if err := value.CheckName(i.Field); err != nil {
		return broken(path+".field", "%v", err)
	}
	switch i.Status {
	case InterruptOpen, InterruptResolved, InterruptConsumed, InterruptClosed:
	default:
		return broken(path+".status", "%q is unknown", i.Status)
	}
	switch {
	case i.Status.Answered() == i.ResolvedAt.IsZero():
		return broken(path+".resolved_at", "must be set exactly when there was an answer (status %s)", i.Status)
	case i.CreatedAt.IsZero():
		return broken(path+".created_at", "is missing")
	}
	return nil
}

func isHash(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func hasPrefixedName(id, prefix string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	return ok && (value.CheckName(rest) == nil || rest == graph.Start && prefix == "")
}
