package mutants

import (
	"cmp"
	"slices"
	"strings"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

var readMutants = []Mutant{
	{Name: "ids-ascend", Clause: "RUN-9", Off: "Runs of one instant are listed by ascending id.",
		rules: ordered(func(a, b ports.RunSummary) int {
			return cmp.Or(b.Run.StartedAt.Compare(a.Run.StartedAt), cmp.Compare(a.Run.ID, b.Run.ID))
		})},
	{Name: "runs-cursor-on-time-only", Clause: "RUN-9", Off: "A page of runs goes on at the next instant, not at the next id.",
		rules: rules{listRuns: func(s *model.State, req ports.ListRuns) (ports.RunPage, error) {
			if err := req.Check(); err != nil || req.After == (ports.RunCursor{}) {
				return s.ListRuns(req)
			}
			all := req
			all.After, all.Limit = ports.RunCursor{}, ports.MaxPage
			page, err := s.ListRuns(all)
			left := slices.DeleteFunc(page.Items, func(r ports.RunSummary) bool { return !r.Run.StartedAt.Before(req.After.StartedAt) })
			return pageOf(left, req, page), err
		}}},
	{Name: "filter-after-the-page", Clause: "RUN-9", Off: "The status filter is applied to a page that was cut before.",
		rules: rules{listRuns: func(s *model.State, req ports.ListRuns) (ports.RunPage, error) {
			if err := req.Check(); err != nil || len(req.Statuses) == 0 {
				return s.ListRuns(req)
			}
			statuses := req.Statuses
			req.Statuses = nil
			page, err := s.ListRuns(req)
			page.Items = slices.DeleteFunc(page.Items, func(r ports.RunSummary) bool { return !slices.Contains(statuses, r.Run.Status) })
			page.HasMore = page.HasMore && len(page.Items) > 0
			return page, err
		}}},
	{Name: "poison-filter-ignored", Clause: "RUN-9", Off: "A list of poisoned runs shows all runs.",
		rules: rules{listRuns: func(s *model.State, req ports.ListRuns) (ports.RunPage, error) {
			req.Poisoned = false
			return s.ListRuns(req)
		}}},
	{Name: "a-full-page-of-runs-has-more", Clause: "RUN-9", Off: "A page of runs that is full says that there is more.",
		rules: listed(func(p *ports.RunPage, req ports.ListRuns) { p.HasMore = len(p.Items) == req.Limit })},
	{Name: "cursor-is-inclusive", Clause: "RUN-9", Off: "A page of runs begins with the run of its cursor.",
		rules: rules{listRuns: func(s *model.State, req ports.ListRuns) (ports.RunPage, error) {
			if err := req.Check(); err != nil || req.After == (ports.RunCursor{}) {
				return s.ListRuns(req)
			}
			after := req.After
			all := req
			all.After = ports.RunCursor{}
			all.Limit = ports.MaxPage
			page, err := s.ListRuns(all)
			left := slices.DeleteFunc(page.Items, func(r ports.RunSummary) bool {
				return cmp.Or(after.StartedAt.Compare(r.Run.StartedAt), cmp.Compare(after.RunID, r.Run.ID)) < 0
			})
			if len(left) == 1 { // or it would never end
				left = nil
			}
			return pageOf(left, req, page), err
		}}},
	{Name: "records-without-a-request", Clause: "RUN-9", Off: "Every list carries documents.",
		rules: rules{listRuns: func(s *model.State, req ports.ListRuns) (ports.RunPage, error) {
			req.Records = true
			return s.ListRuns(req)
		}}},
	{Name: "inspect-hides-abandons", Clause: "RUN-10", Off: "Inspect doesn't tell the abandons.",
		rules: inspected(func(i *ports.RunInfo) { i.Abandons = 0 })},
	{Name: "inspect-hides-the-claim-end", Clause: "RUN-10", Off: "Inspect tells the claiming time as the claim's end.",
		rules: inspected(func(i *ports.RunInfo) { i.ClaimEnd = i.ClaimedAt })},
	{Name: "token-for-everybody", Clause: "RUN-10", Off: "A fetch tells the token under any scope.",
		rules: rules{fetchRun: func(s *model.State, req ports.FetchRun) (ports.FetchedRun, error) {
			got, err := s.FetchRun(req)
			if err == nil {
				got.Token = row(s, req.RunID).Token
			}
			return got, err
		}}},
	{Name: "token-for-nobody", Clause: "RUN-13", Off: "Nobody is told a run's token, so no landing can be proved.",
		rules: rules{fetchRun: func(s *model.State, req ports.FetchRun) (ports.FetchedRun, error) {
			got, err := s.FetchRun(req)
			got.Token = ""
			return got, err
		}}},
	{Name: "ids-in-locale-order", Clause: "VAL-2", Off: "Runs of one instant are ordered as a dictionary has them.",
		rules: ordered(func(a, b ports.RunSummary) int {
			return cmp.Or(b.Run.StartedAt.Compare(a.Run.StartedAt),
				cmp.Compare(strings.ToLower(b.Run.ID), strings.ToLower(a.Run.ID)), cmp.Compare(b.Run.ID, a.Run.ID))
		})},
}

func listed(f func(*ports.RunPage, ports.ListRuns)) rules {
	return rules{listRuns: func(s *model.State, req ports.ListRuns) (ports.RunPage, error) {
		page, err := s.ListRuns(req)
		if err == nil {
			f(&page, req.Normal())
		}
		return page, err
	}}
}

func inspected(f func(*ports.RunInfo)) rules {
	return rules{inspectRun: func(s *model.State, req ports.InspectRun) (ports.RunInfo, error) {
		info, err := s.InspectRun(req)
		f(&info)
		return info, err
	}}
}

// ordered lists in another order, with cursors that agree with it.
func ordered(order func(a, b ports.RunSummary) int) rules {
	return rules{listRuns: func(s *model.State, req ports.ListRuns) (ports.RunPage, error) {
		if err := req.Check(); err != nil {
			return ports.RunPage{}, err
		}
		all := req
		all.After, all.Limit = ports.RunCursor{}, ports.MaxPage
		page, err := s.ListRuns(all)
		slices.SortFunc(page.Items, order)
		var at ports.RunSummary
		at.Run.StartedAt, at.Run.ID = req.After.StartedAt, req.After.RunID
		left := page.Items
		if req.After != (ports.RunCursor{}) {
			left = slices.DeleteFunc(left, func(r ports.RunSummary) bool { return order(r, at) <= 0 })
		}
		return pageOf(left, req, page), err
	}}
}

// pageOf cuts a page out of what is left of a list.
func pageOf(left []ports.RunSummary, req ports.ListRuns, all ports.RunPage) ports.RunPage {
	limit := req.Normal().Limit
	page := ports.RunPage{Items: left[:min(limit, len(left))], Next: req.After, HasMore: len(left) > limit, Now: all.Now}
	if n := len(page.Items); n > 0 {
		page.Next = ports.RunCursor{StartedAt: page.Items[n-1].Run.StartedAt, RunID: page.Items[n-1].Run.ID}
	}
	return page
}
