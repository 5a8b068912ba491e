package compiler

import (
	"slices"
	"strings"
)

// mixedJoin is a barrier that some paths always reach and others only when a
// guard allows: skipping such a branch leaves the barrier waiting for ever.
type mixedJoin struct {
	edge        string
	fork        string
	always      []string
	conditional []string
}

// mixedJoins compares, for each barrier, how its sources are reached from the
// nearest node that every path to any of them passes. Further up the comparison
// can't differ: all the paths run through that fork.
func (t *topology) mixedJoins() []mixedJoin {
	var found []mixedJoin
	var doms []int
	sure := make(map[int][]bool) // fork: what it reaches without a guard
	for _, e := range t.edges {
		if len(e.sources) < 2 {
			continue
		}
		if doms == nil {
			doms = t.dominators()
		}
		fork, ok := t.fork(doms, e.sources)
		if !ok {
			continue
		}
		if sure[fork] == nil {
			sure[fork] = t.reach(fork, func(l link) bool { return !l.guarded })
		}
		join := mixedJoin{edge: e.id, fork: t.ids[fork]}
		for _, source := range e.sources {
			if sure[fork][source] {
				join.always = append(join.always, t.ids[source])
			} else {
				join.conditional = append(join.conditional, t.ids[source])
			}
		}
		if len(join.always) > 0 && len(join.conditional) > 0 {
			found = append(found, join)
		}
	}
	return found
}

func (j mixedJoin) message() string {
	return "waits for " + strings.Join(j.always, ", ") + ", always reached from " + j.fork + ", and for " +
		strings.Join(j.conditional, ", ") + ", reached only when guards allow: if they don't, it never fires. " +
		"Guard all its sources alike, or join with plain edges"
}

// fork returns the nearest common dominator; false when a source is unreachable.
func (t *topology) fork(doms []int, sources []int) (int, bool) {
	at := sources[0]
	for _, source := range sources {
		if doms[source] < 0 || doms[at] < 0 {
			return 0, false
		}
		at = t.meet(doms, at, source)
	}
	return at, true
}

func (t *topology) meet(doms []int, a, b int) int {
	above := []int{a}
	for a != start {
		a = doms[a]
		above = append(above, a)
	}
	for !slices.Contains(above, b) {
		b = doms[b]
	}
	return b
}

// dominators returns each node's immediate dominator over all edges, -1 for
// unreachable nodes: the iterative algorithm of Cooper, Harvey and Kennedy.
func (t *topology) dominators() []int {
	order, number := t.postorder()
	into := make([][]int, len(t.ids))
	for _, e := range t.edges {
		if e.target >= 0 {
			into[e.target] = append(into[e.target], e.sources...)
		}
	}
	doms := slices.Repeat([]int{-1}, len(t.ids))
	doms[start] = start
	for changed := true; changed; {
		changed = false
		for _, v := range slices.Backward(order) {
			if v == start {
				continue
			}
			next := -1
			for _, source := range into[v] {
				if doms[source] >= 0 {
					next = intersect(doms, number, source, next)
				}
			}
			if doms[v] != next {
				doms[v], changed = next, true
			}
		}
	}
	return doms
}

func intersect(doms, number []int, a, b int) int {
	if b < 0 {
		return a
	}
	for a != b {
		for number[a] < number[b] {
			a = doms[a]
		}
		for number[b] < number[a] {
			b = doms[b]
		}
	}
	return a
}

// postorder lists the nodes reachable over any edge, children first, and each
// one's position in the list.
func (t *topology) postorder() (order, number []int) {
	number = slices.Repeat([]int{-1}, len(t.ids))
	seen := make([]bool, len(t.ids))
	var visit func(int)
	visit = func(v int) {
		seen[v] = true
		for _, i := range t.out[v] {
			if target := t.edges[i].target; target >= 0 && !seen[target] {
				visit(target)
			}
		}
		number[v] = len(order)
		order = append(order, v)
	}
	visit(start)
	return order, number
}
