package wire

import (
	"context"

	"github.com/docket-go/docket/ports"
)

// roles are the operations that a store and its transactions share.
type roles struct {
	client *Client
	tx     string // a transaction's handle, "" for the store
}

// asked sends the request of a method by its name.
func asked[A any](ctx context.Context, r roles, method string, params any) (A, error) {
	op := operations[snakeCase(method)]
	var answer A
	if err := r.client.ask(ctx, request{name: method, op: op.name, tx: r.tx, writes: op.writes, params: params}, &answer); err != nil {
		var none A
		return none, err
	}
	return answer, nil
}

func (r roles) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	return asked[ports.SavedGraph](ctx, r, "SaveGraph", req)
}

func (r roles) FetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	return asked[ports.FetchedGraph](ctx, r, "FetchGraph", req)
}

func (r roles) LatestGraph(ctx context.Context, req ports.LatestGraph) (ports.GraphVersion, error) {
	return asked[ports.GraphVersion](ctx, r, "LatestGraph", req)
}

func (r roles) ListGraphs(ctx context.Context, req ports.ListGraphs) (ports.GraphPage, error) {
	return asked[ports.GraphPage](ctx, r, "ListGraphs", req)
}

func (r roles) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	return asked[ports.Inserted](ctx, r, "InsertRun", req)
}

func (r roles) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	return asked[ports.Committed](ctx, r, "CommitClaimed", req)
}

func (r roles) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	return asked[ports.Committed](ctx, r, "CommitUnclaimed", req)
}

func (r roles) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	return asked[ports.FetchedRun](ctx, r, "FetchRun", req)
}

func (r roles) InspectRun(ctx context.Context, req ports.InspectRun) (ports.RunInfo, error) {
	return asked[ports.RunInfo](ctx, r, "InspectRun", req)
}

func (r roles) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	return asked[ports.RunPage](ctx, r, "ListRuns", req)
}

func (r roles) RecoverRun(ctx context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	return asked[ports.Recovered](ctx, r, "RecoverRun", req)
}

func (r roles) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	return asked[ports.Claimed](ctx, r, "ClaimRuns", req)
}

func (r roles) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	return asked[ports.Refreshed](ctx, r, "RefreshClaim", req)
}

func (r roles) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	return asked[ports.Released](ctx, r, "ReleaseClaim", req)
}

func (r roles) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	return asked[ports.Abandoned](ctx, r, "AbandonClaim", req)
}

func (r roles) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	return asked[ports.EventPage](ctx, r, "ListEvents", req)
}

func (r roles) FetchEvent(ctx context.Context, req ports.FetchEvent) (ports.FetchedEvent, error) {
	return asked[ports.FetchedEvent](ctx, r, "FetchEvent", req)
}

func (r roles) LatestEvent(ctx context.Context, req ports.LatestEvent) (ports.FoundEvent, error) {
	return asked[ports.FoundEvent](ctx, r, "LatestEvent", req)
}
