package model

import (
	"context"

	"github.com/docket-go/docket/ports"
)

// The required roles, each operation by the state.

// SaveGraph answers as State.SaveGraph does.
func (b *Backend) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	req.Now = b.now(req.Now)
	return apply(ctx, b, "SaveGraph", req, b.state.SaveGraph)
}

// FetchGraph answers as State.FetchGraph does.
func (b *Backend) FetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	return apply(ctx, b, "FetchGraph", req, b.state.FetchGraph)
}

// LatestGraph answers as State.LatestGraph does.
func (b *Backend) LatestGraph(ctx context.Context, req ports.LatestGraph) (ports.GraphVersion, error) {
	return apply(ctx, b, "LatestGraph", req, b.state.LatestGraph)
}

// ListGraphs answers as State.ListGraphs does.
func (b *Backend) ListGraphs(ctx context.Context, req ports.ListGraphs) (ports.GraphPage, error) {
	return apply(ctx, b, "ListGraphs", req, b.state.ListGraphs)
}

// InsertRun answers as State.InsertRun does.
func (b *Backend) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	req.Now = b.now(req.Now)
	return apply(ctx, b, "InsertRun", req, b.state.InsertRun)
}

// CommitClaimed answers as State.CommitClaimed does.
func (b *Backend) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	req.Now = b.now(req.Now)
	return apply(ctx, b, "CommitClaimed", req, b.state.CommitClaimed)
}

// CommitUnclaimed answers as State.CommitUnclaimed does.
func (b *Backend) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	req.Now = b.now(req.Now)
	return apply(ctx, b, "CommitUnclaimed", req, b.state.CommitUnclaimed)
}

// FetchRun answers as State.FetchRun does.
func (b *Backend) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	req.Now = b.now(req.Now)
	return apply(ctx, b, "FetchRun", req, b.state.FetchRun)
}

// InspectRun answers as State.InspectRun does.
func (b *Backend) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	req.Now = b.now(req.Now)
	return apply(ctx, b, "InspectRun", req, b.state.InspectRun)
}

// ListRuns answers as State.ListRuns does.
func (b *Backend) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	req.Now = b.now(req.Now)
	return apply(ctx, b, "ListRuns", req, b.state.ListRuns)
}

// RecoverRun answers as State.RecoverRun does.
func (b *Backend) RecoverRun(ctx context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	req.Now = b.now(req.Now)
	return apply(ctx, b, "RecoverRun", req, b.state.RecoverRun)
}

// RefreshClaim answers as State.RefreshClaim does.
func (b *Backend) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	if b.inTx {
		return ports.Refreshed{}, ports.Unsupported("RefreshClaim", "no claims inside a transaction")
	}
	req.Now = b.now(req.Now)
	return apply(ctx, b, "RefreshClaim", req, b.state.RefreshClaim)
}

// ReleaseClaim answers as State.ReleaseClaim does.
func (b *Backend) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	if b.inTx {
		return ports.Released{}, ports.Unsupported("ReleaseClaim", "no claims inside a transaction")
	}
	req.Now = b.now(req.Now)
	return apply(ctx, b, "ReleaseClaim", req, b.state.ReleaseClaim)
}

// AbandonClaim answers as State.AbandonClaim does.
func (b *Backend) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	if b.inTx {
		return ports.Abandoned{}, ports.Unsupported("AbandonClaim", "no claims inside a transaction")
	}
	req.Now = b.now(req.Now)
	return apply(ctx, b, "AbandonClaim", req, b.state.AbandonClaim)
}

// ListEvents answers as State.ListEvents does.
func (b *Backend) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	return apply(ctx, b, "ListEvents", req, b.state.ListEvents)
}

// FetchEvent answers as State.FetchEvent does.
func (b *Backend) FetchEvent(ctx context.Context, req ports.FetchEvent) (ports.FetchedEvent, error) {
	return apply(ctx, b, "FetchEvent", req, b.state.FetchEvent)
}

// LatestEvent answers as State.LatestEvent does.
func (b *Backend) LatestEvent(ctx context.Context, req ports.LatestEvent) (ports.FoundEvent, error) {
	return apply(ctx, b, "LatestEvent", req, b.state.LatestEvent)
}

// ClaimRuns answers as State.ClaimRuns does.
func (b *Backend) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	if b.inTx {
		return ports.Claimed{}, ports.Unsupported("ClaimRuns", "no claims inside a transaction")
	}
	req.Now = b.now(req.Now)
	return apply(ctx, b, "ClaimRuns", req, func(req ports.ClaimRuns) (ports.Claimed, error) {
		return b.state.ClaimRuns(req, b.token)
	})
}
