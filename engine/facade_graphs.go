package engine

import (
	"context"
	"errors"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/value"
	"github.com/docket-go/docket/ports"
)

// SaveGraph asks to publish a graph.
type SaveGraph struct {
	Tenant string
	Graph  graph.Graph
}

// SavedGraph answers SaveGraph.
type SavedGraph struct {
	Ref         graph.Ref // pins exactly what was published
	PublishedAt time.Time // of the first publication
	Created     bool      // false when the same version was there already
	Warnings    []graph.Diagnostic
}

// SaveGraph publishes a graph: configuration defaults become part of it and its
// canonical bytes are its identity. Publishing the same again is a success. It
// needs the implementations of the graph's nodes and fails with
// CodeInvalidGraph, whose Details hold the diagnostics.
func (e *Engine) SaveGraph(ctx context.Context, req SaveGraph) (SavedGraph, error) {
	o, err := e.owner(req.Tenant)
	if err != nil {
		return SavedGraph{}, err
	}
	published, diagnostics, err := compiler.Publish(req.Graph, e.registry)
	if err != nil {
		return SavedGraph{}, graphError(err)
	}
	now, err := e.store.clock.stamp()
	if err != nil {
		return SavedGraph{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.StoreTimeout)
	defer cancel()
	saved, err := e.store.backend.SaveGraph(ctx, ports.SaveGraph{
		Owner:   o,
		Version: record.GraphVersion{Ref: published.Ref, Encoding: record.EncodingJSON, Document: published.Document},
		Now:     now,
	})
	if err != nil {
		return SavedGraph{}, storeError("", err)
	}
	return SavedGraph{
		Ref: published.Ref, PublishedAt: saved.PublishedAt, Created: saved.Created, Warnings: diagnostics,
	}, nil
}

// graphError tells why a graph can't be published or loaded.
func graphError(err error) *Error {
	e := &Error{Code: CodeInvalidGraph, Message: err.Error(), Err: err}
	var c *compiler.Error
	if !errors.As(err, &c) {
		return e
	}
	switch c.Code {
	case compiler.CodeGraphCorrupt:
		e.Code = CodeCorrupt
	case compiler.CodeUnsupportedFormat, compiler.CodeIncompatible:
		e.Code = CodeIncompatible
	}
	if len(c.Diagnostics) > 0 {
		e.Details = map[string]any{"diagnostics": c.Diagnostics}
	}
	return e
}

// FetchGraph asks for one exact version.
type FetchGraph struct {
	Tenant string
	Ref    graph.Ref
}

// PublishedGraph is a stored version, proven to be what its ref pins.
type PublishedGraph struct {
	Ref         graph.Ref
	PublishedAt time.Time
	Document    []byte      // its canonical bytes
	Graph       graph.Graph // read without implementations
}

// FetchGraph returns one version. Bytes that don't hash to the ref are
// CodeCorrupt, never served.
func (e *Engine) FetchGraph(ctx context.Context, req FetchGraph) (PublishedGraph, error) {
	o, err := e.owner(req.Tenant)
	if err != nil {
		return PublishedGraph{}, err
	}
	fetched, err := e.store.fetchGraph(ctx, ports.FetchGraph{Owner: o, Ref: req.Ref})
	if err != nil {
		return PublishedGraph{}, storeError("", err)
	}
	v := fetched.Version
	g, err := loadVersion(req.Ref, v, nil)
	if err != nil {
		return PublishedGraph{}, graphError(err)
	}
	return PublishedGraph{Ref: v.Ref, PublishedAt: v.PublishedAt, Document: v.Document, Graph: g.Document}, nil
}

// LatestGraph asks for the newest version of a graph id.
type LatestGraph struct {
	Tenant  string
	GraphID string
}

// GraphVersion is a version's metadata.
type GraphVersion struct {
	Ref         graph.Ref
	PublishedAt time.Time
	Size        int64 // bytes of the document
}

// LatestGraph returns the newest version's metadata.
func (e *Engine) LatestGraph(ctx context.Context, req LatestGraph) (GraphVersion, error) {
	o, err := e.graphOwner(req.Tenant, req.GraphID)
	if err != nil {
		return GraphVersion{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.StoreTimeout)
	defer cancel()
	v, err := e.store.backend.LatestGraph(ctx, ports.LatestGraph{Owner: o, GraphID: req.GraphID})
	if err != nil {
		return GraphVersion{}, storeError("", err)
	}
	return GraphVersion(v), nil
}

// ListGraphVersions asks for a page of a graph id's versions, newest first.
type ListGraphVersions struct {
	Tenant  string
	GraphID string
	After   ports.GraphCursor // exclusive; zero: the newest
	Limit   int               // 1..1000; default Config.VersionPage
}

// GraphVersionPage is a page of versions, newest first.
type GraphVersionPage struct {
	Items   []GraphVersion
	Next    ports.GraphCursor // the given one when Items is empty
	HasMore bool
}

// ListGraphVersions returns metadata only.
func (e *Engine) ListGraphVersions(ctx context.Context, req ListGraphVersions) (GraphVersionPage, error) {
	o, err := e.graphOwner(req.Tenant, req.GraphID)
	if err != nil {
		return GraphVersionPage{}, err
	}
	limit, err := pageSize(req.Limit, e.cfg.VersionPage)
	if err != nil {
		return GraphVersionPage{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.cfg.StoreTimeout)
	defer cancel()
	page, err := e.store.backend.ListGraphs(ctx, ports.ListGraphs{
		Owner: o, GraphID: req.GraphID, After: req.After, Limit: limit,
	})
	if err != nil {
		return GraphVersionPage{}, storeError("", err)
	}
	items := make([]GraphVersion, len(page.Items))
	for i, v := range page.Items {
		items[i] = GraphVersion(v)
	}
	return GraphVersionPage{Items: items, Next: page.Next, HasMore: page.HasMore}, nil
}

func (e *Engine) graphOwner(tenant, graphID string) (record.Owner, error) {
	o, err := e.owner(tenant)
	if err != nil {
		return o, err
	}
	if err := value.CheckName(graphID); err != nil {
		return o, invalid("GraphID", "%v", err)
	}
	return o, nil
}

func pageSize(asked, standard int) (int, error) {
	switch {
	case asked == 0:
		return standard, nil
	case asked < 0 || asked > maxPage:
		return 0, invalid("Limit", "is %d, want 1 to %d", asked, maxPage)
	}
	return asked, nil
}
