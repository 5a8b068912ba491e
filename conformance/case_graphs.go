package conformance

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/ports"
)

var graphCases = []Case{
	{
		ID: "graphs/bytes-come-back", Clauses: on("GRF-2"),
		Rule: "Fetch returns the exact bytes, ref, encoding and publication time of what was saved.",
		run:  graphBytesComeBack,
	},
	{
		ID: "graphs/same-bytes-again-is-success", Clauses: on("GRF-1"),
		Rule: "Saving the same bytes again succeeds, says that they were there, and keeps the first publication time.",
		run:  sameBytesAgainIsSuccess,
	},
	{
		ID: "graphs/concurrent-saves-make-one-version", Clauses: on("GRF-1"),
		Rule: "Of concurrent saves of the same bytes one creates the version and all answer its publication time.",
		run:  concurrentSavesMakeOneVersion,
	},
	{
		ID: "graphs/other-bytes-is-conflict", Clauses: on("GRF-1"),
		Rule: "Other bytes under a stored key are ErrConflict, and what was stored stays.",
		run:  otherBytesIsConflict,
	},
	{
		ID: "graphs/unknown-is-not-found", Clauses: on("GRF-2 GRF-3"),
		Rule: "An unknown id or hash is ErrNotFound; listing an unknown id is an empty page.",
		run:  unknownGraphIsNotFound,
	},
	{
		ID: "graphs/newest-first-by-time-and-hash", Clauses: on("GRF-3 GRF-4"),
		Rule: "Versions are listed newest first by (publication time, hash), also when all times are equal, at every page size.",
		run:  newestFirstByTimeAndHash,
	},
	{
		ID: "graphs/latest-is-the-first-of-the-list", Clauses: on("GRF-3"),
		Rule: "Latest is the first of the list: the newest, and the greatest hash of one instant.",
		run:  latestIsTheFirstOfTheList,
	},
	{
		ID: "graphs/publication-time-is-the-stores", Clauses: on("GRF-3"),
		Rule: "A publication time in the request is ignored: the store's time orders versions.",
		run:  publicationTimeIsTheStores,
	},
	{
		ID: "graphs/list-gives-metadata", Clauses: on("GRF-4"),
		Rule: "List and latest give ref, publication time and size.",
		run:  listGivesMetadata,
	},
	{
		ID: "graphs/list-pages-are-exact", Clauses: on("GRF-4"),
		Rule: "Has-more is exact, an empty page keeps the cursor, and the cursor is exclusive.",
		run:  graphPagesAreExact,
	},
	{
		ID: "graphs/ids-are-exact", Clauses: on("GRF-1 VAL-1"),
		Rule: "Graph ids that differ in case, or where one begins with the other, are apart.",
		run:  graphIDsAreExact,
	},
	{
		ID: "graphs/shape-is-checked", Clauses: on("GRF-1 LIM-1"),
		Rule: "Ids, hashes, documents, page limits and cursors that break the rules are ErrInvalid.",
		run:  graphShapeIsChecked,
	},
	{
		ID: "graphs/damage-is-told", Clauses: on("GRF-2"), Level: LevelDurable, Requires: []Need{NeedCorrupt},
		Rule: "Bytes that don't hash to the ref are told, by ErrCorrupt or by a version that fails Verify.",
		run:  graphDamageIsTold,
	},
}

func graphBytesComeBack(e *env) {
	s := e.open()
	for i, doc := range [][]byte{
		[]byte(`{}`), []byte("\x00\xff not json \x00"), []byte("a<b>&\u2028 é e\u0301 \ufffd"), []byte(padding(1 << 20)),
	} {
		v := versionOf(fmt.Sprintf("g%d", i), doc)
		s.save(nobody, v)
		got, err := s.FetchGraph(e.Context(), ports.FetchGraph{Owner: nobody, Ref: v.Ref})
		e.ok(err, "fetching a saved graph")
		v.PublishedAt = e.now
		e.same(v, got.Version, "the fetched version")
		e.check(got.Version.Verify() == nil, "the fetched version doesn't verify: %v", got.Version.Verify())
	}
}

func sameBytesAgainIsSuccess(e *env) {
	s := e.open()
	v := version("flow", 1)
	first := e.now
	for i := range 3 {
		got, err := s.SaveGraph(e.Context(), ports.SaveGraph{Owner: acme, Version: v, Now: e.now})
		e.ok(err, "saving the same bytes")
		e.check(got.Created == (i == 0), "save %d: Created is %v", i+1, got.Created)
		e.sameTime(first, got.PublishedAt, "publication time")
		e.advance(time.Hour)
	}
	e.same(1, len(s.versions(acme, "flow", 10)), "number of versions")
}

func concurrentSavesMakeOneVersion(e *env) {
	s := e.open()
	v := version("flow", 1)
	const savers = 12
	answers := make([]ports.SavedGraph, savers)
	var group errgroup.Group
	for i := range savers {
		group.Go(func() (err error) {
			answers[i], err = s.SaveGraph(e.Context(), ports.SaveGraph{Owner: acme, Version: v, Now: e.now.Add(time.Duration(i) * time.Second)})
			return err
		})
	}
	e.ok(group.Wait(), "concurrent saves of the same bytes")
	created := 0
	for _, a := range answers {
		if a.Created {
			created++
		}
		e.sameTime(answers[0].PublishedAt, a.PublishedAt, "publication time of one of the savers")
	}
	e.same(1, created, "number of savers that created the version")
	got, err := s.FetchGraph(e.Context(), ports.FetchGraph{Owner: acme, Ref: v.Ref})
	e.ok(err, "fetching")
	e.sameTime(answers[0].PublishedAt, got.Version.PublishedAt, "stored publication time")
}

func otherBytesIsConflict(e *env) {
	s := e.open()
	v := version("flow", 1)
	s.save(acme, v)
	forged := v
	forged.Document = []byte(`{"id":"flow","forged":true}`)
	_, err := s.SaveGraph(e.Context(), ports.SaveGraph{Owner: acme, Version: forged, Now: e.now})
	e.want(err, ports.ErrConflict, "saving other bytes under the same ref")
	got, err := s.FetchGraph(e.Context(), ports.FetchGraph{Owner: acme, Ref: v.Ref})
	e.ok(err, "fetching after a conflict")
	e.same(v.Document, got.Version.Document, "the document after a conflict")
}

func unknownGraphIsNotFound(e *env) {
	s := e.open()
	v := version("flow", 1)
	s.save(nobody, v)
	for _, ref := range []graph.Ref{{ID: "flow", Hash: version("flow", 2).Ref.Hash}, {ID: "other", Hash: v.Ref.Hash}} {
		_, err := s.FetchGraph(e.Context(), ports.FetchGraph{Owner: nobody, Ref: ref})
		e.want(err, ports.ErrNotFound, "fetching "+ref.String())
	}
	_, err := s.LatestGraph(e.Context(), ports.LatestGraph{Owner: nobody, GraphID: "other"})
	e.want(err, ports.ErrNotFound, "latest of an unknown id")
	page, err := s.ListGraphs(e.Context(), ports.ListGraphs{Owner: nobody, GraphID: "other"})
	e.ok(err, "listing an unknown id")
	e.check(len(page.Items) == 0 && !page.HasMore, "listing an unknown id gives %s", show(page))
}

// saveSpread saves 25 versions: five instants of five.
func saveSpread(s *store) (newestFirst []graph.Ref) {
	var instants [][]graph.Ref
	for i := range 5 {
		var refs []graph.Ref
		for n := range 5 {
			refs = append(refs, s.save(acme, version("flow", 5*i+n)))
		}
		sortRefsDown(refs)
		instants = append(instants, refs)
		s.env.advance(time.Microsecond)
	}
	for i := len(instants) - 1; i >= 0; i-- {
		newestFirst = append(newestFirst, instants[i]...)
	}
	return newestFirst
}

func newestFirstByTimeAndHash(e *env) {
	s := e.open()
	want := saveSpread(s)
	for _, limit := range []int{1, 2, 5, 24, 25, 26, 0} {
		e.same(want, s.versions(acme, "flow", limit), fmt.Sprintf("versions in pages of %d", limit))
	}
}

func latestIsTheFirstOfTheList(e *env) {
	s := e.open()
	var last graph.Ref
	for n := range 8 {
		s.save(acme, version("flow", n))
		got, err := s.LatestGraph(e.Context(), ports.LatestGraph{Owner: acme, GraphID: "flow"})
		e.ok(err, "latest")
		e.same(s.versions(acme, "flow", 0)[0], got.Ref, "latest against the first of the list")
		last = got.Ref
		if n%3 == 2 {
			e.advance(time.Microsecond)
		}
	}
	s.save(acme, version("flow", 3)) // there already: it doesn't become the newest
	got, err := s.LatestGraph(e.Context(), ports.LatestGraph{Owner: acme, GraphID: "flow"})
	e.ok(err, "latest")
	e.same(last, got.Ref, "latest after an old version was saved again")
}

func publicationTimeIsTheStores(e *env) {
	s := e.open()
	v := version("flow", 1)
	v.PublishedAt = e.now.Add(100 * time.Hour)
	got, err := s.SaveGraph(e.Context(), ports.SaveGraph{Owner: acme, Version: v, Now: e.now})
	e.ok(err, "saving")
	e.sameTime(e.now, got.PublishedAt, "publication time")
	e.advance(time.Second)
	newer := s.save(acme, version("flow", 2))
	latest, err := s.LatestGraph(e.Context(), ports.LatestGraph{Owner: acme, GraphID: "flow"})
	e.ok(err, "latest")
	e.same(newer, latest.Ref, "latest")
}

func listGivesMetadata(e *env) {
	s := e.open()
	v := version("flow", 1)
	s.save(acme, v)
	want := ports.GraphVersion{Ref: v.Ref, PublishedAt: e.now, Size: int64(len(v.Document))}
	page, err := s.ListGraphs(e.Context(), ports.ListGraphs{Owner: acme, GraphID: "flow"})
	e.ok(err, "listing")
	e.same([]ports.GraphVersion{want}, page.Items, "the page")
	latest, err := s.LatestGraph(e.Context(), ports.LatestGraph{Owner: acme, GraphID: "flow"})
	e.ok(err, "latest")
	e.same(want, latest, "the latest version")
}

func graphPagesAreExact(e *env) {
	s := e.open()
	refs := saveSpread(s)
	page, err := s.ListGraphs(e.Context(), ports.ListGraphs{Owner: acme, GraphID: "flow", Limit: 25})
	e.ok(err, "listing exactly all")
	e.check(!page.HasMore, "a page that has all 25 of 25 says that there is more")
	page, err = s.ListGraphs(e.Context(), ports.ListGraphs{Owner: acme, GraphID: "flow", Limit: 24})
	e.ok(err, "listing all but one")
	e.check(page.HasMore, "a page that has 24 of 25 says that there is no more")
	end := ports.GraphCursor{PublishedAt: epoch, Hash: refs[24].Hash}
	page, err = s.ListGraphs(e.Context(), ports.ListGraphs{Owner: acme, GraphID: "flow", After: end})
	e.ok(err, "listing after the last")
	e.check(len(page.Items) == 0 && !page.HasMore, "after the last version comes %s", show(page))
	e.same(end, page.Next, "the cursor of an empty page")
}

func graphIDsAreExact(e *env) {
	s := e.open()
	for i, id := range []string{"flow", "Flow", "flow-2", "flo"} {
		s.save(acme, version(id, i))
	}
	for i, id := range []string{"flow", "Flow", "flow-2", "flo"} {
		e.same([]graph.Ref{version(id, i).Ref}, s.versions(acme, id, 0), "versions of "+id)
	}
}

func graphShapeIsChecked(e *env) {
	s := e.open()
	good := version("flow", 1)
	for what, spoil := range map[string]func(*ports.SaveGraph){
		"empty id":          func(r *ports.SaveGraph) { r.Version.Ref.ID = "" },
		"id with a space":   func(r *ports.SaveGraph) { r.Version.Ref.ID = "a b" },
		"id of 129 bytes":   func(r *ports.SaveGraph) { r.Version.Ref.ID = padding(129) },
		"empty hash":        func(r *ports.SaveGraph) { r.Version.Ref.Hash = "" },
		"upper-case hash":   func(r *ports.SaveGraph) { r.Version.Ref.Hash = strings.ToUpper(r.Version.Ref.Hash) },
		"no document":       func(r *ports.SaveGraph) { r.Version.Document = nil },
		"no encoding label": func(r *ports.SaveGraph) { r.Version.Encoding = "" },
	} {
		req := ports.SaveGraph{Owner: acme, Version: good, Now: e.now}
		spoil(&req)
		_, err := s.SaveGraph(e.Context(), req)
		e.want(err, ports.ErrInvalid, "saving a graph with "+what)
	}
	for _, limit := range []int{-1, 1001} {
		_, err := s.ListGraphs(e.Context(), ports.ListGraphs{Owner: acme, GraphID: "flow", Limit: limit})
		e.want(err, ports.ErrInvalid, fmt.Sprintf("listing graphs with limit %d", limit))
	}
	_, err := s.ListGraphs(e.Context(), ports.ListGraphs{Owner: acme, GraphID: "flow", After: ports.GraphCursor{Hash: good.Ref.Hash}})
	e.want(err, ports.ErrInvalid, "listing graphs after half a cursor")
	e.check(len(s.versions(acme, "flow", 0)) == 0, "a refused save stored a version")
}

func graphDamageIsTold(e *env) {
	s := e.open()
	bad, good := version("flow", 1), version("flow", 2)
	s.save(acme, bad)
	s.save(acme, good)
	s.damage(Target{Owner: acme, Ref: bad.Ref})
	got, err := s.FetchGraph(e.Context(), ports.FetchGraph{Owner: acme, Ref: bad.Ref})
	if err == nil {
		e.check(got.Version.Verify() != nil, "damaged bytes are served as good")
	} else {
		e.want(err, ports.ErrCorrupt, "fetching a damaged graph")
	}
	intact, err := s.FetchGraph(e.Context(), ports.FetchGraph{Owner: acme, Ref: good.Ref})
	e.ok(err, "fetching the version beside the damaged one")
	e.same(good.Document, intact.Version.Document, "the document beside the damaged one")
}
