package runtime

import (
	"time"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/value"
)

// Update calculates the moment that a superstep's outcomes lead to; there must be
// exactly one outcome a task, in any order. The first of these holds:
//
//   - a permanent failure fails the run, and no write of the superstep is committed;
//   - while an attempt is to be made again, or a parked task isn't due yet, the
//     superstep parks until the earliest deadline, finished siblings kept invisibly;
//   - otherwise the barrier: writes go through reducers, edges are judged on the new
//     state, interrupts registered, and when nothing can proceed the same moment
//     ends the run or lets it wait.
//
// A result that would outgrow the limits is a permanent failure of its node.
func Update(s *Step, outcomes []Outcome, now time.Time) (*Moment, error) {
	t := begin(s.g, s.run, now)
	t.step = s.number
	attempts, err := s.judge(outcomes, t.now)
	if err != nil {
		return nil, err
	}
	m := s.conclude(t, attempts)
	large, err := s.limits.check(m)
	if err != nil || large == nil {
		return m, err
	}
	return s.blame(t.restart(), large, attempts), nil
}

func (s *Step) conclude(t *transition, attempts []attempt) *Moment {
	var failed *attempt
	retry := false
	for i := range attempts {
		a := &attempts[i]
		if a.failure == nil {
			continue
		}
		t.emit(run.EventNodeFailed, a.task.NodeID, a.failedPayload())
		switch {
		case !a.retryAt.IsZero():
			retry = true
		case failed == nil:
			failed = a
		}
	}
	switch {
	case failed != nil:
		return t.fail(run.Failure{
			Code: failed.code, NodeID: failed.task.NodeID, Message: failed.failure.message,
			Details: map[string]any{
				"attempt": failed.task.Attempt, "reason": string(failed.failure.reason), "step": s.number,
			},
		})
	case retry || s.unfinished() > len(attempts):
		return s.park(t, attempts)
	default:
		return t.barrier(s.collect(attempts))
	}
}

// unfinished counts the tasks of the superstep that have no result yet.
func (s *Step) unfinished() int {
	if s.run.Active == nil {
		return len(s.Tasks)
	}
	return len(s.run.Active.Tasks)
}

func (a *attempt) failedPayload() run.NodeFailed {
	return run.NodeFailed{
		TaskID: a.task.ID, Attempt: a.task.Attempt, IdempotencyKey: a.task.IdempotencyKey,
		Reason: string(a.failure.reason), Message: a.failure.message, RetryAt: a.retryAt,
	}
}

// collect returns the results of the whole superstep, sorted by node id: those of
// finished siblings and those of this round.
func (s *Step) collect(attempts []attempt) []run.PendingWrite {
	if s.run.Active == nil || len(s.run.Active.Writes) == 0 {
		writes := make([]run.PendingWrite, len(attempts))
		for i := range attempts {
			writes[i] = attempts[i].write
		}
		return writes
	}
	byNode := make(map[string]run.PendingWrite, len(attempts)+len(s.run.Active.Writes))
	for _, w := range s.run.Active.Writes { // order-free: fills a map
		byNode[w.NodeID] = w
	}
	for i := range attempts {
		byNode[attempts[i].task.NodeID] = attempts[i].write
	}
	writes := make([]run.PendingWrite, 0, len(byNode))
	for _, id := range value.Keys(byNode) {
		writes = append(writes, byNode[id])
	}
	return writes
}
