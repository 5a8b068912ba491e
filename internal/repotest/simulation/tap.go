package simulation

import (
	"context"

	"github.com/docket-go/docket/ports"
)

// call is one operation on its way to the store.
type call struct {
	op   string
	req  any
	send func(ctx context.Context, req any) (any, error)
}

// tap is a backend that hands every operation to one function, which may look,
// wait, refuse, change it, or send it on.
type tap struct {
	inner ports.Backend
	hook  func(ctx context.Context, c call) (any, error)
}

func through[R, A any](ctx context.Context, t *tap, op string, req R, do func(context.Context, R) (A, error)) (A, error) {
	got, err := t.hook(ctx, call{op: op, req: req, send: func(ctx context.Context, req any) (any, error) {
		return do(ctx, req.(R))
	}})
	answer, _ := got.(A)
	return answer, err
}

// Unwrap returns the backend inside, where the optional interfaces are.
func (t *tap) Unwrap() ports.Backend { return t.inner }

// Capabilities returns those of the backend inside.
func (t *tap) Capabilities() ports.Capabilities { return t.inner.Capabilities() }

// Close closes the backend inside.
func (t *tap) Close() error { return t.inner.Close() }

func (t *tap) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	return through(ctx, t, "SaveGraph", req, t.inner.SaveGraph)
}

func (t *tap) FetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	return through(ctx, t, "FetchGraph", req, t.inner.FetchGraph)
}

func (t *tap) LatestGraph(ctx context.Context, req ports.LatestGraph) (ports.GraphVersion, error) {
	return through(ctx, t, "LatestGraph", req, t.inner.LatestGraph)
}

func (t *tap) ListGraphs(ctx context.Context, req ports.ListGraphs) (ports.GraphPage, error) {
	return through(ctx, t, "ListGraphs", req, t.inner.ListGraphs)
}

func (t *tap) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	return through(ctx, t, "InsertRun", req, t.inner.InsertRun)
}

func (t *tap) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	return through(ctx, t, "CommitClaimed", req, t.inner.CommitClaimed)
}

func (t *tap) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	return through(ctx, t, "CommitUnclaimed", req, t.inner.CommitUnclaimed)
}

func (t *tap) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	return through(ctx, t, "FetchRun", req, t.inner.FetchRun)
}

func (t *tap) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	return through(ctx, t, "InspectRun", req, t.inner.InspectRun)
}

func (t *tap) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	return through(ctx, t, "ListRuns", req, t.inner.ListRuns)
}

func (t *tap) RecoverRun(ctx context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	return through(ctx, t, "RecoverRun", req, t.inner.RecoverRun)
}

func (t *tap) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	return through(ctx, t, "ClaimRuns", req, t.inner.ClaimRuns)
}

func (t *tap) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	return through(ctx, t, "RefreshClaim", req, t.inner.RefreshClaim)
}

func (t *tap) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	return through(ctx, t, "ReleaseClaim", req, t.inner.ReleaseClaim)
}

func (t *tap) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	return through(ctx, t, "AbandonClaim", req, t.inner.AbandonClaim)
}

func (t *tap) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	return through(ctx, t, "ListEvents", req, t.inner.ListEvents)
}

func (t *tap) FetchEvent(ctx context.Context, req ports.FetchEvent) (ports.FetchedEvent, error) {
	return through(ctx, t, "FetchEvent", req, t.inner.FetchEvent)
}

func (t *tap) LatestEvent(ctx context.Context, req ports.LatestEvent) (ports.FoundEvent, error) {
	return through(ctx, t, "LatestEvent", req, t.inner.LatestEvent)
}
