package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/lifecycle"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/ports"
)

// A signal changes a run from outside, without a claim: read, a pure decision,
// compare-and-set. When somebody else was faster, all of it again. Every signal
// advances the sequence that a worker's commit is fenced by, so a park computed
// before it can't overwrite it (RUN-6).
type signal struct {
	name       string
	tenant     string
	runID      string
	needsGraph bool
	// decide returns the moment, or none when the run already is as asked.
	decide func(g *compiler.Graph, r *run.Run, now time.Time) (*runtime.Moment, error)
}

// signalTries bounds how often a signal loses before its caller is told.
const signalTries = 32

func (e *Engine) signal(ctx context.Context, s signal) (Run, error) {
	o, err := e.runOwner(s.tenant, s.runID)
	if err != nil {
		return Run{}, err
	}
	ctx, span := e.tel.startCall(ctx, s.name, s.runID)
	defer span.End()
	wait := backoff{base: 2 * time.Millisecond, limit: 100 * time.Millisecond}
	for range signalTries {
		after, done, err := e.trySignal(ctx, o, s)
		if err != nil {
			return Run{}, err
		}
		if done {
			return e.afterSignal(ctx, s, viewRun(o, after))
		}
		e.tel.fenceLost("signal")
		if !pause(ctx, e.jitter.below(wait.step())) {
			return Run{}, storeError(s.runID, ctx.Err())
		}
	}
	return Run{}, &Error{
		Code: CodeContended, RunID: s.runID, Err: ports.ErrStale,
		Message: fmt.Sprintf("others changed the run %d times in a row; nothing was applied", signalTries),
	}
}

// trySignal makes one read, decision and compare-and-set. done is false when the
// run moved on meanwhile.
func (e *Engine) trySignal(ctx context.Context, o record.Owner, s signal) (after *run.Run, done bool, err error) {
	fetched, err := e.store.fetchRun(ctx, ports.ScopeOf(o), s.runID)
	if err != nil {
		return nil, false, storeError(s.runID, err)
	}
	r, err := lifecycle.Run(fetched.Run)
	if err != nil {
		return nil, false, documentError(s.runID, err)
	}
	var g *compiler.Graph
	if s.needsGraph {
		if g, err = e.graphs.structure(ctx, e.store, fetched.Owner, r.Graph); err != nil {
			return nil, false, loadError(s.runID, err)
		}
	}
	m, err := s.decide(g, r, fetched.Now)
	if err != nil {
		return nil, false, signalError(s.runID, err)
	}
	if m == nil {
		return r, true, nil
	}
	t, err := lifecycle.Transition(m, false)
	if err != nil {
		return nil, false, inputError(s.runID, err)
	}
	req := ports.CommitUnclaimed{
		Scope: ports.ScopeOf(o), RunID: s.runID, ExpectedSeq: fetched.Run.CheckpointSeq, Transition: t,
	}
	now, err := e.sendSignal(ctx, req)
	if errors.Is(err, ports.ErrStale) || errors.Is(err, ports.ErrInactive) {
		return nil, false, nil // the next read tells what it is now
	}
	if err != nil {
		return nil, false, storeError(s.runID, err)
	}
	e.committed(ctx, commit{owner: fetched.Owner, moment: m, schedule: t.Schedule, signal: true, now: now})
	return m.Run, true, nil
}

// sendSignal sends one commit, again while its outcome is unknown. When the
// fence has moved after such a doubt, the event log tells whether it was this very
// commit that moved it.
func (e *Engine) sendSignal(ctx context.Context, req ports.CommitUnclaimed) (time.Time, error) {
	wait := backoff{base: 50 * time.Millisecond, limit: time.Second}
	for try, doubt := 1, false; ; try++ {
		answer, err := e.store.commitUnclaimed(ctx, req)
		switch {
		case err == nil:
			return answer.Now, nil
		case errors.Is(err, ports.ErrUncertain) && try < insertTries:
			doubt = true
			if !pause(ctx, e.jitter.below(wait.step())) {
				return time.Time{}, err
			}
		case doubt && (errors.Is(err, ports.ErrStale) || errors.Is(err, ports.ErrInactive)):
			landed, readErr := e.store.hasEvent(ctx, req.Scope, req.Transition)
			if readErr != nil {
				return time.Time{}, fmt.Errorf("%w: %w", ports.ErrUncertain, readErr)
			}
			if landed {
				now, _ := e.store.clock.now()
				return now, nil
			}
			return time.Time{}, err
		default:
			return time.Time{}, err
		}
	}
}

// hasEvent reports whether a transition's telling event is in the store exactly as
// it was sent. Events are written with their run or not at all (RUN-1, RUN-4), so it
// proves the transition. The last one names the sequence it committed; of an
// answer the first one tells, by the answer's own id: two answers that are given
// in one microsecond leave the same events otherwise.
func (s *store) hasEvent(ctx context.Context, scope ports.Scope, t record.Transition) (bool, error) {
	telling := t.Events[len(t.Events)-1]
	if t.Run.CheckpointType == string(run.CheckpointInterruptResolved) {
		telling = t.Events[0]
	}
	fetched, err := s.fetchEvent(ctx, ports.FetchEvent{Scope: scope, RunID: t.Run.ID, Seq: telling.Seq})
	if errors.Is(err, ports.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	there := fetched.Event
	return there.Type == telling.Type && there.Checksum == telling.Checksum && there.Time.Equal(telling.Time), nil
}

func (e *Engine) afterSignal(ctx context.Context, s signal, after Run) (Run, error) {
	if e.cfg.Mode != ModeInline || e.bound {
		return after, nil
	}
	if err := e.inline(ctx); err != nil {
		return Run{}, err
	}
	return e.FetchRun(ctx, FetchRun{Tenant: s.tenant, RunID: s.runID})
}
