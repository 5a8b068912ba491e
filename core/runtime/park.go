package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
)

// park keeps the superstep for later: what is finished becomes a pending write,
// what will be attempted again becomes a task with a timer.
func (s *Step) park(t *transition, attempts []attempt) *Moment {
	active := s.parked()
	for i := range attempts {
		a := &attempts[i]
		earlier := active.Tasks[a.task.ID].Failures
		delete(active.Tasks, a.task.ID)
		if a.failure == nil {
			active.Writes[a.task.ID] = a.write
			continue
		}
		failures := append(append([]run.AttemptFailure(nil), earlier...), run.AttemptFailure{
			Attempt: a.task.Attempt, Reason: string(a.failure.reason), Message: a.failure.message,
		})
		active.Tasks[a.task.ID] = run.Task{
			NodeID:         a.task.NodeID,
			Attempt:        a.task.Attempt + 1,
			IdempotencyKey: run.IdempotencyKey(s.run.ID, s.number, a.task.NodeID, a.task.Attempt+1),
			DueAt:          a.retryAt,
			Failures:       failures,
		}
	}
	t.run.Active = active
	return t.moment(run.CheckpointRetry, t.parkUntilDue())
}

// parked returns a copy of the parked superstep to go on from, or a new one.
func (s *Step) parked() *run.Superstep {
	if before := s.run.Active; before != nil {
		active := *before
		active.Tasks, active.Writes = maps.Clone(before.Tasks), maps.Clone(before.Writes)
		if active.Writes == nil {
			active.Writes = map[string]run.PendingWrite{}
		}
		return &active
	}
	values, versions := snapshot(s.g, s.run)
	return &run.Superstep{
		Snapshot: values, Versions: versions, InputHash: hashOf(values),
		Tasks: map[string]run.Task{}, Writes: map[string]run.PendingWrite{},
	}
}

// parkUntilDue parks until the earliest timer of the parked superstep.
func (t *transition) parkUntilDue() Disposition {
	due, _ := t.run.NextDue()
	return Disposition{Kind: ParkAt, At: due, Reason: ReasonRetryBackoff}
}

// hashOf hashes normalised values, which always encode.
func hashOf(values map[string]any) string {
	data, err := value.Encode(values)
	if err != nil {
		panic("runtime: committed values don't encode: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
