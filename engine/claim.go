package engine

import (
	"errors"
	"log/slog"
	"time"

	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/ports"
)

// release gives the claim back with its attempt (CLM-8): another process goes on
// at once.
func (v *vehicle) release() {
	v.renewal.expectEnd()
	err := v.retry(func() error {
		_, err := v.e.store.releaseClaim(detached(v.ctx), ports.ReleaseClaim{
			Scope: ports.System(), RunID: v.lease.Run.ID, Token: v.lease.Token, ReturnAttempt: true,
		})
		return err
	})
	v.ended("release", err)
}

// abandon gives back a run that this host can't run, before any user code
// (CLM-9). The wait grows with every abandon of it, whoever abandons.
func (v *vehicle) abandon(why error) {
	v.e.log.WarnContext(v.ctx, "docket: a run can't be run here",
		slog.String("run_id", v.lease.Run.ID), slog.String("error", why.Error()))
	v.abandonClaim(false)
}

// abandonNode gives back a run of which a node asks for longer attempts than
// this host allows. Another host may allow them, so that never poisons.
func (v *vehicle) abandonNode(over *runtime.HostLimitError) {
	v.e.log.WarnContext(v.ctx, "docket: a node asks for longer attempts than this host allows",
		slog.String("run_id", v.lease.Run.ID), slog.String("node_id", over.NodeID), slog.String("error", over.Error()))
	v.abandonClaim(true)
}

func (v *vehicle) abandonClaim(nonPoisoning bool) {
	v.renewal.expectEnd()
	req := ports.AbandonClaim{
		Scope: ports.System(), RunID: v.lease.Run.ID, Token: v.lease.Token, ExpectedSeq: v.seq.Load(),
		BackoffBase: v.e.jitter.around(v.e.cfg.AbandonBackoff), BackoffCap: v.e.cfg.AbandonMaxBackoff,
		NonPoisoning: nonPoisoning,
	}
	req.BackoffCap = max(req.BackoffCap, req.BackoffBase)
	if !nonPoisoning {
		req.MaxAbandons = v.e.cfg.MaxAbandons
	}
	var answer ports.Abandoned
	err := v.retry(func() (err error) {
		answer, err = v.e.store.abandonClaim(detached(v.ctx), req)
		return err
	})
	v.ended("abandon", err)
	if err != nil {
		return
	}
	v.e.tel.abandoned(nonPoisoning)
	if answer.Poison.Reason != "" {
		v.d.poisoned(ports.PoisonedRun{Owner: v.lease.Owner, RunID: v.lease.Run.ID, Poison: answer.Poison})
	}
}

// giveBackTries bounds how often a claim is given back; when none gets through it
// runs out.
const giveBackTries = 3

// retry repeats a call that the store couldn't take, or may not have taken: both
// are fenced by the token, so once is enough.
func (v *vehicle) retry(call func() error) error {
	wait := backoff{base: 20 * time.Millisecond, limit: time.Second}
	for try, doubt := 1, false; ; try++ {
		err := call()
		switch {
		case errors.Is(err, ports.ErrUncertain):
			doubt = true
		case errors.Is(err, ports.ErrUnavailable):
		case errors.Is(err, ports.ErrStale) && doubt:
			return nil // the earlier one was taken, or the claim is gone: both end it
		default:
			return err
		}
		if try == giveBackTries {
			return err
		}
		pause(detached(v.ctx), v.e.jitter.below(wait.step()))
	}
}

func (v *vehicle) ended(stage string, err error) {
	switch {
	case err == nil:
	case errors.Is(err, ports.ErrStale):
		v.e.tel.fenceLost(stage)
	default:
		v.log("a claim can't be given back; it will run out", err)
	}
}
