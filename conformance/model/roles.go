package model

import (
	"context"

	"github.com/docket-go/docket/ports"
)

// The required roles, each operation by the state.

// SaveGraph answers as State.SaveGraph does.
func (h *handle) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	req.Now = h.clock.now(req.Now)
	return write(ctx, h, "SaveGraph", req, func(req ports.SaveGraph) (ports.SavedGraph, error) { return h.does.SaveGraph(req) })
}

// FetchGraph answers as State.FetchGraph does.
func (h *handle) FetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	return read(ctx, h, "FetchGraph", req, func(req ports.FetchGraph) (ports.FetchedGraph, error) { return h.does.FetchGraph(req) })
}

// LatestGraph answers as State.LatestGraph does.
func (h *handle) LatestGraph(ctx context.Context, req ports.LatestGraph) (ports.GraphVersion, error) {
	return read(ctx, h, "LatestGraph", req, func(req ports.LatestGraph) (ports.GraphVersion, error) { return h.does.LatestGraph(req) })
}

// ListGraphs answers as State.ListGraphs does.
func (h *handle) ListGraphs(ctx context.Context, req ports.ListGraphs) (ports.GraphPage, error) {
	return read(ctx, h, "ListGraphs", req, func(req ports.ListGraphs) (ports.GraphPage, error) { return h.does.ListGraphs(req) })
}

// InsertRun answers as State.InsertRun does, and tells a wake that is due.
func (h *handle) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	req.Now = h.clock.now(req.Now)
	return write(ctx, h, "InsertRun", req, func(req ports.InsertRun) (ports.Inserted, error) {
		answer, err := h.does.InsertRun(req)
		if err == nil {
			h.due(req.Transition.Run.ID, req.Now)
		}
		return answer, err
	})
}

// CommitClaimed answers as State.CommitClaimed does, and tells a wake that is due.
func (h *handle) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	req.Now = h.clock.now(req.Now)
	return write(ctx, h, "CommitClaimed", req, func(req ports.CommitClaimed) (ports.Committed, error) {
		answer, err := h.does.CommitClaimed(req)
		if err == nil {
			h.due(req.RunID, req.Now)
		}
		return answer, err
	})
}

// CommitUnclaimed answers as State.CommitUnclaimed does, and tells a wake that is due.
func (h *handle) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	req.Now = h.clock.now(req.Now)
	return write(ctx, h, "CommitUnclaimed", req, func(req ports.CommitUnclaimed) (ports.Committed, error) {
		answer, err := h.does.CommitUnclaimed(req)
		if err == nil {
			h.due(req.RunID, req.Now)
		}
		return answer, err
	})
}

// FetchRun answers as State.FetchRun does.
func (h *handle) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	req.Now = h.clock.now(req.Now)
	return read(ctx, h, "FetchRun", req, func(req ports.FetchRun) (ports.FetchedRun, error) { return h.does.FetchRun(req) })
}

// InspectRun answers as State.InspectRun does.
func (h *handle) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	req.Now = h.clock.now(req.Now)
	return read(ctx, h, "InspectRun", req, func(req ports.InspectRun) (ports.RunInfo, error) { return h.does.InspectRun(req) })
}

// ListRuns answers as State.ListRuns does.
func (h *handle) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	req.Now = h.clock.now(req.Now)
	return read(ctx, h, "ListRuns", req, func(req ports.ListRuns) (ports.RunPage, error) { return h.does.ListRuns(req) })
}

// RecoverRun answers as State.RecoverRun does, and tells a wake that is due.
func (h *handle) RecoverRun(ctx context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	req.Now = h.clock.now(req.Now)
	return write(ctx, h, "RecoverRun", req, func(req ports.RecoverRun) (ports.Recovered, error) {
		answer, err := h.does.RecoverRun(req)
		if err == nil && answer.Changed {
			h.due(req.RunID, req.Now)
		}
		return answer, err
	})
}

// RefreshClaim answers as State.RefreshClaim does.
func (h *handle) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	if err := h.unclaimable("RefreshClaim"); err != nil {
		return ports.Refreshed{}, err
	}
	req.Now = h.clock.now(req.Now)
	return write(ctx, h, "RefreshClaim", req, func(req ports.RefreshClaim) (ports.Refreshed, error) { return h.does.RefreshClaim(req) })
}

// ReleaseClaim answers as State.ReleaseClaim does.
func (h *handle) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	if err := h.unclaimable("ReleaseClaim"); err != nil {
		return ports.Released{}, err
	}
	req.Now = h.clock.now(req.Now)
	return write(ctx, h, "ReleaseClaim", req, func(req ports.ReleaseClaim) (ports.Released, error) { return h.does.ReleaseClaim(req) })
}

// AbandonClaim answers as State.AbandonClaim does.
func (h *handle) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	if err := h.unclaimable("AbandonClaim"); err != nil {
		return ports.Abandoned{}, err
	}
	req.Now = h.clock.now(req.Now)
	return write(ctx, h, "AbandonClaim", req, func(req ports.AbandonClaim) (ports.Abandoned, error) { return h.does.AbandonClaim(req) })
}

// ListEvents answers as State.ListEvents does.
func (h *handle) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	return read(ctx, h, "ListEvents", req, func(req ports.ListEvents) (ports.EventPage, error) { return h.does.ListEvents(req) })
}

// FetchEvent answers as State.FetchEvent does.
func (h *handle) FetchEvent(ctx context.Context, req ports.FetchEvent) (ports.FetchedEvent, error) {
	return read(ctx, h, "FetchEvent", req, func(req ports.FetchEvent) (ports.FetchedEvent, error) { return h.does.FetchEvent(req) })
}

// LatestEvent answers as State.LatestEvent does.
func (h *handle) LatestEvent(ctx context.Context, req ports.LatestEvent) (ports.FoundEvent, error) {
	return read(ctx, h, "LatestEvent", req, func(req ports.LatestEvent) (ports.FoundEvent, error) { return h.does.LatestEvent(req) })
}

// ClaimRuns answers as State.ClaimRuns does.
func (h *handle) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	if err := h.unclaimable("ClaimRuns"); err != nil {
		return ports.Claimed{}, err
	}
	req.Now = h.clock.now(req.Now)
	return write(ctx, h, "ClaimRuns", req, func(req ports.ClaimRuns) (ports.Claimed, error) {
		return h.does.ClaimRuns(req, h.clock.token)
	})
}
