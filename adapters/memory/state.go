package memory

import (
	"slices"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// state is everything that is committed, with the orders that reads and claims
// need. Whoever changes it holds the backend's turn and lock.
type state struct {
	versions map[versionKey]*version
	lines    map[lineKey][]*version // oldest first, by comparePublished

	slots   map[string]*slot
	all     []*slot                  // oldest first, by compareStarted
	owned   map[record.Owner][]*slot // the same, of one owner
	ready   queue                    // healthy, running, unclaimed: by wake
	claimed queue                    // by the claim's end
}

// slot is the fixed place of a run, whose row changes.
type slot struct {
	row      *row
	queue    *queue // nil: neither claimable nor claimed
	place    int    // in queue
	eligible int64  // microseconds: the wake, or the claim's end
}

func newState() *state {
	return &state{
		versions: map[versionKey]*version{},
		lines:    map[lineKey][]*version{},
		slots:    map[string]*slot{},
		owned:    map[record.Owner][]*slot{},
	}
}

// put stores a row, new or in the place of the run's previous one.
func (s *state) put(r *row) {
	at, ok := s.slots[r.run.ID]
	if !ok {
		at = &slot{row: r}
		s.slots[r.run.ID] = at
		s.all = inserted(s.all, at)
		s.owned[r.owner] = inserted(s.owned[r.owner], at)
		s.versions[versionKey{r.owner, r.run.Graph}].runs++
	}
	at.row = r
	s.enqueue(at)
}

// enqueue brings a slot to where its row belongs.
func (s *state) enqueue(at *slot) {
	r, queue := at.row, (*queue)(nil)
	if r.status() == run.Running && !r.poisoned() {
		queue, at.eligible = &s.ready, r.wakeAt.UnixMicro()
		if r.token != "" {
			queue, at.eligible = &s.claimed, r.claimEnd.UnixMicro()
		}
	}
	switch {
	case at.queue == queue && queue != nil:
		queue.settle(at)
		return
	case at.queue != nil:
		at.queue.remove(at)
	}
	if queue != nil {
		queue.add(at)
	}
}

// inserted keeps a list of slots sorted. Runs mostly start in order, so the
// place is mostly the end.
func inserted(slots []*slot, at *slot) []*slot {
	i := startedBefore(slots, at.row)
	return slices.Insert(slots, i, at)
}

// startedBefore returns how many slots come before a row in a sorted list.
func startedBefore(slots []*slot, r *row) int {
	return before(slots, ports.RunCursor{StartedAt: r.run.StartedAt, RunID: r.run.ID})
}

// before returns how many slots come before a place in a sorted list.
func before(slots []*slot, place ports.RunCursor) int {
	if n := len(slots); n > 0 && compareStarted(slots[n-1].row, place.StartedAt, place.RunID) < 0 {
		return n
	}
	i, _ := slices.BinarySearchFunc(slots, place, func(s *slot, place ports.RunCursor) int {
		return compareStarted(s.row, place.StartedAt, place.RunID)
	})
	return i
}

// listed returns the sorted slots of a scope.
func (s *state) listed(scope ports.Scope) []*slot {
	switch scope.Kind {
	case ports.ScopeSystem:
		return s.all
	case ports.ScopeTenant:
		return s.owned[record.Owner{Tenant: scope.Tenant}]
	default:
		return s.owned[record.Owner{}]
	}
}

func (s *state) putVersion(owner record.Owner, v *version) {
	key := versionKey{owner, v.Ref}
	s.versions[key] = v
	s.lines[key.line()] = insertedVersion(s.lines[key.line()], v)
}

func insertedVersion(line []*version, v *version) []*version {
	return slices.Insert(line, publishedBefore(line, ports.GraphCursor{PublishedAt: v.PublishedAt, Hash: v.Ref.Hash}), v)
}

// publishedBefore returns how many versions come before a place in a line.
func publishedBefore(line []*version, place ports.GraphCursor) int {
	i, _ := slices.BinarySearchFunc(line, place, func(v *version, place ports.GraphCursor) int {
		return comparePublished(v, place.PublishedAt, place.Hash)
	})
	return i
}

// forget removes runs that have no events left, and their references.
func (s *state) forget(runs []*slot) {
	if len(runs) == 0 {
		return
	}
	gone := make(map[*slot]bool, len(runs))
	owners := map[record.Owner]bool{}
	for _, at := range runs {
		gone[at], owners[at.row.owner] = true, true
		delete(s.slots, at.row.run.ID)
		s.versions[versionKey{at.row.owner, at.row.run.Graph}].runs--
	}
	dropped := func(at *slot) bool { return gone[at] }
	s.all = slices.DeleteFunc(s.all, dropped)
	for owner := range owners {
		if s.owned[owner] = slices.DeleteFunc(s.owned[owner], dropped); len(s.owned[owner]) == 0 {
			delete(s.owned, owner)
		}
	}
}

// forgetVersions removes versions that no run refers to.
func (s *state) forgetVersions(keys []versionKey) {
	for _, key := range keys {
		gone := s.versions[key]
		delete(s.versions, key)
		line := slices.DeleteFunc(s.lines[key.line()], func(v *version) bool { return v == gone })
		if s.lines[key.line()] = line; len(line) == 0 {
			delete(s.lines, key.line())
		}
	}
}
