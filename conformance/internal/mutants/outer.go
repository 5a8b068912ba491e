package mutants

import (
	"context"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

// outer is the model's backend with some of its methods replaced; nil keeps the
// model's.
type outer struct {
	*model.Backend
	begin         func(*outer, *model.Tx) ports.Tx
	wakes         func(context.Context, *outer) (<-chan struct{}, error)
	close         func(*outer) error
	fetchRun      func(context.Context, *outer, ports.FetchRun) (ports.FetchedRun, error)
	insertRun     func(context.Context, *outer, ports.InsertRun) (ports.Inserted, error)
	commitClaimed func(context.Context, *outer, ports.CommitClaimed) (ports.Committed, error)
	signal        func(context.Context, *outer, ports.CommitUnclaimed) (ports.Committed, error)
	claimRuns     func(context.Context, *outer, ports.ClaimRuns) (ports.Claimed, error)
	refreshClaim  func(context.Context, *outer, ports.RefreshClaim) (ports.Refreshed, error)
	releaseClaim  func(context.Context, *outer, ports.ReleaseClaim) (ports.Released, error)
	abandonClaim  func(context.Context, *outer, ports.AbandonClaim) (ports.Abandoned, error)
	listEvents    func(context.Context, *outer, ports.ListEvents) (ports.EventPage, error)
	saveGraph     func(context.Context, *outer, ports.SaveGraph) (ports.SavedGraph, error)
}

// wrapping gives each backend of a mutant an outer of its own.
func wrapping(o outer) func(*model.Backend) ports.Backend {
	return func(b *model.Backend) ports.Backend {
		own := o
		own.Backend = b
		return &own
	}
}

func (o *outer) inside() *model.Backend { return o.Backend }

func (o *outer) Begin(ctx context.Context) (ports.Tx, error) {
	tx, err := o.Backend.Begin(ctx)
	if err != nil || o.begin == nil {
		return tx, err
	}
	return o.begin(o, tx.(*model.Tx)), nil
}

func (o *outer) Wakes(ctx context.Context) (<-chan struct{}, error) {
	if o.wakes == nil {
		return o.Backend.Wakes(ctx)
	}
	return o.wakes(ctx, o)
}

func (o *outer) Close() error {
	if o.close == nil {
		return o.Backend.Close()
	}
	return o.close(o)
}

// either calls the replacement when there is one.
func either[Q, A any](ctx context.Context, o *outer, req Q, f func(context.Context, *outer, Q) (A, error), own func(context.Context, Q) (A, error)) (A, error) {
	if f == nil {
		return own(ctx, req)
	}
	return f(ctx, o, req)
}

func (o *outer) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	return either(ctx, o, req, o.saveGraph, o.Backend.SaveGraph)
}

func (o *outer) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	return either(ctx, o, req, o.fetchRun, o.Backend.FetchRun)
}

func (o *outer) InsertRun(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	return either(ctx, o, req, o.insertRun, o.Backend.InsertRun)
}

func (o *outer) CommitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	return either(ctx, o, req, o.commitClaimed, o.Backend.CommitClaimed)
}

func (o *outer) CommitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	return either(ctx, o, req, o.signal, o.Backend.CommitUnclaimed)
}

func (o *outer) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	return either(ctx, o, req, o.claimRuns, o.Backend.ClaimRuns)
}

func (o *outer) RefreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	return either(ctx, o, req, o.refreshClaim, o.Backend.RefreshClaim)
}

func (o *outer) ReleaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	return either(ctx, o, req, o.releaseClaim, o.Backend.ReleaseClaim)
}

func (o *outer) AbandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	return either(ctx, o, req, o.abandonClaim, o.Backend.AbandonClaim)
}

func (o *outer) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	return either(ctx, o, req, o.listEvents, o.Backend.ListEvents)
}
