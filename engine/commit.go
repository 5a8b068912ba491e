package engine

import (
	"errors"
	"time"

	"github.com/docket-go/docket/core/lifecycle"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/ports"
)

// commit stores one moment under the claim's fence and reports whether the claim
// is still ours to go on with. Whatever isn't proven to be stored counts as
// nothing.
func (v *vehicle) commit(m *runtime.Moment) bool {
	t, err := lifecycle.Transition(m, true)
	if err != nil {
		v.log("a moment can't be stored; the claim will run out", err)
		return false
	}
	retains := t.Schedule.Kind == record.ScheduleRetain
	if !retains {
		v.renewal.expectEnd()
		v.leaveSlot()
	}
	now, landed, ours := v.send(ports.CommitClaimed{
		Scope: ports.System(), RunID: m.Run.ID, Token: v.lease.Token,
		ExpectedSeq: v.run.CheckpointSeq, Transition: t, TTL: v.e.cfg.ClaimTTL,
	})
	if !landed {
		return false
	}
	v.run = m.Run
	v.seq.Store(m.Run.CheckpointSeq)
	v.moments++
	v.e.committed(v.ctx, commit{owner: v.lease.Owner, moment: m, schedule: t.Schedule, now: now})
	if retains && ours {
		v.renewal.extended()
	}
	return retains && ours
}

// send sends one commit, the very same again while it is unknown whether it was
// applied: the node never runs again under this claim for it. It gives up when a
// claim's time has passed or the process's grace is over; the claim then runs
// out. landed: the commit is stored. ours: the claim has survived it.
func (v *vehicle) send(req ports.CommitClaimed) (now time.Time, landed, ours bool) {
	ctx, doubt := detached(v.ctx), false
	wait := backoff{base: 20 * time.Millisecond, limit: time.Second}
	for giveUp := time.Now().Add(v.e.cfg.ClaimTTL); ; {
		answer, err := v.e.store.commitClaimed(ctx, req)
		switch {
		case err == nil:
			return answer.Now, true, true
		case errors.Is(err, ports.ErrUncertain):
			doubt = true
		case errors.Is(err, ports.ErrUnavailable):
		case errors.Is(err, ports.ErrStale) && doubt:
			return v.settle(req)
		case errors.Is(err, ports.ErrStale):
			v.e.tel.fenceLost("commit")
			return time.Time{}, false, false
		default:
			v.log("a commit was refused; the claim will run out", err)
			return time.Time{}, false, false
		}
		if time.Now().After(giveUp) || !pause(v.ctx, v.e.jitter.below(wait.step())) {
			v.log("a commit didn't get through; the claim will run out", err)
			return time.Time{}, false, false
		}
	}
}

// settle asks the store whether a commit landed whose answer was lost and whose
// fence has moved. Our token with the next sequence proves it, and that the claim
// is ours (RUN-13). A commit that released its claim, or lost it since, is proven
// by its bytes while the run is still there, later by its last event.
func (v *vehicle) settle(req ports.CommitClaimed) (now time.Time, landed, ours bool) {
	ctx := detached(v.ctx)
	seen, err := v.e.store.fetchRun(ctx, ports.System(), req.RunID)
	if err == nil && seen.Run.CheckpointSeq == req.ExpectedSeq+1 {
		ours = seen.Token == req.Token
		landed = ours || seen.Run.Checksum == req.Transition.Run.Checksum
	} else {
		landed, err = v.e.store.hasEvent(ctx, ports.System(), req.Transition)
	}
	if err != nil {
		v.log("it can't be told whether a commit landed", err)
	}
	if !landed {
		v.e.tel.fenceLost("commit")
	}
	return v.now(), landed, ours
}
