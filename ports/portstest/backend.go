package portstest

import (
	"context"

	"github.com/docket-go/docket/ports"
)

// faulty is the wrapped backend. Requests that carry bytes are copied first: a
// late one is applied after its caller got them back.
type faulty struct {
	faults *Faults
}

// Unwrap returns the backend inside.
func (b *faulty) Unwrap() ports.Backend { return b.faults.inner }

// Capabilities returns those of the backend inside.
func (b *faulty) Capabilities() ports.Capabilities { return b.faults.inner.Capabilities() }

// Close closes the backend inside.
func (b *faulty) Close() error { return b.faults.inner.Close() }

func (b *faulty) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	req.Now = b.faults.now(req.Now)
	req.Version = req.Version.Clone()
	return call(ctx, b.faults, "SaveGraph", func(ctx context.Context) (ports.SavedGraph, error) {
		return b.faults.inner.SaveGraph(ctx, req)
	})
}

func (b *faulty) FetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	return call(ctx, b.faults, "FetchGraph", func(ctx context.Context) (ports.FetchedGraph, error) {
		return b.faults.inner.FetchGraph(ctx, req)
	})
}

func (b *faulty) LatestGraph(ctx context.Context, req ports.LatestGraph) (ports.GraphVersion, error) {
	return call(ctx, b.faults, "LatestGraph", func(ctx context.Context) (ports.GraphVersion, error) {
		return b.faults.inner.LatestGraph(ctx, req)
	})
}

func (b *faulty) ListGraphs(ctx context.Context, req ports.ListGraphs) (ports.GraphPage, error) {
	return call(ctx, b.faults, "ListGraphs", func(ctx context.Context) (ports.GraphPage, error) {
		return b.faults.inner.ListGraphs(ctx, req)
	})
}

func (b *faulty) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	req.Now = b.faults.now(req.Now)
	req.Transition = req.Transition.Clone()
	return call(ctx, b.faults, "InsertRun", func(ctx context.Context) (ports.Inserted, error) {
		return b.faults.inner.InsertRun(ctx, req)
	})
}

func (b *faulty) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	req.Now = b.faults.now(req.Now)
	req.Transition = req.Transition.Clone()
	return call(ctx, b.faults, "CommitClaimed", func(ctx context.Context) (ports.Committed, error) {
		return b.faults.inner.CommitClaimed(ctx, req)
	})
}

func (b *faulty) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	req.Now = b.faults.now(req.Now)
	req.Transition = req.Transition.Clone()
	return call(ctx, b.faults, "CommitUnclaimed", func(ctx context.Context) (ports.Committed, error) {
		return b.faults.inner.CommitUnclaimed(ctx, req)
	})
}

func (b *faulty) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	req.Now = b.faults.now(req.Now)
	return call(ctx, b.faults, "FetchRun", func(ctx context.Context) (ports.FetchedRun, error) {
		return b.faults.inner.FetchRun(ctx, req)
	})
}

func (b *faulty) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	req.Now = b.faults.now(req.Now)
	return call(ctx, b.faults, "InspectRun", func(ctx context.Context) (ports.RunInfo, error) {
		return b.faults.inner.InspectRun(ctx, req)
	})
}

func (b *faulty) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	req.Now = b.faults.now(req.Now)
	return call(ctx, b.faults, "ListRuns", func(ctx context.Context) (ports.RunPage, error) {
		return b.faults.inner.ListRuns(ctx, req)
	})
}

func (b *faulty) RecoverRun(ctx context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	req.Now = b.faults.now(req.Now)
	return call(ctx, b.faults, "RecoverRun", func(ctx context.Context) (ports.Recovered, error) {
		return b.faults.inner.RecoverRun(ctx, req)
	})
}

func (b *faulty) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	req.Now = b.faults.now(req.Now)
	return call(ctx, b.faults, "ClaimRuns", func(ctx context.Context) (ports.Claimed, error) {
		return b.faults.inner.ClaimRuns(ctx, req)
	})
}

func (b *faulty) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	req.Now = b.faults.now(req.Now)
	return call(ctx, b.faults, "RefreshClaim", func(ctx context.Context) (ports.Refreshed, error) {
		return b.faults.inner.RefreshClaim(ctx, req)
	})
}

func (b *faulty) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	req.Now = b.faults.now(req.Now)
	return call(ctx, b.faults, "ReleaseClaim", func(ctx context.Context) (ports.Released, error) {
		return b.faults.inner.ReleaseClaim(ctx, req)
	})
}

func (b *faulty) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	req.Now = b.faults.now(req.Now)
	return call(ctx, b.faults, "AbandonClaim", func(ctx context.Context) (ports.Abandoned, error) {
		return b.faults.inner.AbandonClaim(ctx, req)
	})
}

func (b *faulty) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	return call(ctx, b.faults, "ListEvents", func(ctx context.Context) (ports.EventPage, error) {
		return b.faults.inner.ListEvents(ctx, req)
	})
}

func (b *faulty) FetchEvent(ctx context.Context, req ports.FetchEvent) (ports.FetchedEvent, error) {
	return call(ctx, b.faults, "FetchEvent", func(ctx context.Context) (ports.FetchedEvent, error) {
		return b.faults.inner.FetchEvent(ctx, req)
	})
}

func (b *faulty) LatestEvent(ctx context.Context, req ports.LatestEvent) (ports.FoundEvent, error) {
	return call(ctx, b.faults, "LatestEvent", func(ctx context.Context) (ports.FoundEvent, error) {
		return b.faults.inner.LatestEvent(ctx, req)
	})
}
