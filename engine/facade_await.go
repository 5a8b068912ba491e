package engine

import (
	"context"
	"errors"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// AwaitRun asks to wait for a run.
type AwaitRun struct {
	Tenant string
	RunID  string
}

// The interval at which AwaitRun looks at the store for what other processes
// commit.
const (
	awaitFirst = 50 * time.Millisecond
	awaitMost  = time.Second
)

// AwaitRun returns the run once it is terminal or waits for answers. What this
// process commits it sees at once, what others commit by polling. A poisoned run
// ends the wait with a *PoisonedError, the end of ctx with CodeTimeout. In the
// modes that drive nothing in the background it waits for somebody's Drain.
func (e *Engine) AwaitRun(ctx context.Context, req AwaitRun) (Run, error) {
	o, err := e.runOwner(req.Tenant, req.RunID)
	if err != nil {
		return Run{}, err
	}
	w := e.waiters.subscribe(o, req.RunID)
	defer e.waiters.unsubscribe(w)
	wait := backoff{base: awaitFirst, limit: awaitMost}
	for {
		info, err := e.look(ctx, o, req.RunID)
		if err != nil {
			return Run{}, err
		}
		if v, done, err := settled(info); done {
			return v, err
		}
		if r, ok := w.next(ctx, e.jitter.below(wait.step())); ok {
			return viewRun(o, r), nil
		}
		if ctx.Err() != nil {
			return Run{}, awaitTimeout(req.RunID, ctx.Err())
		}
	}
}

// settled reports whether a run's state ends the wait.
func settled(info ports.RunInfo) (Run, bool, error) {
	switch {
	case info.Poison.Reason != "":
		return Run{}, true, &PoisonedError{Info: viewInfo(info)}
	case run.Status(info.Run.Status) == run.Running:
		return Run{}, false, nil
	}
	v, err := viewRecord(info.Owner, info.Run)
	return v, true, err
}

// next waits for a commit of this process that settles the run, at most d.
func (w *waiter) next(ctx context.Context, d time.Duration) (*run.Run, bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case r := <-w.ready:
			if r.Status != run.Running {
				return r, true
			}
		case <-t.C:
			return nil, false
		case <-ctx.Done():
			return nil, false
		}
	}
}

// look inspects the run on a context of the engine's own: a caller who stops
// waiting must not cost the store a connection in the middle of a query. The
// caller is let go at once; the query ends within the store's bound.
func (e *Engine) look(ctx context.Context, o record.Owner, runID string) (ports.RunInfo, error) {
	type answer struct {
		info ports.RunInfo
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				answers <- answer{err: panicError("the backend", p)}
			}
		}()
		info, err := e.store.inspectRun(detached(ctx), ports.ScopeOf(o), runID)
		answers <- answer{info, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil && !errors.Is(a.err, ports.ErrUnavailable) {
			return a.info, storeError(runID, a.err)
		}
		if a.err != nil {
			return ports.RunInfo{Run: record.Run{Status: string(run.Running)}}, nil // an outage is waited out
		}
		return a.info, nil
	case <-ctx.Done():
		return ports.RunInfo{}, awaitTimeout(runID, ctx.Err())
	}
}

func awaitTimeout(runID string, err error) *Error {
	return &Error{Code: CodeTimeout, RunID: runID, Message: "the wait ended before the run did", Err: err}
}
