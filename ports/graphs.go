package ports

import (
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
)

// SaveGraph asks to store one graph version for an owner.
type SaveGraph struct {
	Owner   record.Owner
	Version record.GraphVersion // PublishedAt is ignored: it is the store's (GRF-3)
	Now     time.Time           // zero: the store's clock
}

// SavedGraph answers SaveGraph.
type SavedGraph struct {
	PublishedAt time.Time // the first publication (GRF-1)
	Created     bool      // false when the same bytes were there already
}

// FetchGraph asks for one exact version.
type FetchGraph struct {
	Owner record.Owner
	Ref   graph.Ref
}

// FetchedGraph answers FetchGraph.
type FetchedGraph struct {
	Version record.GraphVersion
}

// LatestGraph asks for the newest version of a graph id (GRF-3).
type LatestGraph struct {
	Owner   record.Owner
	GraphID string
}

// GraphVersion is a version's metadata, without its document (GRF-4).
type GraphVersion struct {
	Ref         graph.Ref
	PublishedAt time.Time
	Size        int64 // bytes of the document
}

// GraphCursor is a position in a newest-first list of versions; the zero cursor
// is the beginning. It is exclusive, and needs no stored version at its place.
type GraphCursor struct {
	PublishedAt time.Time
	Hash        string
}

// ListGraphs asks for a page of an owner's versions of one graph id.
type ListGraphs struct {
	Owner   record.Owner
	GraphID string
	After   GraphCursor
	Limit   int // 1..1000, 0 means 100
}

// GraphPage is a page of versions, newest first by (publication time, hash).
type GraphPage struct {
	Items   []GraphVersion
	Next    GraphCursor // the given cursor when Items is empty
	HasMore bool
}
