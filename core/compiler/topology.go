package compiler

import (
	"slices"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/value"
)

// topology is a graph's shape: nodes and edges as indices. Node 0 is $start, the
// rest are the nodes sorted by id. Edges with an endpoint that doesn't exist are
// left out; $finish is no node here.
type topology struct {
	ids   []string
	edges []link
	out   [][]int // per node: indices into edges
	ends  int     // edges that lead to $finish
}

// link is one edge; its target is -1 for $finish.
type link struct {
	id      string
	sources []int
	target  int
	guarded bool
}

const start = 0

func newTopology(g graph.Graph) *topology {
	t := &topology{ids: append([]string{graph.Start}, value.Keys(g.Nodes)...)}
	index := make(map[string]int, len(t.ids))
	for i, id := range t.ids {
		index[id] = i
	}
	t.out = make([][]int, len(t.ids))
	for _, id := range value.Keys(g.Edges) {
		t.add(id, g.Edges[id], index)
	}
	return t
}

func (t *topology) add(id string, e graph.Edge, index map[string]int) {
	l := link{id: id, target: -1, guarded: e.Guard != nil}
	for _, source := range slices.Compact(slices.Clone(e.From)) {
		i, ok := index[source]
		if !ok {
			return
		}
		l.sources = append(l.sources, i)
	}
	if e.To != graph.Finish {
		target, ok := index[e.To]
		if !ok || target == start {
			return
		}
		l.target = target
	} else {
		t.ends++
	}
	for _, source := range l.sources {
		t.out[source] = append(t.out[source], len(t.edges))
	}
	t.edges = append(t.edges, l)
}

// reach returns which nodes can complete when from does, over the edges that
// pass. A barrier is passed once all its sources are reached.
func (t *topology) reach(from int, pass func(link) bool) []bool {
	reached := make([]bool, len(t.ids))
	waiting := make([]int, len(t.edges)) // sources that a barrier still misses
	for i, e := range t.edges {
		waiting[i] = len(e.sources)
	}
	reached[from] = true
	for queue := []int{from}; len(queue) > 0; {
		at := queue[0]
		queue = queue[1:]
		for _, i := range t.out[at] {
			waiting[i]--
			e := t.edges[i]
			if waiting[i] > 0 || e.target < 0 || reached[e.target] || !pass(e) {
				continue
			}
			reached[e.target] = true
			queue = append(queue, e.target)
		}
	}
	return reached
}

// cycles returns the sets of nodes that lie on cycles of edges that pass, as
// sorted ids, in the order of their first id (Tarjan's algorithm).
func (t *topology) cycles(pass func(link) bool) [][]string {
	w := &walk{t: t, pass: pass, index: make([]int, len(t.ids)), low: make([]int, len(t.ids)), open: make([]bool, len(t.ids))}
	for v := range t.ids {
		if w.index[v] == 0 {
			w.visit(v)
		}
	}
	slices.SortFunc(w.found, slices.Compare[[]string])
	return w.found
}

type walk struct {
	t     *topology
	pass  func(link) bool
	next  int
	index []int // 0: not visited
	low   []int
	stack []int
	open  []bool // on the stack
	found [][]string
}

func (w *walk) visit(v int) {
	w.next++
	w.index[v], w.low[v] = w.next, w.next
	w.stack, w.open[v] = append(w.stack, v), true
	self := false
	for _, i := range w.t.out[v] {
		e := w.t.edges[i]
		if e.target < 0 || !w.pass(e) {
			continue
		}
		self = self || e.target == v
		if w.index[e.target] == 0 {
			w.visit(e.target)
			w.low[v] = min(w.low[v], w.low[e.target])
		} else if w.open[e.target] {
			w.low[v] = min(w.low[v], w.index[e.target])
		}
	}
	if w.low[v] == w.index[v] {
		w.close(v, self)
	}
}

// close pops the component whose root is v and keeps it if it is a cycle.
func (w *walk) close(v int, self bool) {
	var ids []string
	for {
		last := w.stack[len(w.stack)-1]
		w.stack, w.open[last] = w.stack[:len(w.stack)-1], false
		ids = append(ids, w.t.ids[last])
		if last == v {
			break
		}
	}
	if len(ids) > 1 || self {
		slices.Sort(ids)
		w.found = append(w.found, ids)
	}
}
