package memory

import (
	"bytes"
	"context"
	"slices"

	"github.com/docket-go/docket/ports"
)

// SaveGraph implements ports.Graphs.
func (o operations) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	const op = "SaveGraph"
	if err := req.Check(); err != nil {
		return ports.SavedGraph{}, err
	}
	return write(ctx, o, op, func(v *view) (ports.SavedGraph, bool, error) {
		found := v.version(versionKey{req.Owner, req.Version.Ref})
		switch {
		case found == nil:
			saved := &version{GraphVersion: req.Version.Clone()}
			saved.PublishedAt = o.door.now(req.Now)
			v.putVersion(req.Owner, saved)
			return ports.SavedGraph{PublishedAt: saved.PublishedAt, Created: true}, false, nil
		case found.Encoding != req.Version.Encoding || !bytes.Equal(found.Document, req.Version.Document):
			return ports.SavedGraph{}, false, ports.Conflict(op, "the version "+found.Ref.String()+" is stored with other bytes")
		default:
			return ports.SavedGraph{PublishedAt: found.PublishedAt}, false, nil
		}
	})
}

// FetchGraph implements ports.Graphs.
func (o operations) FetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	const op = "FetchGraph"
	if err := req.Check(); err != nil {
		return ports.FetchedGraph{}, err
	}
	return read(ctx, o, op, func(v *view) (ports.FetchedGraph, error) {
		found := v.version(versionKey{req.Owner, req.Ref})
		if found == nil {
			return ports.FetchedGraph{}, ports.NotFound(op)
		}
		return ports.FetchedGraph{Version: found.GraphVersion.Clone()}, nil
	})
}

// LatestGraph implements ports.Graphs.
func (o operations) LatestGraph(ctx context.Context, req ports.LatestGraph) (ports.GraphVersion, error) {
	const op = "LatestGraph"
	if err := req.Check(); err != nil {
		return ports.GraphVersion{}, err
	}
	return read(ctx, o, op, func(v *view) (ports.GraphVersion, error) {
		line := v.line(lineKey{req.Owner, req.GraphID})
		if len(line) == 0 {
			return ports.GraphVersion{}, ports.NotFound(op)
		}
		return line[len(line)-1].metadata(), nil
	})
}

// ListGraphs implements ports.Graphs.
func (o operations) ListGraphs(ctx context.Context, req ports.ListGraphs) (ports.GraphPage, error) {
	if err := req.Check(); err != nil {
		return ports.GraphPage{}, err
	}
	req = req.Normal()
	return read(ctx, o, "ListGraphs", func(v *view) (ports.GraphPage, error) {
		line := v.line(lineKey{req.Owner, req.GraphID})
		if req.After != (ports.GraphCursor{}) {
			line = line[:publishedBefore(line, req.After)]
		}
		page := ports.GraphPage{Next: req.After, HasMore: len(line) > req.Limit}
		for _, found := range slices.Backward(line[max(len(line)-req.Limit, 0):]) {
			page.Items = append(page.Items, found.metadata())
			page.Next = ports.GraphCursor{PublishedAt: found.PublishedAt, Hash: found.Ref.Hash}
		}
		return page, nil
	})
}
