package engine

import (
	"context"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// FetchRun asks for a run as last committed.
type FetchRun struct {
	Tenant string
	RunID  string
}

// FetchRun returns a run as last committed.
func (e *Engine) FetchRun(ctx context.Context, req FetchRun) (Run, error) {
	o, err := e.runOwner(req.Tenant, req.RunID)
	if err != nil {
		return Run{}, err
	}
	fetched, err := e.store.fetchRun(ctx, ports.ScopeOf(o), req.RunID)
	if err != nil {
		return Run{}, storeError(req.RunID, err)
	}
	return viewRecord(fetched.Owner, fetched.Run)
}

// InspectRun asks for a run with its delivery state.
type InspectRun struct {
	Tenant string
	RunID  string
}

// InspectRun returns a run with its delivery state. It answers for a run whose
// document is damaged too: see RunInfo.Damage.
func (e *Engine) InspectRun(ctx context.Context, req InspectRun) (RunInfo, error) {
	o, err := e.runOwner(req.Tenant, req.RunID)
	if err != nil {
		return RunInfo{}, err
	}
	info, err := e.store.inspectRun(ctx, ports.ScopeOf(o), req.RunID)
	if err != nil {
		return RunInfo{}, storeError(req.RunID, err)
	}
	return viewInfo(info), nil
}

// ListRuns asks for a page of runs, newest first. Zero filters match everything.
type ListRuns struct {
	Tenant         string
	Statuses       []run.Status // durable ones
	GraphID        string
	GraphHash      string // only with GraphID
	OpenInterrupts bool   // only runs with at least one
	Poisoned       bool   // only poisoned runs
	After          ports.RunCursor
	Limit          int // 1..1000; default Config.RunPage
}

// RunPage is a page of runs, newest first by (StartedAt, ID).
type RunPage struct {
	Items   []RunSummary
	Next    ports.RunCursor // the given one when Items is empty
	HasMore bool
}

// ListRuns returns summaries, without state.
func (e *Engine) ListRuns(ctx context.Context, req ListRuns) (RunPage, error) {
	o, err := e.owner(req.Tenant)
	if err != nil {
		return RunPage{}, err
	}
	query := ports.ListRuns{
		Scope: ports.ScopeOf(o), GraphID: req.GraphID, GraphHash: req.GraphHash,
		OpenInterrupts: req.OpenInterrupts, Poisoned: req.Poisoned, After: req.After,
	}
	if query.Limit, err = pageSize(req.Limit, e.cfg.RunPage); err != nil {
		return RunPage{}, err
	}
	if req.GraphHash != "" && req.GraphID == "" {
		return RunPage{}, invalid("GraphHash", "is given without GraphID")
	}
	for i, s := range req.Statuses {
		if !s.Durable() {
			return RunPage{}, invalid("Statuses", "entry %d is %q, want a durable status", i, s)
		}
		query.Statuses = append(query.Statuses, string(s))
	}
	page, err := e.store.listRuns(ctx, query)
	if err != nil {
		return RunPage{}, storeError("", err)
	}
	items := make([]RunSummary, len(page.Items))
	for i, s := range page.Items {
		items[i] = viewSummary(s)
	}
	return RunPage{Items: items, Next: page.Next, HasMore: page.HasMore}, nil
}

// LatestRun asks for the newest run that matches.
type LatestRun struct {
	Tenant    string
	Statuses  []run.Status
	GraphID   string
	GraphHash string // only with GraphID
}

// LatestRun returns the newest matching run, or CodeNotFound.
func (e *Engine) LatestRun(ctx context.Context, req LatestRun) (RunSummary, error) {
	page, err := e.ListRuns(ctx, ListRuns{
		Tenant: req.Tenant, Statuses: req.Statuses, GraphID: req.GraphID, GraphHash: req.GraphHash, Limit: 1,
	})
	if err != nil {
		return RunSummary{}, err
	}
	if len(page.Items) == 0 {
		return RunSummary{}, &Error{Code: CodeNotFound, Message: "no run matches", Err: ports.ErrNotFound}
	}
	return page.Items[0], nil
}

// ListInterrupts asks for the open interrupts of a run.
type ListInterrupts struct {
	Tenant string
	RunID  string
}

// ListInterrupts returns the open interrupts of a run, sorted by id.
func (e *Engine) ListInterrupts(ctx context.Context, req ListInterrupts) ([]run.Interrupt, error) {
	r, err := e.FetchRun(ctx, FetchRun(req))
	if err != nil {
		return nil, err
	}
	return r.Interrupts, nil
}

// RetryPoisonedRun asks to give a poisoned run back to delivery.
type RetryPoisonedRun struct {
	Tenant string
	RunID  string
}

// RetryPoisonedRun gives a poisoned run its full budget of claims and makes it
// due at once; its state stays as it is. It reports whether the run was poisoned;
// a healthy run is left alone, a terminal one is CodeInactive.
func (e *Engine) RetryPoisonedRun(ctx context.Context, req RetryPoisonedRun) (bool, error) {
	o, err := e.runOwner(req.Tenant, req.RunID)
	if err != nil {
		return false, err
	}
	recovered, err := e.store.recoverRun(ctx, ports.ScopeOf(o), req.RunID)
	if err != nil {
		return false, storeError(req.RunID, err)
	}
	if recovered.Changed && !e.bound {
		e.driver.wake()
	}
	return recovered.Changed, e.inline(ctx)
}
