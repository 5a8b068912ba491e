package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"
)

// lastMoment is how long nodes have to return after their context ended by a
// shutdown, before Run tells that it leaves them behind.
const lastMoment = time.Second

// Run drives due runs until ctx ends, and returns nil once everything it started
// has ended, or CodeAbandoned with the node calls that ignore the end of their
// context. The end of ctx is a soft stop: nothing new is claimed, each run
// finishes the moment at hand and its claim is given back; after
// Config.ShutdownGrace nodes still at work have their context ended with
// ErrShutdown, which is no outcome of their runs. One Run at a time an engine.
func (e *Engine) Run(ctx context.Context) error {
	if e.bound || e.cfg.Mode != ModeProduction {
		return &Error{Code: CodeUnsupported, Message: "Run is for an engine in ModeProduction that isn't bound to a transaction"}
	}
	if err := e.needsNodes("Run"); err != nil {
		return err
	}
	return e.driver.run(ctx)
}

// needsNodes refuses to drive without implementations: such a process could only
// claim runs to give them back, and would poison them.
func (e *Engine) needsNodes(call string) error {
	if len(e.registry.IDs()) > 0 {
		return nil
	}
	return &Error{Code: CodeUnsupported, Message: call + " needs a registry with implementations: this process could drive no run"}
}

func (d *driver) run(ctx context.Context) error {
	d.mu.Lock()
	if d.running {
		d.mu.Unlock()
		return &Error{Code: CodeBusy, Message: "Run is already at work in this engine"}
	}
	d.running = true
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.running = false
		d.mu.Unlock()
		d.pulse.stopped()
	}()
	beside, stop := context.WithCancel(detached(ctx))
	var loops errgroup.Group
	loops.Go(func() error { d.again(beside, "listening for wakes", d.listen); return nil })
	loops.Go(func() error { d.again(beside, "pruning", d.prune); return nil })
	for ctx.Err() == nil {
		d.stretch(ctx)
	}
	stop()
	_ = loops.Wait()
	d.e.told.flush(d.e.cfg.ObserverTimeout)
	return d.strays.await(lastMoment)
}

// stretch drives until ctx ends or the dispatcher panics; then its vehicles are
// stopped, at once after a panic, and awaited before anything else starts.
func (d *driver) stretch(ctx context.Context) {
	s := newSession(ctx)
	d.pulse.started()
	d.mu.Lock()
	d.session = s
	d.mu.Unlock()
	err := guard("the dispatcher", func() { newDispatcher(d, s).loop(ctx) })
	d.mu.Lock()
	d.session = nil // no run is born claimed here any more
	close(s.stopping)
	d.mu.Unlock()
	if err == nil {
		d.pulse.stopping()
		d.awaitVehicles(s, d.e.cfg.ShutdownGrace)
		return
	}
	attrs := []any{slog.String("error", err.Error())}
	var p *panicked
	if errors.As(err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	d.e.log.Error("docket: the dispatcher failed and starts again", attrs...)
	d.pulse.failed(err)
	d.awaitVehicles(s, 0)
	pause(ctx, d.e.jitter.around(d.e.cfg.Poll))
}

// awaitVehicles waits for the session's vehicles, and ends their contexts once
// the grace is over.
func (d *driver) awaitVehicles(s *session, grace time.Duration) {
	timer := time.AfterFunc(grace, func() { s.end(ErrShutdown) })
	defer timer.Stop()
	s.vehicles.Wait()
	s.end(ErrShutdown)
}

// again keeps a loop running beside the dispatcher: when it fails, exits or
// panics it starts again after a wait, and claims and commits go on meanwhile.
func (d *driver) again(ctx context.Context, what string, loop func(context.Context) error) {
	wait := backoff{base: 100 * time.Millisecond, limit: 30 * time.Second}
	for ctx.Err() == nil {
		began := time.Now()
		var err error
		if crash := guard(what, func() { err = loop(ctx) }); crash != nil {
			err = crash
		}
		if ctx.Err() != nil || err == nil {
			return // a loop that isn't needed returns nil
		}
		if time.Since(began) > time.Minute {
			wait.reset()
		}
		d.e.log.Warn("docket: "+what+" failed and starts again", slog.String("error", err.Error()))
		pause(ctx, d.e.jitter.below(wait.step()))
	}
}
