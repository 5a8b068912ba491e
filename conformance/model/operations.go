package model

import "github.com/docket-go/docket/ports"

// Operations is what a store does with its state. *State is the one that keeps
// the contract; a test puts another in its place to see who notices.
type Operations interface {
	SaveGraph(ports.SaveGraph) (ports.SavedGraph, error)
	FetchGraph(ports.FetchGraph) (ports.FetchedGraph, error)
	LatestGraph(ports.LatestGraph) (ports.GraphVersion, error)
	ListGraphs(ports.ListGraphs) (ports.GraphPage, error)

	InsertRun(ports.InsertRun) (ports.Inserted, error)
	CommitClaimed(ports.CommitClaimed) (ports.Committed, error)
	CommitUnclaimed(ports.CommitUnclaimed) (ports.Committed, error)
	FetchRun(ports.FetchRun) (ports.FetchedRun, error)
	InspectRun(ports.InspectRun) (ports.RunInfo, error)
	ListRuns(ports.ListRuns) (ports.RunPage, error)
	RecoverRun(ports.RecoverRun) (ports.Recovered, error)

	ClaimRuns(ports.ClaimRuns, TokenSource) (ports.Claimed, error)
	RefreshClaim(ports.RefreshClaim) (ports.Refreshed, error)
	ReleaseClaim(ports.ReleaseClaim) (ports.Released, error)
	AbandonClaim(ports.AbandonClaim) (ports.Abandoned, error)

	ListEvents(ports.ListEvents) (ports.EventPage, error)
	FetchEvent(ports.FetchEvent) (ports.FetchedEvent, error)
	LatestEvent(ports.LatestEvent) (ports.FoundEvent, error)

	Prune(ports.Prune) (ports.Pruned, error)
}

// TokenSource makes tokens, each once.
type TokenSource func() string
