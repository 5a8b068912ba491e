package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// SaveGraph stores one version, once.
func (r roles) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	const op = "SaveGraph"
	if err := req.Check(); err != nil {
		return ports.SavedGraph{}, err
	}
	req = req.Normal()
	var saved ports.SavedGraph
	err := r.run.write(ctx, op, func(ctx context.Context, u *unit) error {
		v, owner, now := req.Version, ownerKey(req.Owner), r.now(req.Now)
		created, err := u.exec(ctx, `
			INSERT INTO docket_graph_versions (owner, graph_id, hash, published_at, encoding, document)
			VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			owner, v.Ref.ID, v.Ref.Hash, now, string(v.Encoding), blob(v.Document))
		if err != nil {
			return err
		}
		saved = ports.SavedGraph{PublishedAt: timeOf(now), Created: true}
		if created == 1 {
			return nil
		}
		first, publishedAt, err := fetchVersion(ctx, u.statements, owner, v.Ref)
		if err != nil {
			return err
		}
		if first.Encoding != v.Encoding || !bytes.Equal(first.Document, v.Document) {
			return ports.Conflict(op, fmt.Sprintf("graph %s is stored with other bytes", v.Ref))
		}
		saved = ports.SavedGraph{PublishedAt: timeOf(publishedAt)}
		return nil
	})
	if err != nil {
		return ports.SavedGraph{}, err
	}
	return saved, nil
}

// FetchGraph returns one version, proven against its hash (GRF-2).
func (r roles) FetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	const op = "FetchGraph"
	if err := req.Check(); err != nil {
		return ports.FetchedGraph{}, err
	}
	var version record.GraphVersion
	err := r.run.read(ctx, op, func(ctx context.Context, q *statements) error {
		var publishedAt int64
		var err error
		version, publishedAt, err = fetchVersion(ctx, q, ownerKey(req.Owner), req.Ref)
		version.PublishedAt = timeOf(publishedAt)
		return missing(op, err)
	})
	if err != nil {
		return ports.FetchedGraph{}, err
	}
	if err := version.Verify(); errors.Is(err, record.ErrDamaged) {
		return ports.FetchedGraph{}, ports.Corrupt(op, err)
	}
	return ports.FetchedGraph{Version: version}, nil
}

func fetchVersion(ctx context.Context, q *statements, owner string, ref graph.Ref) (record.GraphVersion, int64, error) {
	v := record.GraphVersion{Ref: ref}
	var publishedAt int64
	err := q.row(ctx, `
		SELECT published_at, encoding, document FROM docket_graph_versions
		WHERE owner = ? AND graph_id = ? AND hash = ?`,
		[]any{owner, ref.ID, ref.Hash}, &publishedAt, &v.Encoding, &v.Document)
	return v, publishedAt, err
}

// LatestGraph returns the newest version's metadata.
func (r roles) LatestGraph(ctx context.Context, req ports.LatestGraph) (ports.GraphVersion, error) {
	const op = "LatestGraph"
	if err := req.Check(); err != nil {
		return ports.GraphVersion{}, err
	}
	page, err := r.listGraphs(ctx, op, ports.ListGraphs{Owner: req.Owner, GraphID: req.GraphID, Limit: 1})
	if err != nil {
		return ports.GraphVersion{}, err
	}
	if len(page.Items) == 0 {
		return ports.GraphVersion{}, ports.NotFound(op)
	}
	return page.Items[0], nil
}

// ListGraphs returns a page of metadata, newest first.
func (r roles) ListGraphs(ctx context.Context, req ports.ListGraphs) (ports.GraphPage, error) {
	if err := req.Check(); err != nil {
		return ports.GraphPage{}, err
	}
	return r.listGraphs(ctx, "ListGraphs", req.Normal())
}

func (r roles) listGraphs(ctx context.Context, op string, req ports.ListGraphs) (ports.GraphPage, error) {
	// length(document) is read from the row's header, not by reading the document.
	query := `SELECT hash, published_at, length(document) FROM docket_graph_versions
		WHERE owner = ? AND graph_id = ?`
	args := []any{ownerKey(req.Owner), req.GraphID}
	if req.After != (ports.GraphCursor{}) {
		query += ` AND (published_at, hash) < (?, ?)`
		args = append(args, req.After.PublishedAt.UnixMicro(), req.After.Hash)
	}
	query += ` ORDER BY published_at DESC, hash DESC LIMIT ?`
	args = append(args, req.Limit+1)

	page := ports.GraphPage{Next: req.After}
	err := r.run.read(ctx, op, func(ctx context.Context, q *statements) error {
		page.Items = nil
		return q.each(ctx, query, args, func(rows *sql.Rows) error {
			v := ports.GraphVersion{Ref: graph.Ref{ID: req.GraphID}}
			var publishedAt int64
			if err := rows.Scan(&v.Ref.Hash, &publishedAt, &v.Size); err != nil {
				return err
			}
			v.PublishedAt = timeOf(publishedAt)
			page.Items = append(page.Items, v)
			return nil
		})
	})
	if err != nil {
		return ports.GraphPage{}, err
	}
	if page.HasMore = len(page.Items) > req.Limit; page.HasMore {
		page.Items = page.Items[:req.Limit]
	}
	if n := len(page.Items); n > 0 {
		page.Next = ports.GraphCursor{PublishedAt: page.Items[n-1].PublishedAt, Hash: page.Items[n-1].Ref.Hash}
	}
	return page, nil
}
