package conformance

import (
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// observed is everything that the port shows of a run, but for the store's time.
type observed struct {
	Info   ports.RunInfo
	Token  string
	Events []record.Event
	Latest int64
}

// info inspects the run.
func (s *store) info(r *subject) ports.RunInfo {
	s.env.Helper()
	got, err := s.InspectRun(s.env.Context(), ports.InspectRun{Scope: ports.System(), RunID: r.run.ID, Now: s.env.now})
	s.env.ok(err, "inspecting run "+r.run.ID)
	return got
}

// token reads the run's current token, which only System may.
func (s *store) token(r *subject) string {
	s.env.Helper()
	got, err := s.FetchRun(s.env.Context(), ports.FetchRun{Scope: ports.System(), RunID: r.run.ID, Now: s.env.now})
	s.env.ok(err, "fetching run "+r.run.ID)
	return got.Token
}

// observe reads all there is.
func (s *store) observe(r *subject) observed {
	s.env.Helper()
	o := observed{Info: s.info(r), Token: s.token(r)}
	o.Info.Now = time.Time{}
	o.Events, o.Latest = s.history(r)
	return o
}

// history pages through all events.
func (s *store) history(r *subject) ([]record.Event, int64) {
	s.env.Helper()
	var all []record.Event
	var after int64
	for {
		page, err := s.ListEvents(s.env.Context(), ports.ListEvents{Scope: ports.System(), RunID: r.run.ID, AfterSeq: after, Limit: 1000})
		s.env.ok(err, "listing the events of run "+r.run.ID)
		all = append(all, page.Events...)
		if !page.HasMore {
			return all, page.LatestSeq
		}
		if page.NextAfterSeq <= after {
			s.env.Fatalf("ListEvents says that there is more and gives the cursor %d after %d", page.NextAfterSeq, after)
		}
		after = page.NextAfterSeq
	}
}

// unchanged reports any difference from an earlier observation: an answer wrote
// nothing.
func (s *store) unchanged(before observed, r *subject, what string) {
	s.env.Helper()
	if diff := difference(before, s.observe(r)); diff != "" {
		s.env.Errorf("%s wrote something (before → after):\n%s", what, diff)
	}
}

// stored reports when record or events differ from what was acknowledged.
func (s *store) stored(r *subject) {
	s.env.Helper()
	o := s.observe(r)
	s.env.same(r.run, o.Info.Run, "the stored record of run "+r.run.ID)
	s.env.same(r.owner, o.Info.Owner, "the owner of run "+r.run.ID)
	s.env.same(r.events, o.Events, "the events of run "+r.run.ID)
	s.env.same(r.run.EventSeq, o.Latest, "the latest event sequence of run "+r.run.ID)
}

// delivery is the part of RunInfo that says who works on the run.
type delivery struct {
	WakeAt, ClaimedAt, ClaimEnd time.Time
	Attempts, Abandons          int64
	Poison                      ports.Poison
}

// delivers reports when the run's delivery state isn't the expected one.
func (s *store) delivers(r *subject, want delivery, when string) {
	s.env.Helper()
	i := s.info(r)
	s.env.same(want, delivery{i.WakeAt, i.ClaimedAt, i.ClaimEnd, i.Attempts, i.Abandons, i.Poison}, "delivery "+when)
}

// leased lists the ids of leases in their order.
func leased(c ports.Claimed) []string {
	ids := []string{}
	for _, l := range c.Leases {
		ids = append(ids, l.Run.ID)
	}
	return ids
}

// versions pages through all versions of a graph.
func (s *store) versions(owner record.Owner, id string, limit int) []graph.Ref {
	s.env.Helper()
	var refs []graph.Ref
	var after ports.GraphCursor
	for {
		page, err := s.ListGraphs(s.env.Context(), ports.ListGraphs{Owner: owner, GraphID: id, After: after, Limit: limit})
		s.env.ok(err, "listing versions of "+id)
		for _, v := range page.Items {
			refs = append(refs, v.Ref)
		}
		if !page.HasMore {
			return refs
		}
		if page.Next == after {
			s.env.Fatalf("ListGraphs says that there is more and gives the same cursor again")
		}
		after = page.Next
	}
}

// runIDs pages through the runs that req selects.
func (s *store) runIDs(req ports.ListRuns) []string {
	s.env.Helper()
	ids := []string{}
	req.Now = s.env.now
	for {
		page, err := s.ListRuns(s.env.Context(), req)
		s.env.ok(err, "listing runs")
		for _, item := range page.Items {
			ids = append(ids, item.Run.ID)
		}
		if !page.HasMore {
			return ids
		}
		if page.Next == req.After {
			s.env.Fatalf("ListRuns says that there is more and gives the same cursor again")
		}
		req.After = page.Next
	}
}

func sortRefsDown(refs []graph.Ref) {
	slices.SortFunc(refs, func(a, b graph.Ref) int { return strings.Compare(b.Hash, a.Hash) })
}
