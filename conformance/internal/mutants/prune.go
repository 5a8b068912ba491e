package mutants

import (
	"time"

	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

// pruning changes what a prune is asked for.
func pruning(f func(*ports.Prune)) rules {
	return rules{prune: func(s *model.State, req ports.Prune) (ports.Pruned, error) {
		if err := req.Check(); err != nil {
			return ports.Pruned{}, err
		}
		now := req.Now
		f(&req)
		got, err := s.Prune(req)
		got.Now = now
		return got, err
	}}
}

var pruneMutants = []Mutant{
	{Name: "default-policy", Clause: "PRN-1", Off: "A policy that says nothing means a week.",
		rules: rules{prune: func(s *model.State, req ports.Prune) (ports.Pruned, error) {
			if req.Policy == (ports.Retention{}) {
				req.Policy.Runs = 7 * 24 * time.Hour
			}
			return s.Prune(req)
		}}},
	{Name: "events-outlive-runs", Clause: "PRN-1", Off: "A policy may keep events longer than their runs.",
		rules: rules{prune: func(s *model.State, req ports.Prune) (ports.Pruned, error) {
			if p := req.Policy; p.Runs > 0 && p.Events > p.Runs {
				req.Policy.Events = p.Runs
			}
			return s.Prune(req)
		}}},
	{Name: "runs-go-with-their-events", Clause: "PRN-2", Off: "An expired run goes although events of it are left.",
		rules: pruned(func(s *model.State, req ports.Prune, got *ports.Pruned) {
			for _, id := range s.RunIDs() {
				if r := row(s, id); r.Terminal() && req.Policy.Runs > 0 && !r.Run.FinishedAt.Add(req.Policy.Runs).After(req.Now) {
					s.Drop(id)
					got.Runs++
				}
			}
		})},
	{Name: "newest-nine-stay", Clause: "PRN-3", Off: "Only the newest nine versions are kept.",
		rules: pruned(func(s *model.State, req ports.Prune, got *ports.Pruned) {
			if req.Policy.Graphs == 0 || got.More {
				return
			}
			for _, id := range s.RunIDs() {
				r := row(s, id)
				page, _ := s.ListGraphs(ports.ListGraphs{Owner: r.Owner, GraphID: r.Run.Graph.ID})
				if len(page.Items) >= ports.KeptVersions && !s.Referred(r.Owner, page.Items[ports.KeptVersions-1].Ref) {
					s.DropGraph(r.Owner, page.Items[ports.KeptVersions-1].Ref)
					got.Graphs++
				}
			}
		})},
	{Name: "batch-ignored", Clause: "PRN-4", Off: "A prune removes all that it can at once.",
		rules: pruning(func(req *ports.Prune) { req.Batch = ports.MaxPruneBatch })},
	{Name: "counts-are-mixed", Clause: "PRN-4", Off: "Events of expired runs are counted as events past their own retention.",
		rules: rules{prune: func(s *model.State, req ports.Prune) (ports.Pruned, error) {
			got, err := s.Prune(req)
			got.Events, got.Expired = got.Events+got.Expired, 0
			return got, err
		}}},
	{Name: "waiting-run-pruned", Clause: "PRN-5", Off: "A run that waited for longer than the retention goes.",
		rules: prunedLive(func(r model.Row) bool { return r.Run.Status == "waiting" })},
	{Name: "poisoned-run-pruned", Clause: "PRN-5", Off: "A poisoned run goes when it is old.",
		rules: prunedLive(func(r model.Row) bool { return r.Poisoned() })},
	{Name: "live-run-pruned", Clause: "PRN-5", Off: "A run that is due or claimed goes when it is old.",
		rules: prunedLive(func(r model.Row) bool { return r.Run.Status == "running" && !r.Poisoned() })},
	{Name: "events-have-their-own-age", Clause: "PRN-6", Off: "An event's age counts from the time in it.",
		rules: rules{prune: func(s *model.State, req ports.Prune) (ports.Pruned, error) {
			if !req.DryRun {
				editAll(s, func(r *model.Row) {
					*r = r.Clone()
					for i := range r.Events {
						r.Events[i].WrittenAt = r.Events[i].Time
					}
				})
			}
			return s.Prune(req)
		}}},
	{Name: "retention-and-a-microsecond", Clause: "PRN-6", Off: "At exactly its retention a row stays.",
		rules: pruning(func(req *ports.Prune) { req.Now = req.Now.Add(-time.Microsecond) })},
	{Name: "live-events-don't-age", Clause: "PRN-6", Off: "The events of a live run never go.",
		rules: rules{prune: func(s *model.State, req ports.Prune) (ports.Pruned, error) {
			live := map[string]model.Row{}
			for _, id := range s.RunIDs() {
				if r := row(s, id); !r.Terminal() {
					live[id] = r
					kept := r
					kept.Events = nil
					s.Put(kept)
				}
			}
			got, err := s.Prune(req)
			for _, r := range live {
				s.Put(r)
			}
			return got, err
		}}},
	{Name: "dry-run-removes", Clause: "PRN-7", Off: "A dry run isn't dry.",
		rules: pruning(func(req *ports.Prune) { req.DryRun = false })},
	{Name: "dry-run-says-nothing", Clause: "PRN-7", Off: "A dry run reports zeros.",
		rules: rules{prune: func(s *model.State, req ports.Prune) (ports.Pruned, error) {
			got, err := s.Prune(req)
			if req.DryRun {
				got = ports.Pruned{Now: got.Now}
			}
			return got, err
		}}},
}

// prunedLive also removes old runs that haven't ended.
func prunedLive(goes func(model.Row) bool) rules {
	return pruned(func(s *model.State, req ports.Prune, got *ports.Pruned) {
		for _, id := range s.RunIDs() {
			if r := row(s, id); goes(r) && req.Policy.Runs > 0 && !r.Run.UpdatedAt.Add(req.Policy.Runs).After(req.Now) {
				s.Drop(id)
			}
		}
	})
}
