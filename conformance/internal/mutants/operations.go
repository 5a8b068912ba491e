package mutants

import (
	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

// rules are operations in the place of the model's own; nil keeps the model's.
type rules struct {
	saveGraph       func(*model.State, ports.SaveGraph) (ports.SavedGraph, error)
	fetchGraph      func(*model.State, ports.FetchGraph) (ports.FetchedGraph, error)
	latestGraph     func(*model.State, ports.LatestGraph) (ports.GraphVersion, error)
	listGraphs      func(*model.State, ports.ListGraphs) (ports.GraphPage, error)
	insertRun       func(*model.State, ports.InsertRun) (ports.Inserted, error)
	commitClaimed   func(*model.State, ports.CommitClaimed) (ports.Committed, error)
	commitUnclaimed func(*model.State, ports.CommitUnclaimed) (ports.Committed, error)
	fetchRun        func(*model.State, ports.FetchRun) (ports.FetchedRun, error)
	inspectRun      func(*model.State, ports.InspectRun) (ports.RunInfo, error)
	listRuns        func(*model.State, ports.ListRuns) (ports.RunPage, error)
	recoverRun      func(*model.State, ports.RecoverRun) (ports.Recovered, error)
	claimRuns       func(*model.State, ports.ClaimRuns, model.TokenSource) (ports.Claimed, error)
	refreshClaim    func(*model.State, ports.RefreshClaim) (ports.Refreshed, error)
	releaseClaim    func(*model.State, ports.ReleaseClaim) (ports.Released, error)
	abandonClaim    func(*model.State, ports.AbandonClaim) (ports.Abandoned, error)
	listEvents      func(*model.State, ports.ListEvents) (ports.EventPage, error)
	fetchEvent      func(*model.State, ports.FetchEvent) (ports.FetchedEvent, error)
	latestEvent     func(*model.State, ports.LatestEvent) (ports.FoundEvent, error)
	prune           func(*model.State, ports.Prune) (ports.Pruned, error)
}

// operations is the model with some of its operations replaced.
type operations struct {
	*model.State
	rules
}

func (o operations) SaveGraph(req ports.SaveGraph) (ports.SavedGraph, error) {
	if o.saveGraph != nil {
		return o.saveGraph(o.State, req)
	}
	return o.State.SaveGraph(req)
}

func (o operations) FetchGraph(req ports.FetchGraph) (ports.FetchedGraph, error) {
	if o.fetchGraph != nil {
		return o.fetchGraph(o.State, req)
	}
	return o.State.FetchGraph(req)
}

func (o operations) LatestGraph(req ports.LatestGraph) (ports.GraphVersion, error) {
	if o.latestGraph != nil {
		return o.latestGraph(o.State, req)
	}
	return o.State.LatestGraph(req)
}

func (o operations) ListGraphs(req ports.ListGraphs) (ports.GraphPage, error) {
	if o.listGraphs != nil {
		return o.listGraphs(o.State, req)
	}
	return o.State.ListGraphs(req)
}

func (o operations) InsertRun(req ports.InsertRun) (ports.Inserted, error) {
	if o.insertRun != nil {
		return o.insertRun(o.State, req)
	}
	return o.State.InsertRun(req)
}

func (o operations) CommitClaimed(req ports.CommitClaimed) (ports.Committed, error) {
	if o.commitClaimed != nil {
		return o.commitClaimed(o.State, req)
	}
	return o.State.CommitClaimed(req)
}

func (o operations) CommitUnclaimed(req ports.CommitUnclaimed) (ports.Committed, error) {
	if o.commitUnclaimed != nil {
		return o.commitUnclaimed(o.State, req)
	}
	return o.State.CommitUnclaimed(req)
}

func (o operations) FetchRun(req ports.FetchRun) (ports.FetchedRun, error) {
	if o.fetchRun != nil {
		return o.fetchRun(o.State, req)
	}
	return o.State.FetchRun(req)
}

func (o operations) InspectRun(req ports.InspectRun) (ports.RunInfo, error) {
	if o.inspectRun != nil {
		return o.inspectRun(o.State, req)
	}
	return o.State.InspectRun(req)
}

func (o operations) ListRuns(req ports.ListRuns) (ports.RunPage, error) {
	if o.listRuns != nil {
		return o.listRuns(o.State, req)
	}
	return o.State.ListRuns(req)
}

func (o operations) RecoverRun(req ports.RecoverRun) (ports.Recovered, error) {
	if o.recoverRun != nil {
		return o.recoverRun(o.State, req)
	}
	return o.State.RecoverRun(req)
}

func (o operations) ClaimRuns(req ports.ClaimRuns, token model.TokenSource) (ports.Claimed, error) {
	if o.claimRuns != nil {
		return o.claimRuns(o.State, req, token)
	}
	return o.State.ClaimRuns(req, token)
}

func (o operations) RefreshClaim(req ports.RefreshClaim) (ports.Refreshed, error) {
	if o.refreshClaim != nil {
		return o.refreshClaim(o.State, req)
	}
	return o.State.RefreshClaim(req)
}

func (o operations) ReleaseClaim(req ports.ReleaseClaim) (ports.Released, error) {
	if o.releaseClaim != nil {
		return o.releaseClaim(o.State, req)
	}
	return o.State.ReleaseClaim(req)
}

func (o operations) AbandonClaim(req ports.AbandonClaim) (ports.Abandoned, error) {
	if o.abandonClaim != nil {
		return o.abandonClaim(o.State, req)
	}
	return o.State.AbandonClaim(req)
}

func (o operations) ListEvents(req ports.ListEvents) (ports.EventPage, error) {
	if o.listEvents != nil {
		return o.listEvents(o.State, req)
	}
	return o.State.ListEvents(req)
}

func (o operations) FetchEvent(req ports.FetchEvent) (ports.FetchedEvent, error) {
	if o.fetchEvent != nil {
		return o.fetchEvent(o.State, req)
	}
	return o.State.FetchEvent(req)
}

func (o operations) LatestEvent(req ports.LatestEvent) (ports.FoundEvent, error) {
	if o.latestEvent != nil {
		return o.latestEvent(o.State, req)
	}
	return o.State.LatestEvent(req)
}

func (o operations) Prune(req ports.Prune) (ports.Pruned, error) {
	if o.prune != nil {
		return o.prune(o.State, req)
	}
	return o.State.Prune(req)
}
