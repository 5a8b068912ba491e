package runtime

import (
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
)

// envelope is the payload of a moment's last event.
func envelope(r *run.Run, typ run.CheckpointType, d Disposition) run.Checkpoint {
	env := run.Checkpoint{
		Seq: r.CheckpointSeq, Type: typ, Step: r.Step, Status: r.Status,
		Next: string(d.Kind), At: d.At, Reason: d.Reason,
	}
	if r.Active == nil {
		return env
	}
	for _, id := range value.Keys(r.Active.Tasks) {
		t := r.Active.Tasks[id]
		env.Tasks = append(env.Tasks, run.ParkedTask{
			TaskID: id, NodeID: t.NodeID, NextAttempt: t.Attempt, IdempotencyKey: t.IdempotencyKey, DueAt: t.DueAt,
		})
	}
	for _, id := range value.Keys(r.Active.Writes) {
		env.Finished = append(env.Finished, r.Active.Writes[id].NodeID)
	}
	return env
}
