package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

const saveGraph = `
	INSERT INTO docket.docket_graph_versions (tenant, graph_id, hash, published_at, encoding, document)
	VALUES ($1, $2, $3, coalesce($4::timestamptz, statement_timestamp()), $5, $6)
	ON CONFLICT (scope_key, graph_id, hash) DO NOTHING
	RETURNING published_at`

const compareGraph = `
	SELECT published_at, encoding = $4::text AND document = $5::bytea FROM docket.docket_graph_versions
	WHERE scope_key = $1 AND graph_id = $2 AND hash = $3`

const fetchGraph = `
	SELECT published_at, encoding, document FROM docket.docket_graph_versions
	WHERE scope_key = $1 AND graph_id = $2 AND hash = $3`

// SaveGraph stores one version, once. That another one has the key is seen by
// an INSERT which did nothing; its bytes are compared where they are, by a
// second statement, which sees what the first one waited for.
func (r roles) SaveGraph(ctx context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	const op = "SaveGraph"
	if err := req.Check(); err != nil {
		return ports.SavedGraph{}, err
	}
	req = req.Normal()
	v := req.Version
	var published pgtype.Timestamptz
	// A version may be pruned between the two looks: then it is stored anew.
	for range 3 {
		created, err := r.row(ctx, op, writing, r.sql.saveGraph,
			[]any{textColumn(req.Owner.Tenant), v.Ref.ID, v.Ref.Hash, clock(req.Now), string(v.Encoding), blob(v.Document)}, &published)
		if err != nil {
			return ports.SavedGraph{}, err
		}
		if created {
			return ports.SavedGraph{PublishedAt: timeOf(published), Created: true}, nil
		}
		var same bool
		found, err := r.row(ctx, op, reading, r.sql.compareGraph,
			[]any{scopeKey(req.Owner), v.Ref.ID, v.Ref.Hash, string(v.Encoding), blob(v.Document)}, &published, &same)
		switch {
		case err != nil:
			return ports.SavedGraph{}, err
		case found && same:
			return ports.SavedGraph{PublishedAt: timeOf(published)}, nil
		case found:
			return ports.SavedGraph{}, r.db.fault(ctx, ports.Conflict(op, fmt.Sprintf("graph %s is stored with other bytes", v.Ref)))
		}
	}
	return ports.SavedGraph{}, r.db.fault(ctx, ports.Unavailable(op, errors.New("postgres: the version comes and goes")))
}

// FetchGraph returns one version, proven against its hash (GRF-2).
func (r roles) FetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	const op = "FetchGraph"
	if err := req.Check(); err != nil {
		return ports.FetchedGraph{}, err
	}
	v := record.GraphVersion{Ref: req.Ref}
	var published pgtype.Timestamptz
	found, err := r.row(ctx, op, reading, r.sql.fetchGraph,
		[]any{scopeKey(req.Owner), req.Ref.ID, req.Ref.Hash}, &published, &v.Encoding, &v.Document)
	if err != nil {
		return ports.FetchedGraph{}, err
	}
	if !found {
		return ports.FetchedGraph{}, ports.NotFound(op)
	}
	v.PublishedAt = timeOf(published)
	if err := v.Verify(); errors.Is(err, record.ErrDamaged) {
		return ports.FetchedGraph{}, r.db.fault(ctx, ports.Corrupt(op, err))
	}
	return ports.FetchedGraph{Version: v}, nil
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
	sql, args := r.sql.listGraphs(req)
	page := ports.GraphPage{Next: req.After}
	err := r.db.query(ctx, op, reading, sql, args, func(rows pgx.Rows) error {
		v := ports.GraphVersion{Ref: graph.Ref{ID: req.GraphID}}
		var published pgtype.Timestamptz
		if err := rows.Scan(&v.Ref.Hash, &published, &v.Size); err != nil {
			return err
		}
		v.PublishedAt = timeOf(published)
		page.Items = append(page.Items, v)
		return nil
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

// listGraphs has two texts: without a cursor and with one. The length is the
// document's own header's: no document is read (GRF-4).
func (s *statements) listGraphs(req ports.ListGraphs) (string, []any) {
	sql := `SELECT hash, published_at, octet_length(document)::bigint FROM docket.docket_graph_versions
		WHERE scope_key = $1 AND graph_id = $2`
	args := []any{scopeKey(req.Owner), req.GraphID, req.Limit + 1}
	if req.After != (ports.GraphCursor{}) {
		sql += ` AND (published_at, hash) < ($4, $5)`
		args = append(args, req.After.PublishedAt, req.After.Hash)
	}
	return s.place.sql(sql + ` ORDER BY published_at DESC, hash DESC LIMIT $3`), args
}
