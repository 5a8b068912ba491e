package mutants

import (
	"bytes"
	"slices"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var graphMutants = []Mutant{
	{Name: "conflict-ignored", Clause: "GRF-1", Off: "Other bytes under a stored key are a success.",
		rules: rules{saveGraph: func(s *model.State, req ports.SaveGraph) (ports.SavedGraph, error) {
			got, err := s.SaveGraph(req)
			if ports.CodeOf(err) == ports.CodeConflict {
				old, _ := s.Graph(req.Owner, req.Version.Ref)
				return ports.SavedGraph{PublishedAt: old.PublishedAt}, nil
			}
			return got, err
		}}},
	{Name: "last-bytes-win", Clause: "GRF-1", Off: "Other bytes under a stored key are a conflict, and replace what was there.",
		rules: rules{saveGraph: func(s *model.State, req ports.SaveGraph) (ports.SavedGraph, error) {
			got, err := s.SaveGraph(req)
			if ports.CodeOf(err) == ports.CodeConflict {
				old, _ := s.Graph(req.Owner, req.Version.Ref)
				old.Document = bytes.Clone(req.Version.Document)
				s.PutGraph(req.Owner, old)
			}
			return got, err
		}}},
	{Name: "last-publication-time-wins", Clause: "GRF-1", Off: "Saving the same bytes again moves the publication time.",
		rules: rules{saveGraph: func(s *model.State, req ports.SaveGraph) (ports.SavedGraph, error) {
			got, err := s.SaveGraph(req)
			if v, ok := s.Graph(req.Owner, req.Version.Ref); ok && err == nil {
				v.PublishedAt = req.Normal().Now
				s.PutGraph(req.Owner, v)
				got.PublishedAt = v.PublishedAt
			}
			return got, err
		}}},
	{Name: "document-is-escaped", Clause: "GRF-2", Off: "A fetched document was encoded again, with < escaped.",
		rules: fetchedVersion(func(v *record.GraphVersion) {
			v.Document = bytes.ReplaceAll(v.Document, []byte("<"), []byte(`\u003c`))
		})},
	{Name: "damaged-graph-is-hashed-again", Clause: "GRF-2", Off: "The ref is made to fit damaged bytes.",
		rules: fetchedVersion(func(v *record.GraphVersion) { v.Ref.Hash = record.Sum(v.Document).String() })},
	{Name: "publication-time-of-the-caller", Clause: "GRF-3", Off: "A publication time in the request is taken.",
		rules: rules{saveGraph: func(s *model.State, req ports.SaveGraph) (ports.SavedGraph, error) {
			if !req.Version.PublishedAt.IsZero() {
				req.Now = req.Version.PublishedAt
			}
			return s.SaveGraph(req)
		}}},
	{Name: "latest-ignores-the-hash", Clause: "GRF-3", Off: "Latest of several versions of one instant isn't the first of the list.",
		rules: rules{latestGraph: func(s *model.State, req ports.LatestGraph) (ports.GraphVersion, error) {
			got, err := s.LatestGraph(req)
			if err != nil {
				return got, err
			}
			page, err := s.ListGraphs(ports.ListGraphs{Owner: req.Owner, GraphID: req.GraphID, Limit: ports.MaxPage})
			for _, v := range page.Items {
				if v.PublishedAt.Equal(got.PublishedAt) {
					got = v
				}
			}
			return got, err
		}}},
	{Name: "versions-cursor-on-time-only", Clause: "GRF-3", Off: "A page of versions goes on at the next instant, not at the next hash.",
		rules: rules{listGraphs: func(s *model.State, req ports.ListGraphs) (ports.GraphPage, error) {
			if err := req.Check(); err != nil || req.After == (ports.GraphCursor{}) {
				return s.ListGraphs(req)
			}
			limit := req.Normal().Limit
			all, err := s.ListGraphs(ports.ListGraphs{Owner: req.Owner, GraphID: req.GraphID, Limit: ports.MaxPage})
			items := slices.DeleteFunc(all.Items, func(v ports.GraphVersion) bool { return !v.PublishedAt.Before(req.After.PublishedAt) })
			page := ports.GraphPage{Items: items[:min(limit, len(items))], Next: req.After, HasMore: len(items) > limit}
			if n := len(page.Items); n > 0 {
				page.Next = ports.GraphCursor{PublishedAt: page.Items[n-1].PublishedAt, Hash: page.Items[n-1].Ref.Hash}
			}
			return page, err
		}}},
	{Name: "size-isn't-told", Clause: "GRF-4", Off: "A list doesn't give the size of its versions.",
		rules: listedVersions(func(p *ports.GraphPage, _ int) {
			for i := range p.Items {
				p.Items[i].Size = 0
			}
		})},
	{Name: "a-full-page-of-versions-has-more", Clause: "GRF-4", Off: "A page of versions that is full says that there is more.",
		rules: listedVersions(func(p *ports.GraphPage, limit int) { p.HasMore = len(p.Items) == limit })},
	{Name: "empty-page-of-versions-rewinds", Clause: "GRF-4", Off: "An empty page of versions gives the zero cursor.",
		rules: listedVersions(func(p *ports.GraphPage, _ int) {
			if len(p.Items) == 0 {
				p.Next = ports.GraphCursor{}
			}
		})},
	{Name: "referenced-version-removed", Clause: "GRF-5", Off: "Retention takes versions that runs refer to.",
		rules: pruned(func(s *model.State, req ports.Prune, got *ports.Pruned) {
			for _, id := range s.RunIDs() {
				r := row(s, id)
				v, ok := s.Graph(r.Owner, r.Run.Graph)
				if ok && req.Policy.Graphs > 0 && !v.PublishedAt.Add(req.Policy.Graphs).After(req.Now) {
					s.DropGraph(r.Owner, r.Run.Graph)
					got.Graphs++
				}
			}
		})},
}

func fetchedVersion(f func(*record.GraphVersion)) rules {
	return rules{fetchGraph: func(s *model.State, req ports.FetchGraph) (ports.FetchedGraph, error) {
		got, err := s.FetchGraph(req)
		if err == nil {
			f(&got.Version)
		}
		return got, err
	}}
}

func listedVersions(f func(p *ports.GraphPage, limit int)) rules {
	return rules{listGraphs: func(s *model.State, req ports.ListGraphs) (ports.GraphPage, error) {
		page, err := s.ListGraphs(req)
		if err == nil {
			f(&page, req.Normal().Limit)
		}
		return page, err
	}}
}

// pruned does more than a prune should, but in no dry run.
func pruned(f func(*model.State, ports.Prune, *ports.Pruned)) rules {
	return rules{prune: func(s *model.State, req ports.Prune) (ports.Pruned, error) {
		got, err := s.Prune(req)
		if err == nil && !req.DryRun {
			f(s, req, &got)
		}
		return got, err
	}}
}
