package memory

import (
	"iter"
	"slices"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// view is what one operation sees and changes: the committed state, or that
// state under a transaction's draft.
type view struct {
	base  *state
	draft *draft // nil: changes go to base at once
}

// draft is the uncommitted work of a transaction. The committed state under it
// stands still, because the transaction holds the turn to write.
type draft struct {
	rows     map[string]*row
	added    []*slot // the runs that base doesn't have, sorted like state.all
	versions map[versionKey]*version
	order    []versionKey // of versions, as they were saved
}

func newDraft() *draft {
	return &draft{rows: map[string]*row{}, versions: map[versionKey]*version{}}
}

// apply makes a draft part of the committed state.
func (s *state) apply(d *draft) {
	for _, key := range d.order {
		s.putVersion(key.owner, d.versions[key])
	}
	for _, at := range d.added {
		s.put(d.rows[at.row.run.ID])
		delete(d.rows, at.row.run.ID)
	}
	for _, r := range d.rows { // each has its own slot: the order shows nowhere
		s.put(r)
	}
}

// row returns a run's row, nil when there is none.
func (v *view) row(id string) *row {
	if v.draft != nil {
		if r, ok := v.draft.rows[id]; ok {
			return r
		}
	}
	if at, ok := v.base.slots[id]; ok {
		return at.row
	}
	return nil
}

// put stores a row. The caller has checked everything: it can't fail.
func (v *view) put(r *row) {
	if v.draft == nil {
		v.base.put(r)
		return
	}
	if v.row(r.run.ID) == nil {
		v.draft.added = inserted(v.draft.added, &slot{row: r})
	}
	v.draft.rows[r.run.ID] = r
}

// visible returns the row of a run inside a scope. The error is the same for
// every reason (SCP-3).
func (v *view) visible(op string, scope ports.Scope, id string) (*row, error) {
	r := v.row(id)
	if r == nil || !scope.Matches(r.owner) {
		return nil, ports.NotFound(op)
	}
	return r, nil
}

// newestFirst yields the scope's rows behind a cursor.
func (v *view) newestFirst(scope ports.Scope, after ports.RunCursor) iter.Seq[*row] {
	stored := behind(v.base.listed(scope), after)
	var added []*slot
	if v.draft != nil {
		added = behind(v.draft.added, after)
	}
	return func(yield func(*row) bool) {
		i, j := len(stored)-1, len(added)-1
		for i >= 0 || j >= 0 {
			var next *slot
			if j < 0 || i >= 0 && later(stored[i].row, added[j].row) {
				next, i = stored[i], i-1
			} else {
				next, j = added[j], j-1
			}
			r := v.row(next.row.run.ID)
			if scope.Matches(r.owner) && !yield(r) {
				return
			}
		}
	}
}

func behind(slots []*slot, after ports.RunCursor) []*slot {
	if after == (ports.RunCursor{}) {
		return slots
	}
	return slots[:before(slots, after)]
}

func later(a, b *row) bool { return compareStarted(a, b.run.StartedAt, b.run.ID) > 0 }

// version returns a graph version, nil when there is none.
func (v *view) version(key versionKey) *version {
	if v.draft != nil {
		if found, ok := v.draft.versions[key]; ok {
			return found
		}
	}
	return v.base.versions[key]
}

func (v *view) putVersion(owner record.Owner, saved *version) {
	if v.draft == nil {
		v.base.putVersion(owner, saved)
		return
	}
	key := versionKey{owner, saved.Ref}
	v.draft.versions[key] = saved
	v.draft.order = append(v.draft.order, key)
}

// line returns an owner's versions of one graph id, oldest first.
func (v *view) line(key lineKey) []*version {
	line := v.base.lines[key]
	if v.draft == nil || len(v.draft.order) == 0 {
		return line
	}
	line = slices.Clone(line)
	for _, k := range v.draft.order {
		if k.line() == key {
			line = insertedVersion(line, v.draft.versions[k])
		}
	}
	return line
}
