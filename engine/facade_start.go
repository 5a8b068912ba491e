package engine

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/lifecycle"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/value"
	"github.com/docket-go/docket/ports"
)

// StartRun asks for a new run of a saved graph.
type StartRun struct {
	Tenant   string
	Graph    graph.Ref
	RunID    string // default: a new one; with the caller's own the call may be repeated
	Input    map[string]any
	Metadata map[string]any
	At       time.Time // default: at once
}

// StartRun stores a new run and returns it; it doesn't wait for its nodes. With
// the caller's own RunID it is idempotent: the same graph and input return the
// run that is there, anything else is CodeConflict. With a free slot in a process
// that drives runs, the new run is driven here at once.
func (e *Engine) StartRun(ctx context.Context, req StartRun) (Run, error) {
	if req.RunID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return Run{}, &Error{Code: CodeInternal, Message: err.Error(), Err: err}
		}
		req.RunID = id.String()
	}
	o, err := e.runOwner(req.Tenant, req.RunID)
	if err != nil {
		return Run{}, err
	}
	ctx, span := e.tel.startCall(ctx, "docket.start_run", req.RunID)
	defer span.End()
	g, err := e.graphs.structure(ctx, e.store, o, req.Graph)
	if err != nil {
		return Run{}, loadError(req.RunID, err)
	}
	m, err := e.initialize(ctx, o, g, req)
	if err != nil {
		return Run{}, err
	}
	started, err := e.insert(ctx, o, g, m)
	if err != nil || e.cfg.Mode != ModeInline || e.bound {
		return started, err
	}
	if err := e.inline(ctx); err != nil {
		return Run{}, err
	}
	return e.FetchRun(ctx, FetchRun{Tenant: req.Tenant, RunID: req.RunID})
}

func (e *Engine) initialize(ctx context.Context, o record.Owner, g *compiler.Graph, req StartRun) (*runtime.Moment, error) {
	now, err := e.store.now(ctx, ports.ScopeOf(o))
	if err != nil {
		return nil, storeError(req.RunID, err)
	}
	m, err := runtime.Initialize(g, runtime.Start{
		RunID: req.RunID, Input: req.Input, Metadata: req.Metadata, At: req.At, Now: now,
	})
	if err != nil {
		return nil, inputError(req.RunID, err)
	}
	return m, nil
}

// inputError tells what a caller gave that can't be accepted, place by place.
func inputError(runID string, err error) *Error {
	e := &Error{Code: CodeInvalidInput, Message: err.Error(), RunID: runID, Err: err}
	var input *runtime.InputError
	if errors.As(err, &input) {
		e.Details = map[string]any{"reasons": input.Reasons}
	}
	return e
}

// insert stores the first moment, already claimed when a slot of this process is
// free for the run (RUN-14).
func (e *Engine) insert(ctx context.Context, o record.Owner, g *compiler.Graph, m *runtime.Moment) (Run, error) {
	var slot *slot
	if m.Disposition.Kind == runtime.Continue && g.Executable && !e.bound {
		slot = e.driver.reserve()
	}
	defer slot.free()
	for {
		t, err := lifecycle.Transition(m, slot != nil)
		if err != nil {
			return Run{}, inputError(m.Run.ID, err)
		}
		req := ports.InsertRun{Owner: o, Transition: t}
		if slot != nil {
			req.Claim = ports.ClaimGrant{Token: uuid.NewString(), TTL: e.cfg.ClaimTTL}
		}
		answer, doubt, err := e.sendInsert(ctx, req)
		switch {
		case err == nil:
			started := viewRun(o, m.Run)
			e.committed(ctx, commit{owner: o, moment: m, schedule: t.Schedule, now: answer.Now})
			slot.drive(ctx, bornClaimed(req, answer), m.Run, g)
			return started, nil
		case errors.Is(err, ports.ErrUnsupported) && slot != nil:
			// Under admission nobody is born claimed: the run is due like any other.
			e.driver.noHandOff()
			slot.free()
			slot = nil
		case errors.Is(err, ports.ErrExists):
			return e.existing(ctx, o, m, req, doubt, slot)
		default:
			return Run{}, storeError(m.Run.ID, err)
		}
	}
}

// insertTries bounds how often one insert is sent while its outcome is unknown.
const insertTries = 4

// sendInsert sends the same request again while its outcome is unknown (RUN-13).
// doubt says that an earlier try may be what a taken id is about.
func (e *Engine) sendInsert(ctx context.Context, req ports.InsertRun) (answer ports.Inserted, doubt bool, err error) {
	wait := backoff{base: 50 * time.Millisecond, limit: time.Second}
	for try := 1; ; try++ {
		answer, err = e.store.insert(ctx, req)
		if !errors.Is(err, ports.ErrUncertain) || try == insertTries {
			return answer, doubt, err
		}
		doubt = true
		if !pause(ctx, e.jitter.below(wait.step())) {
			return answer, doubt, err
		}
	}
}

// existing answers for a taken id: the caller's own run again, or a conflict.
func (e *Engine) existing(ctx context.Context, o record.Owner, m *runtime.Moment, req ports.InsertRun, doubt bool, slot *slot) (Run, error) {
	conflict := &Error{
		Code: CodeConflict, RunID: m.Run.ID, Err: ports.ErrConflict,
		Message: "the run id is taken by another graph, input or owner",
	}
	fetched, err := e.store.fetchRun(ctx, ports.ScopeOf(o), m.Run.ID)
	if errors.Is(err, ports.ErrNotFound) {
		return Run{}, conflict
	}
	if err != nil {
		return Run{}, storeError(m.Run.ID, err)
	}
	there, err := lifecycle.Run(fetched.Run)
	if err != nil {
		return Run{}, documentError(m.Run.ID, err)
	}
	if there.Graph != m.Run.Graph || !value.Equal(there.Input, m.Run.Input) {
		return Run{}, conflict
	}
	if doubt && fetched.Run.Checksum == req.Transition.Run.Checksum {
		e.adopt(ctx, o, m, req, slot)
	}
	return viewRun(o, there), nil
}

// adopt drives a run whose insert landed although its answer was lost. Only a
// read that shows our token proves that the claim is ours (RUN-13); without one
// the claim runs out and the run goes to whoever comes.
func (e *Engine) adopt(ctx context.Context, o record.Owner, m *runtime.Moment, req ports.InsertRun, slot *slot) {
	if slot == nil {
		return
	}
	seen, err := e.store.fetchRun(ctx, ports.System(), m.Run.ID)
	if err != nil || seen.Token != req.Claim.Token || seen.Run.CheckpointSeq != m.Run.CheckpointSeq {
		return
	}
	slot.drive(ctx, bornClaimed(req, ports.Inserted{Now: seen.Now, ClaimEnd: seen.Now.Add(e.cfg.ClaimTTL)}), m.Run, nil)
}

func bornClaimed(req ports.InsertRun, answer ports.Inserted) ports.Lease {
	return ports.Lease{
		Owner: req.Owner, Run: req.Transition.Run, Token: req.Claim.Token, Attempt: 1,
		Class: ports.ClassReady, Now: answer.Now, ClaimEnd: answer.ClaimEnd,
	}
}

// pause waits, and reports false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
