package runtime

import (
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
)

// envelope is the payload of a moment's last event: what was committed and what
// happens next, without any state. While a superstep is parked it names each
// task that will be attempted again and each finished sibling that waits.
func envelope(r *run.Run, typ run.CheckpointType, d Disposition) map[string]any {
	disposition := map[string]any{"kind": string(d.Kind), "reason": d.Reason}
	if !d.At.IsZero() {
		disposition["at"] = value.FormatTime(d.At)
	}
	env := map[string]any{
		"sequence":    r.CheckpointSeq,
		"type":        string(typ),
		"step":        r.Step,
		"status":      string(r.Status),
		"disposition": disposition,
	}
	if r.Active == nil {
		return env
	}
	tasks := make([]any, 0, len(r.Active.Tasks))
	for _, id := range value.Keys(r.Active.Tasks) {
		t := r.Active.Tasks[id]
		tasks = append(tasks, map[string]any{
			"task_id":         id,
			"node_id":         t.NodeID,
			"next_attempt":    t.Attempt,
			"idempotency_key": t.IdempotencyKey,
			"due_at":          value.FormatTime(t.DueAt),
		})
	}
	env["tasks"] = tasks
	finished := make([]any, 0, len(r.Active.Writes))
	for _, id := range value.Keys(r.Active.Writes) {
		finished = append(finished, r.Active.Writes[id].NodeID)
	}
	env["finished"] = finished
	return env
}
