package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/lifecycle"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/ports"
)

// vehicle drives one claimed run: one moment, one fenced commit, and on until
// the run parks, its budget is used, or its claim is gone. It holds no
// connection while a node runs.
type vehicle struct {
	e       *Engine
	d       *driver
	session *session
	lease   ports.Lease
	run     *run.Run        // as last committed; nil until the lease's record is read
	graph   *compiler.Graph // nil until loaded
	seq     atomic.Int64    // the sequence as last committed under this claim
	renewal *renewal

	slots   *slots // nil: it has no slot to give back
	leaving bool   // the slot is free already

	ctx      context.Context // ends with a cause
	cancel   context.CancelCauseFunc
	span     trace.Span
	cameFrom trace.SpanContext // of the call that started the run here

	budget  int           // moments of this claim
	most    time.Duration // of this claim, looked at between moments
	began   time.Time
	moments int
}

func (d *driver) newVehicle(s *session, lease ports.Lease) *vehicle {
	v := &vehicle{
		e: d.e, d: d, session: s, lease: lease,
		budget: d.e.cfg.DrainMoments, most: d.e.cfg.DrainTime, began: time.Now(),
	}
	v.seq.Store(lease.Run.CheckpointSeq)
	v.ctx, v.cancel = context.WithCancelCause(s.work)
	return v
}

// drive never panics: whatever goes wrong in it, the claim runs out and the run
// goes to whoever comes.
func (v *vehicle) drive() {
	v.ctx, v.span = v.e.tel.startClaim(v.ctx, v)
	defer v.span.End()
	defer v.cancel(nil)
	v.d.enter(v)
	defer v.d.leave(v)
	v.renewal = startRenewal(v)
	defer v.renewal.stop()
	err := guard("driving a run", func() {
		if !v.prepare() {
			return
		}
		for v.advance() {
		}
	})
	if err != nil {
		v.log("a vehicle failed; its claim will run out", err)
	}
}

// prepare reads the run and its graph; it reports whether there is something to
// drive.
func (v *vehicle) prepare() bool {
	if end := v.lease.ClaimEnd; !end.IsZero() && !v.now().Before(end) {
		v.log("a claim ran out before it was used", nil)
		v.e.tel.fenceLost("start")
		return false
	}
	if v.run == nil {
		r, err := lifecycle.Run(v.lease.Run)
		if unsupportedFormat(err) {
			v.abandon(err)
			return false
		}
		if err != nil {
			// Nothing is executed or written: attempts add up until the run is
			// poisoned, and it is never told as failed.
			v.log("a run record can't be read", err)
			return false
		}
		v.run = r
	}
	return v.graph != nil || v.loadGraph()
}

func (v *vehicle) loadGraph() bool {
	g, err := v.e.graphs.executable(detached(v.ctx), v.e.store, v.lease.Owner, v.run.Graph)
	var unfit *unfitError
	switch {
	case errors.As(err, &unfit):
		v.abandon(err)
		return false
	case err != nil:
		v.log("a graph can't be loaded; the claim will run out", err)
		return false
	}
	v.graph = g
	return true
}

// advance makes one moment and commits it; it reports whether to go on.
func (v *vehicle) advance() bool {
	if v.session.stops() || v.ctx.Err() != nil {
		v.stop()
		return false
	}
	ctx, done := v.e.tel.startMoment(v.ctx, v.run)
	m, ok := v.calculate(ctx)
	if !ok {
		done(nil, false)
		return false
	}
	goesOn := v.commit(m)
	done(m, v.run == m.Run)
	return goesOn
}

// calculate plans and executes one superstep. It has dealt with the claim when it
// returns false.
func (v *vehicle) calculate(ctx context.Context) (*runtime.Moment, bool) {
	step, err := runtime.Plan(v.graph, v.run, v.limits(), v.now())
	var over *runtime.HostLimitError
	switch {
	case errors.As(err, &over):
		v.abandonNode(over)
		return nil, false
	case err != nil:
		v.log("a superstep can't be planned; the claim will run out", err)
		return nil, false
	}
	m := step.Moment
	if m == nil {
		outcomes, err := v.d.runner.Run(ctx, step.Tasks)
		if err != nil {
			v.stop()
			return nil, false
		}
		v.e.tel.attempted(outcomes)
		if m, err = runtime.Update(step, outcomes, v.now()); err != nil {
			v.log("a superstep can't be concluded; the claim will run out", err)
			return nil, false
		}
	}
	return v.yielded(m), true
}

// yielded rewrites a moment that would continue when the claim's budget is used
// or the process stops: then others get their turn.
func (v *vehicle) yielded(m *runtime.Moment) *runtime.Moment {
	if m.Disposition.Kind != runtime.Continue {
		return m
	}
	reason := ""
	switch {
	case v.session.stops():
		reason = reasonShutdown
	case v.moments+1 >= v.budget, time.Since(v.began) >= v.most:
		reason = runtime.ReasonDrainBudget
		v.e.tel.yielded()
	default:
		return m
	}
	if y, err := runtime.Yield(m, reason); err == nil {
		return y
	}
	return m
}

// reasonShutdown is why a claim is given back by a process that stops.
const reasonShutdown = "shutdown"

func (v *vehicle) limits() runtime.Limits {
	return runtime.Limits{
		MaxSupersteps: v.e.cfg.MaxSupersteps, MaxTimeout: v.e.cfg.AttemptMax,
		MaxRunBytes: v.e.cfg.MaxRunBytes, MaxEventBytes: v.e.cfg.MaxEventBytes,
	}
}

// now is the store's time. The lease told it, so there always is one; it may be
// old when every renewal since has failed, and is then still the best there is.
func (v *vehicle) now() time.Time {
	now, _ := v.e.store.clock.now()
	if now.Before(v.lease.Now) {
		return v.lease.Now
	}
	return now
}

// stop deals with the claim when the vehicle's context ended or the process
// stops. A lost claim isn't ours to give back; anything else is, with its
// attempt: stopping a process is never a failure of the run.
func (v *vehicle) stop() {
	cause := context.Cause(v.ctx)
	if errors.Is(cause, ErrClaimLost) || errors.Is(cause, ErrRunCancelled) {
		return
	}
	v.release()
}

// leaveSlot frees the slot when all that is left is to store the run and let it
// go.
func (v *vehicle) leaveSlot() {
	if v.slots != nil && !v.leaving {
		v.leaving = true
		v.slots.leave()
	}
}

func (v *vehicle) freeSlot() {
	if v.leaving {
		v.slots.left()
	} else {
		v.slots.give(1)
	}
}

func (v *vehicle) log(message string, err error) {
	attrs := []any{slog.String("run_id", v.lease.Run.ID), slog.String("graph", v.lease.Run.Graph.String())}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	var p *panicked
	if errors.As(err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	v.e.log.ErrorContext(v.ctx, "docket: "+message, attrs...)
}
