package model

import (
	"bytes"
	"slices"

	"github.com/docket-go/docket/ports"
)

// SaveGraph stores a version once: the same bytes again keep the first
// publication time, other bytes are a conflict (GRF-1).
func (s *State) SaveGraph(req ports.SaveGraph) (ports.SavedGraph, error) {
	if err := req.Check(); err != nil {
		return ports.SavedGraph{}, err
	}
	key := graphKey{req.Owner, req.Version.Ref}
	if old, ok := s.graphs[key]; ok {
		if old.Encoding != req.Version.Encoding || !bytes.Equal(old.Document, req.Version.Document) {
			return ports.SavedGraph{}, ports.Conflict("SaveGraph", "other bytes under the same ref")
		}
		return ports.SavedGraph{PublishedAt: old.PublishedAt}, nil
	}
	v := req.Version.Clone()
	v.PublishedAt = req.Normal().Now // the store's time, not the request's version's (GRF-3)
	s.graphs[key] = v
	return ports.SavedGraph{PublishedAt: v.PublishedAt, Created: true}, nil
}

// FetchGraph returns the exact bytes (GRF-2).
func (s *State) FetchGraph(req ports.FetchGraph) (ports.FetchedGraph, error) {
	if err := req.Check(); err != nil {
		return ports.FetchedGraph{}, err
	}
	v, ok := s.graphs[graphKey{req.Owner, req.Ref}]
	if !ok {
		return ports.FetchedGraph{}, ports.NotFound("FetchGraph")
	}
	return ports.FetchedGraph{Version: v.Clone()}, nil
}

// LatestGraph is the first of the list (GRF-3).
func (s *State) LatestGraph(req ports.LatestGraph) (ports.GraphVersion, error) {
	if err := req.Check(); err != nil {
		return ports.GraphVersion{}, err
	}
	page, err := s.ListGraphs(ports.ListGraphs{Owner: req.Owner, GraphID: req.GraphID, Limit: 1})
	if err == nil && len(page.Items) == 0 {
		err = ports.NotFound("LatestGraph")
	}
	if err != nil {
		return ports.GraphVersion{}, err
	}
	return page.Items[0], nil
}

// ListGraphs lists newest first by (publication time, hash), after the cursor.
func (s *State) ListGraphs(req ports.ListGraphs) (ports.GraphPage, error) {
	if err := req.Check(); err != nil {
		return ports.GraphPage{}, err
	}
	req = req.Normal()
	var all []ports.GraphVersion
	for key, v := range s.graphs {
		after := req.After == (ports.GraphCursor{}) ||
			byTimeAndID(v.PublishedAt, req.After.PublishedAt, v.Ref.Hash, req.After.Hash) > 0
		if key.owner == req.Owner && key.ref.ID == req.GraphID && after {
			all = append(all, ports.GraphVersion{Ref: v.Ref, PublishedAt: v.PublishedAt, Size: int64(len(v.Document))})
		}
	}
	slices.SortFunc(all, func(a, b ports.GraphVersion) int {
		return byTimeAndID(a.PublishedAt, b.PublishedAt, a.Ref.Hash, b.Ref.Hash)
	})
	page := ports.GraphPage{Next: req.After, HasMore: len(all) > req.Limit}
	page.Items = all[:min(len(all), req.Limit)]
	if n := len(page.Items); n > 0 {
		page.Next = ports.GraphCursor{PublishedAt: page.Items[n-1].PublishedAt, Hash: page.Items[n-1].Ref.Hash}
	}
	return page, nil
}
