package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/docket-go/docket/ports"
)

// Prune implements ports.Pruner. Pruners take turns like other writers, so one
// at a time is at work and none is skipped (PRN-4).
func (b *Backend) Prune(ctx context.Context, req ports.Prune) (ports.Pruned, error) {
	if err := req.Check(); err != nil {
		return ports.Pruned{}, err
	}
	req = req.Normal()
	return write(ctx, b.operations, "Prune", func(v *view) (ports.Pruned, bool, error) {
		p := pruning{state: v.base, req: req, answer: ports.Pruned{Now: b.clock.now(req.Now)}}
		p.chooseEvents()
		p.chooseRuns()
		p.chooseVersions()
		if !req.DryRun {
			p.apply()
		}
		return p.answer, false, nil
	})
}

// pruning chooses what one batch removes, before anything is removed: a dry run
// is the choice alone (PRN-7).
type pruning struct {
	state    *state
	req      ports.Prune
	answer   ports.Pruned
	events   map[*slot]map[int64]bool // sequences that go
	runs     []*slot
	versions []versionKey
}

// past reports whether something is at least as old as its retention; zero
// keeps it for ever.
func (p *pruning) past(since time.Time, kept time.Duration) bool {
	return kept > 0 && !since.After(p.answer.Now.Add(-kept))
}

// expired reports whether a run goes: only a terminal one does (PRN-2, PRN-5).
func (p *pruning) expired(r *row) bool {
	return r.status().Terminal() && p.past(r.run.FinishedAt, p.req.Policy.Runs)
}

// chooseEvents takes the oldest events past their retention, and those of
// expired runs (PRN-2, PRN-6).
func (p *pruning) chooseEvents() {
	type old struct {
		at      *slot
		expired bool
		event   event
	}
	var all []old
	for _, at := range p.state.all {
		expired := p.expired(at.row)
		for _, e := range at.row.events {
			if expired || p.past(e.writtenAt, p.req.Policy.Events) {
				all = append(all, old{at, expired, e})
			}
		}
	}
	slices.SortFunc(all, func(a, b old) int {
		return cmp.Or(a.event.writtenAt.Compare(b.event.writtenAt),
			cmp.Compare(a.event.RunID, b.event.RunID), cmp.Compare(a.event.Seq, b.event.Seq))
	})
	p.events = map[*slot]map[int64]bool{}
	for _, o := range cut(p, all) {
		if p.events[o.at] == nil {
			p.events[o.at] = map[int64]bool{}
		}
		p.events[o.at][o.event.Seq] = true
		if o.expired {
			p.answer.Expired++
		} else {
			p.answer.Events++
		}
	}
}

// chooseRuns takes the longest finished of the expired runs whose events are
// gone, or go with this batch.
func (p *pruning) chooseRuns() {
	var all []*slot
	for _, at := range p.state.all {
		switch {
		case !p.expired(at.row):
		case len(at.row.events) > len(p.events[at]):
			p.answer.More = true
		default:
			all = append(all, at)
		}
	}
	slices.SortFunc(all, func(a, b *slot) int {
		return cmp.Or(a.row.run.FinishedAt.Compare(b.row.run.FinishedAt), cmp.Compare(a.row.run.ID, b.row.run.ID))
	})
	p.runs = cut(p, all)
	p.answer.Runs = int64(len(p.runs))
}

// chooseVersions takes old versions that nothing refers to and that aren't
// among the newest of their line (PRN-3).
func (p *pruning) chooseVersions() {
	if p.req.Policy.Graphs == 0 {
		return
	}
	freed := map[versionKey]int{}
	for _, at := range p.runs {
		freed[versionKey{at.row.owner, at.row.run.Graph}]++
	}
	var all []versionKey
	for key, line := range p.state.lines {
		for _, v := range line[:max(len(line)-ports.KeptVersions, 0)] {
			k := versionKey{key.owner, v.Ref}
			if v.runs == freed[k] && p.past(v.PublishedAt, p.req.Policy.Graphs) {
				all = append(all, k)
			}
		}
	}
	slices.SortFunc(all, func(a, b versionKey) int {
		return cmp.Or(p.state.versions[a].PublishedAt.Compare(p.state.versions[b].PublishedAt),
			cmp.Compare(a.owner.Tenant, b.owner.Tenant), cmp.Compare(a.ref.ID, b.ref.ID), cmp.Compare(a.ref.Hash, b.ref.Hash))
	})
	p.versions = cut(p, all)
	p.answer.Graphs = int64(len(p.versions))
}

// cut bounds a sorted choice to the batch.
func cut[T any](p *pruning, all []T) []T {
	if len(all) > p.req.Batch {
		p.answer.More = true
		return all[:p.req.Batch]
	}
	return all
}

func (p *pruning) apply() {
	for at, gone := range p.events {
		next := *at.row
		// A list of its own: older rows still read the old one.
		next.events = make([]event, 0, len(at.row.events)-len(gone))
		for _, e := range at.row.events {
			if !gone[e.Seq] {
				next.events = append(next.events, e)
			}
		}
		p.state.put(&next)
	}
	p.state.forget(p.runs)
	p.state.forgetVersions(p.versions)
}
