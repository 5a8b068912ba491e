package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/ports"
)

var listCases = []Case{
	{
		ID: "list/newest-first-by-time-and-id", Clauses: on("RUN-9 VAL-2"),
		Rule: "Runs are listed newest first by (started_at, id), each exactly once, at every page size.",
		run:  runsNewestFirst,
	},
	{
		ID: "list/pages-are-exact", Clauses: on("RUN-9"),
		Rule: "Has-more is exact, an empty page keeps the cursor, and the cursor is exclusive.",
		run:  runPagesAreExact,
	},
	{
		ID: "list/insert-between-pages", Clauses: on("RUN-9"),
		Rule: "A run inserted between two pages never repeats or hides one that was there.",
		run:  insertBetweenPages,
	},
	{
		ID: "list/filters", Clauses: on("RUN-9"),
		Rule: "Status, graph, open interrupts and poison filter inside the query: pages stay full.",
		run:  listFilters,
	},
	{
		ID: "list/filters-combine", Clauses: on("RUN-9"),
		Rule: "Several filters select what matches all of them.",
		run:  listFiltersCombine,
	},
	{
		ID: "list/records-only-on-request", Clauses: on("RUN-9"),
		Rule: "A list gives summaries; documents come only on request, and then verify.",
		run:  recordsOnRequest,
	},
	{
		ID: "list/shape-is-checked", Clauses: on("RUN-9 LIM-1"),
		Rule: "A limit outside 1..1000, an unknown status, a hash without an id and half a cursor are ErrInvalid.",
		run:  listShapeIsChecked,
	},
}

// runsNewestFirst uses ids whose order differs between bytes and locales.
func runsNewestFirst(e *env) {
	s := e.open()
	ids := []string{"B", "Z", "a", "a-b", "a_b", "ab", "run-1", "run_10", "é", "e\u0301", "😀", "\uffff", " x", "A b"}
	var want []string
	for range 2 {
		for _, id := range ids {
			s.start(nobody, fmt.Sprintf("%s%d", id, len(want)/len(ids)))
		}
		instant := make([]string, 0, len(ids))
		for _, id := range ids {
			instant = append(instant, fmt.Sprintf("%s%d", id, len(want)/len(ids)))
		}
		slices.SortFunc(instant, func(a, b string) int { return strings.Compare(b, a) })
		want = append(instant, want...)
		e.advance(time.Microsecond)
	}
	for _, limit := range []int{1, 3, len(want), 0} {
		e.same(want, s.runIDs(ports.ListRuns{Scope: ports.System(), Limit: limit}), fmt.Sprintf("runs in pages of %d", limit))
	}
}

// startMany starts runs 00, 01, … at one instant.
func (s *store) startMany(n int) []*subject {
	s.env.Helper()
	rs := make([]*subject, n)
	for i := range n {
		rs[i] = s.start(acme, fmt.Sprintf("run %03d", i))
	}
	return rs
}

func runPagesAreExact(e *env) {
	s := e.open()
	s.startMany(30)
	for _, n := range []int{10, 15, 29, 30, 31} {
		page, err := s.ListRuns(e.Context(), ports.ListRuns{Scope: ports.Tenant("acme"), Limit: n, Now: e.now})
		e.ok(err, "listing")
		e.same(min(n, 30), len(page.Items), fmt.Sprintf("length of a page of %d", n))
		e.same(n < 30, page.HasMore, fmt.Sprintf("has-more of a page of %d of 30", n))
		e.same(ports.RunCursor{StartedAt: epoch, RunID: page.Items[len(page.Items)-1].Run.ID}, page.Next, "the cursor")
	}
	end := ports.RunCursor{StartedAt: epoch, RunID: "run 000"}
	page, err := s.ListRuns(e.Context(), ports.ListRuns{Scope: ports.Tenant("acme"), After: end, Now: e.now})
	e.ok(err, "listing after the last")
	e.check(len(page.Items) == 0 && !page.HasMore, "after the last run comes %s", show(page))
	e.same(end, page.Next, "the cursor of an empty page")
}

func insertBetweenPages(e *env) {
	s := e.open()
	s.startMany(25)
	seen := map[string]int{}
	req := ports.ListRuns{Scope: ports.System(), Limit: 10, Now: e.now}
	for n := 0; ; n++ {
		page, err := s.ListRuns(e.Context(), req)
		e.ok(err, "listing")
		for _, item := range page.Items {
			seen[item.Run.ID]++
		}
		s.start(acme, fmt.Sprintf("between %d", n)) // at the same instant
		if !page.HasMore {
			break
		}
		req.After = page.Next
	}
	for i := range 25 {
		id := fmt.Sprintf("run %03d", i)
		e.check(seen[id] == 1, "run %q was listed %d times", id, seen[id])
	}
}

// listed makes runs in every state; each name says what it is.
func listed(s *store) {
	e := s.env
	other := version("other", 1)
	s.save(acme, other)
	onOther := &subject{owner: acme}
	e.ok(s.insert(onOther, begin("other", other.Ref, e.now, change{Kind: "at", At: e.now.Add(time.Hour)})), "inserting")
	for _, status := range []string{waiting, done, failed, cancelled} {
		r := s.start(acme, status)
		s.commit(r, s.claim(r).Token, change{Status: status})
	}
	s.poison(s.start(acme, "poisoned"))
	s.startWith(acme, "asking", change{Open: 2})
	s.start(acme, "running")
}

func listFilters(e *env) {
	s := e.open()
	listed(s)
	all := ports.ListRuns{Scope: ports.Tenant("acme"), Limit: 1}
	for _, c := range []struct {
		what   string
		filter func(*ports.ListRuns)
		want   []string
	}{
		{"status done", func(r *ports.ListRuns) { r.Statuses = []string{done} }, []string{"done"}},
		{"status done or failed", func(r *ports.ListRuns) { r.Statuses = []string{failed, done} }, []string{"done", "failed"}},
		{"status running", func(r *ports.ListRuns) { r.Statuses = []string{running} }, []string{"asking", "other", "poisoned", "running"}},
		{"graph id", func(r *ports.ListRuns) { r.GraphID = "other" }, []string{"other"}},
		{"graph id and hash", func(r *ports.ListRuns) { r.GraphID, r.GraphHash = "other", version("other", 1).Ref.Hash }, []string{"other"}},
		{"graph id and another hash", func(r *ports.ListRuns) { r.GraphID, r.GraphHash = "other", version("other", 2).Ref.Hash }, []string{}},
		{"graph id by prefix", func(r *ports.ListRuns) { r.GraphID = "oth" }, []string{}},
		{"open interrupts", func(r *ports.ListRuns) { r.OpenInterrupts = true }, []string{"asking", "waiting"}},
		{"poisoned", func(r *ports.ListRuns) { r.Poisoned = true }, []string{"poisoned"}},
	} {
		for _, limit := range []int{1, 2, 0} {
			req := all
			req.Limit = limit
			c.filter(&req)
			got := s.runIDs(req)
			slices.Sort(got)
			e.same(c.want, got, fmt.Sprintf("runs with %s, in pages of %d", c.what, limit))
		}
	}
}

func listFiltersCombine(e *env) {
	s := e.open()
	listed(s)
	e.same([]string{"asking"}, s.runIDs(ports.ListRuns{
		Scope: ports.System(), Statuses: []string{running, done}, GraphID: "flow", OpenInterrupts: true,
	}), "running or done, on flow, with open interrupts")
	e.same([]string{}, s.runIDs(ports.ListRuns{Scope: ports.System(), Statuses: []string{done}, Poisoned: true}), "done and poisoned")
	e.same([]string{}, s.runIDs(ports.ListRuns{Scope: ports.Tenant("globex"), Poisoned: true}), "poisoned runs of another tenant")
}

func recordsOnRequest(e *env) {
	s := e.open()
	r := s.startWith(acme, "r", change{Open: 1})
	s.poison(r)
	want := ports.RunSummary{Owner: acme, Run: r.run, Poison: s.info(r).Poison}
	page, err := s.ListRuns(e.Context(), ports.ListRuns{Scope: ports.System(), Records: true, Now: e.now})
	e.ok(err, "listing with records")
	e.same([]ports.RunSummary{want}, page.Items, "a list with records")
	e.check(page.Items[0].Run.Verify() == nil, "a listed record doesn't verify")
	page, err = s.ListRuns(e.Context(), ports.ListRuns{Scope: ports.System(), Now: e.now})
	e.ok(err, "listing without records")
	for i := range page.Items {
		e.check(len(page.Items[i].Run.Document) == 0, "a summary has a document of %d bytes", len(page.Items[i].Run.Document))
		page.Items[i].Run.Document, page.Items[i].Run.Checksum = want.Run.Document, want.Run.Checksum
		page.Items[i].Run.Encoding = want.Run.Encoding
	}
	e.same([]ports.RunSummary{want}, page.Items, "a list without records, but for the documents")
}

func listShapeIsChecked(e *env) {
	s := e.open()
	for what, spoil := range map[string]func(*ports.ListRuns){
		"limit -1":             func(r *ports.ListRuns) { r.Limit = -1 },
		"limit 1001":           func(r *ports.ListRuns) { r.Limit = 1001 },
		"status created":       func(r *ports.ListRuns) { r.Statuses = []string{"created"} },
		"an empty status":      func(r *ports.ListRuns) { r.Statuses = []string{running, ""} },
		"a hash without an id": func(r *ports.ListRuns) { r.GraphHash = version("flow", 1).Ref.Hash },
		"a malformed hash":     func(r *ports.ListRuns) { r.GraphID, r.GraphHash = "flow", "abc" },
		"a cursor of time":     func(r *ports.ListRuns) { r.After.StartedAt = epoch },
		"a cursor of id":       func(r *ports.ListRuns) { r.After.RunID = "r" },
	} {
		req := ports.ListRuns{Scope: ports.System(), Now: e.now}
		spoil(&req)
		_, err := s.ListRuns(e.Context(), req)
		e.want(err, ports.ErrInvalid, "listing with "+what)
	}
}
