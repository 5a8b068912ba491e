package backend

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// SaveGraph stores a version once: the same bytes again change nothing, other
// bytes under the same key are a conflict (GRF-1).
func (s *Store) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	const op = "SaveGraph"
	return operate(ctx, s, op, req, func() (ports.SavedGraph, error) {
		key := versionKey{req.Owner, req.Version.Ref}
		stored, there := s.versions[key]
		switch {
		case !there:
			stored = req.Version.Clone()
			stored.PublishedAt = s.now(req.Now) // the store's time, whatever the request says (GRF-3)
			s.versions[key] = stored
		case stored.Encoding != req.Version.Encoding || !bytes.Equal(stored.Document, req.Version.Document):
			return ports.SavedGraph{}, ports.Conflict(op, "the version "+req.Version.Ref.String()+" has other bytes")
		}
		return ports.SavedGraph{PublishedAt: stored.PublishedAt, Created: !there}, nil
	})
}

// FetchGraph returns the exact bytes of a version (GRF-2).
func (s *Store) FetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	const op = "FetchGraph"
	return operate(ctx, s, op, req, func() (ports.FetchedGraph, error) {
		stored, ok := s.versions[versionKey{req.Owner, req.Ref}]
		if !ok {
			return ports.FetchedGraph{}, ports.NotFound(op)
		}
		return ports.FetchedGraph{Version: stored.Clone()}, nil
	})
}

// LatestGraph returns the first version of the list (GRF-3).
func (s *Store) LatestGraph(ctx context.Context, req ports.LatestGraph) (ports.GraphVersion, error) {
	const op = "LatestGraph"
	return operate(ctx, s, op, req, func() (ports.GraphVersion, error) {
		line := s.line(req.Owner, req.GraphID)
		if len(line) == 0 {
			return ports.GraphVersion{}, ports.NotFound(op)
		}
		return line[0], nil
	})
}

// ListGraphs returns a page of versions, newest first (GRF-3, GRF-4).
func (s *Store) ListGraphs(ctx context.Context, req ports.ListGraphs) (ports.GraphPage, error) {
	return operate(ctx, s, "ListGraphs", req, func() (ports.GraphPage, error) {
		req := req.Normal()
		line := s.line(req.Owner, req.GraphID)
		if after := (ports.GraphVersion{PublishedAt: req.After.PublishedAt}); req.After != (ports.GraphCursor{}) {
			after.Ref.Hash = req.After.Hash
			line = slices.DeleteFunc(line, func(v ports.GraphVersion) bool { return newerVersion(v, after) <= 0 })
		}
		page := ports.GraphPage{Next: req.After, HasMore: len(line) > req.Limit}
		page.Items = line[:min(len(line), req.Limit)]
		if n := len(page.Items); n > 0 {
			page.Next = ports.GraphCursor{PublishedAt: page.Items[n-1].PublishedAt, Hash: page.Items[n-1].Ref.Hash}
		}
		return page, nil
	})
}

// line lists the metadata of an owner's versions of one graph, newest first.
func (s *Store) line(owner record.Owner, id string) []ports.GraphVersion {
	var line []ports.GraphVersion
	for key, v := range s.versions {
		if key.owner == owner && key.ref.ID == id {
			line = append(line, ports.GraphVersion{Ref: v.Ref, PublishedAt: v.PublishedAt, Size: int64(len(v.Document))})
		}
	}
	slices.SortFunc(line, newerVersion)
	return line
}

// newerVersion orders versions newest first, by publication time and hash.
func newerVersion(a, b ports.GraphVersion) int {
	return cmp.Or(b.PublishedAt.Compare(a.PublishedAt), cmp.Compare(b.Ref.Hash, a.Ref.Hash))
}
