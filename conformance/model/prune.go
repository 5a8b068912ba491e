package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// Prune removes one batch, or, dry, tells what it would remove (PRN-7): it works
// on a copy, which takes the state's place.
func (s *State) Prune(req ports.Prune) (ports.Pruned, error) {
	if err := req.Check(); err != nil {
		return ports.Pruned{}, err
	}
	p := pruning{Prune: req.Normal(), left: s.Clone()}
	p.pruneEvents()
	p.pruneRuns()
	p.pruneGraphs()
	p.answer.Now = p.Now
	if !req.DryRun {
		*s = *p.left
	}
	return p.answer, nil
}

// pruning is one batch at work.
type pruning struct {
	ports.Prune
	left   *State
	answer ports.Pruned
}

// past reports whether something has reached its retention; zero keeps it.
func (p *pruning) past(since time.Time, kept time.Duration) bool {
	return kept > 0 && !since.Add(kept).After(p.Now)
}

// expired runs are terminal and finished long enough ago (PRN-2, PRN-5).
func (p *pruning) expired(r Row) bool {
	return r.Terminal() && p.past(r.Run.FinishedAt, p.Policy.Runs)
}

// batch is the part of a sorted choice that goes now (PRN-4).
func batch[T any](p *pruning, all []T) []T {
	p.answer.More = p.answer.More || len(all) > p.Batch
	return all[:min(len(all), p.Batch)]
}

// pruneEvents takes events that are past their own retention, of live runs too
// (PRN-6), and events of expired runs.
func (p *pruning) pruneEvents() {
	var all []Event
	for _, r := range p.left.runs {
		for _, e := range r.Events {
			if p.expired(r) || p.past(e.WrittenAt, p.Policy.Events) {
				all = append(all, e)
			}
		}
	}
	slices.SortFunc(all, func(a, b Event) int {
		return cmp.Or(a.WrittenAt.Compare(b.WrittenAt), cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Seq, b.Seq))
	})
	for _, gone := range batch(p, all) {
		r := p.left.runs[gone.RunID]
		r.Events = slices.DeleteFunc(r.Events, func(e Event) bool { return e.Seq == gone.Seq })
		p.left.Put(r)
		if p.expired(r) {
			p.answer.Expired++
		} else {
			p.answer.Events++
		}
	}
}

// pruneRuns takes expired runs that have no event left (PRN-2).
func (p *pruning) pruneRuns() {
	var all []Row
	for _, r := range p.left.runs {
		switch {
		case !p.expired(r):
		case len(r.Events) > 0:
			p.answer.More = true
		default:
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Row) int {
		return cmp.Or(a.Run.FinishedAt.Compare(b.Run.FinishedAt), cmp.Compare(a.Run.ID, b.Run.ID))
	})
	for _, gone := range batch(p, all) {
		p.left.Drop(gone.Run.ID)
		p.answer.Runs++
	}
}

// pruneGraphs takes versions that no run refers to and that aren't among the
// newest ten of their owner and id (PRN-3).
func (p *pruning) pruneGraphs() {
	var all []graphKey
	for key, v := range p.left.graphs {
		if p.past(v.PublishedAt, p.Policy.Graphs) && !p.left.Referred(key.owner, key.ref) && p.left.newer(key) >= ports.KeptVersions {
			all = append(all, key)
		}
	}
	published := func(k graphKey) time.Time { return p.left.graphs[k].PublishedAt }
	slices.SortFunc(all, func(a, b graphKey) int {
		return cmp.Or(published(a).Compare(published(b)), cmp.Compare(a.owner.Tenant, b.owner.Tenant),
			cmp.Compare(a.ref.ID, b.ref.ID), cmp.Compare(a.ref.Hash, b.ref.Hash))
	})
	for _, gone := range batch(p, all) {
		delete(p.left.graphs, gone)
		p.answer.Graphs++
	}
}

// Referred reports whether a run of the owner refers to the version (GRF-5).
func (s *State) Referred(owner record.Owner, ref graph.Ref) bool {
	for _, r := range s.runs {
		if r.Owner == owner && r.Run.Graph == ref {
			return true
		}
	}
	return false
}

// newer counts the versions of the same owner and id that are newer.
func (s *State) newer(key graphKey) int {
	n := 0
	for other, v := range s.graphs {
		if other.owner == key.owner && other.ref.ID == key.ref.ID &&
			byTimeAndID(v.PublishedAt, s.graphs[key].PublishedAt, other.ref.Hash, key.ref.Hash) < 0 {
			n++
		}
	}
	return n
}
