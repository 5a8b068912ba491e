package conformance

import (
	"context"
	"runtime/debug"

	"github.com/docket-go/docket/ports"
)

// logged is a backend whose calls are recorded. It shows the required roles
// only, so a case can't reach more of a backend than the contract declares.
type logged struct {
	ports.Backend
	t      T
	log    *opLog
	handle string // tells several handles of one case apart
}

// call records one call and contains a panic of the backend, which is a failure
// of the backend and not of the case.
func call[Q, A any](l *logged, ctx context.Context, op string, f func(context.Context, Q) (A, error), req Q) (A, error) {
	entry := l.log.begin(l.handle, op, req)
	defer func() {
		if p := recover(); p != nil {
			l.t.Fatalf("the backend panicked in %s: %v\n%s", op, p, debug.Stack())
		}
	}()
	answer, err := f(ctx, req)
	l.log.end(entry, answer, err)
	return answer, err
}

func (l *logged) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	return call(l, ctx, "SaveGraph", l.Backend.SaveGraph, req)
}

func (l *logged) FetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	return call(l, ctx, "FetchGraph", l.Backend.FetchGraph, req)
}

func (l *logged) LatestGraph(ctx context.Context, req ports.LatestGraph) (ports.GraphVersion, error) {
	return call(l, ctx, "LatestGraph", l.Backend.LatestGraph, req)
}

func (l *logged) ListGraphs(ctx context.Context, req ports.ListGraphs) (ports.GraphPage, error) {
	return call(l, ctx, "ListGraphs", l.Backend.ListGraphs, req)
}

func (l *logged) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	return call(l, ctx, "InsertRun", l.Backend.InsertRun, req)
}

func (l *logged) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	return call(l, ctx, "CommitClaimed", l.Backend.CommitClaimed, req)
}

func (l *logged) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	return call(l, ctx, "CommitUnclaimed", l.Backend.CommitUnclaimed, req)
}

func (l *logged) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	return call(l, ctx, "FetchRun", l.Backend.FetchRun, req)
}

func (l *logged) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	return call(l, ctx, "InspectRun", l.Backend.InspectRun, req)
}

func (l *logged) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	return call(l, ctx, "ListRuns", l.Backend.ListRuns, req)
}

func (l *logged) RecoverRun(ctx context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	return call(l, ctx, "RecoverRun", l.Backend.RecoverRun, req)
}

func (l *logged) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	return call(l, ctx, "ClaimRuns", l.Backend.ClaimRuns, req)
}

func (l *logged) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	return call(l, ctx, "RefreshClaim", l.Backend.RefreshClaim, req)
}

func (l *logged) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	return call(l, ctx, "ReleaseClaim", l.Backend.ReleaseClaim, req)
}

func (l *logged) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	return call(l, ctx, "AbandonClaim", l.Backend.AbandonClaim, req)
}

func (l *logged) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	return call(l, ctx, "ListEvents", l.Backend.ListEvents, req)
}

func (l *logged) FetchEvent(ctx context.Context, req ports.FetchEvent) (ports.FetchedEvent, error) {
	return call(l, ctx, "FetchEvent", l.Backend.FetchEvent, req)
}

func (l *logged) LatestEvent(ctx context.Context, req ports.LatestEvent) (ports.FoundEvent, error) {
	return call(l, ctx, "LatestEvent", l.Backend.LatestEvent, req)
}

func (l *logged) Close() error {
	_, err := call(l, context.Background(), "Close", func(context.Context, any) (any, error) { return nil, l.Backend.Close() }, any(nil))
	return err
}

// begin starts a recorded transaction of t, a capability of the same backend.
func (l *logged) begin(ctx context.Context, t ports.Transactor) (*loggedTx, error) {
	tx, err := call(l, ctx, "Begin", func(ctx context.Context, _ any) (ports.Tx, error) { return t.Begin(ctx) }, any(nil))
	if err != nil {
		return nil, err
	}
	return &loggedTx{logged: logged{Backend: tx, t: l.t, log: l.log, handle: l.handle + "tx"}, tx: tx}, nil
}

// loggedTx is a transaction whose calls are recorded.
type loggedTx struct {
	logged
	tx ports.Tx
}

func (l *loggedTx) Commit(ctx context.Context) error {
	_, err := call(&l.logged, ctx, "Commit", func(ctx context.Context, _ any) (any, error) { return nil, l.tx.Commit(ctx) }, any(nil))
	return err
}

func (l *loggedTx) Rollback(ctx context.Context) error {
	_, err := call(&l.logged, ctx, "Rollback", func(ctx context.Context, _ any) (any, error) { return nil, l.tx.Rollback(ctx) }, any(nil))
	return err
}
