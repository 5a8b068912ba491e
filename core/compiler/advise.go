package compiler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/value"
)

// advise finds every warning. Loading a published graph does without.
func (c *checker) advise() {
	t := newTopology(c.g)
	c.adviseNodes(t)
	c.adviseCycles(t)
	for _, join := range t.mixedJoins() {
		c.warn(CodeMixedJoin, at("edges", join.edge, "from"), join.message())
	}
	c.adviseReducers()
	c.adviseWriters(t)
	c.adviseOrphans()
}

func (c *checker) adviseNodes(t *topology) {
	reached := t.reach(start, func(link) bool { return true })
	for i, id := range t.ids {
		if i == start {
			continue
		}
		if !reached[i] {
			c.warn(CodeUnreachableNode, at("nodes", id), "no path from $start reaches it, so it never runs: add an edge or remove it")
		}
		if len(t.out[i]) == 0 {
			c.warn(CodeDeadEndNode, at("nodes", id), "no edge leads on from it: if its path ends here, say so with an edge to $finish")
		}
	}
	if t.ends == 0 {
		c.warn(CodeNoTerminalEdge, "edges", "no edge leads to $finish: mark where the graph ends")
	}
}

func (c *checker) adviseCycles(t *topology) {
	for _, ids := range t.cycles(func(l link) bool { return !l.guarded }) {
		message := "loops without a guard: only a failure or a superstep limit ends it. Guard an edge of the cycle"
		if len(ids) > 1 {
			message = strings.Join(ids, ", ") + " form a cycle that no guard can leave: only a failure or a superstep limit ends it. Guard one of its edges"
		}
		c.warn(CodeUnguardedCycle, at("nodes", ids[0]), message)
	}
}

func (c *checker) adviseReducers() {
	for _, name := range value.Keys(c.fields) {
		f := c.g.Fields[name]
		for _, r := range f.Reducer.Check(f.Schema) {
			if r.Code == CodeAmbiguousListWrite {
				c.warn(r.Code, r.Within(at("fields", name, "reducer")).Path, r.Message)
			}
		}
	}
}

// maxParallelNodes bounds the search for parallel writers, which looks at pairs.
const maxParallelNodes = 2048

// adviseWriters looks at what implementations say they write. A document doesn't
// tell, so of other implementations nothing is known.
func (c *checker) adviseWriters(t *topology) {
	writers := make(map[string][]int)
	for i, id := range t.ids {
		if i == start {
			continue
		}
		for _, name := range c.access(id).writes {
			if _, ok := c.g.Fields[name]; !ok {
				c.warn(CodeUnknownWrittenName, at("nodes", id), fmt.Sprintf(
					"its implementation writes %q, which is no state field here: add the field, or the write fails the run", name))
				continue
			}
			writers[name] = append(writers[name], i)
		}
	}
	if len(t.ids) > maxParallelNodes {
		return
	}
	var p *parallel
	for _, name := range value.Keys(writers) {
		kind := c.g.Fields[name].Reducer.Kind
		if len(writers[name]) < 2 || kind != "" && kind != reducer.KindLastValue {
			continue
		}
		if p == nil {
			p = t.parallel(c.alternatives())
		}
		if ids := p.among(writers[name]); len(ids) > 0 {
			c.warn(CodeParallelWriters, at("fields", name), fmt.Sprintf(
				"%s may write it in one superstep and last_value keeps only the greatest node id's write: "+
					"choose another reducer, or make sure that one of them runs at a time", strings.Join(ids, ", ")))
		}
	}
}

// access returns what the implementation of a node declares.
func (c *checker) access(id string) implementation {
	impl := c.impls[c.g.Nodes[id].Implementation]
	if impl == nil {
		return implementation{}
	}
	return implementation{
		writes: slices.Compact(slices.Sorted(slices.Values(impl.writes))), reads: impl.reads, declares: impl.declares,
	}
}

// alternatives tells whether two edges are in one branch group of a node.
func (c *checker) alternatives() func(a, b string) bool {
	group := make(map[string]string)
	for _, id := range value.Keys(c.g.Nodes) {
		groups := c.g.Nodes[id].Branches
		for _, name := range value.Keys(groups) {
			for _, edge := range groups[name] {
				group[edge] = at(id, name)
			}
		}
	}
	return func(a, b string) bool { return group[a] != "" && group[a] == group[b] }
}

// adviseOrphans looks for fields that nothing uses. It can tell only when every
// implementation says what it reads and writes.
func (c *checker) adviseOrphans() {
	used := make(map[string]bool)
	for _, id := range value.Keys(c.g.Nodes) {
		access := c.access(id)
		if !access.declares {
			return
		}
		for _, name := range slices.Concat(access.writes, access.reads) {
			used[name] = true
		}
	}
	for _, id := range value.Keys(c.g.Outputs) {
		used[c.g.Outputs[id].Source] = true
	}
	for _, id := range value.Keys(c.g.Edges) {
		for _, name := range guardFields(c.g.Edges[id].Guard) {
			used[name] = true
		}
	}
	for _, name := range value.Keys(c.g.Fields) {
		if !used[name] {
			c.warn(CodeOrphanedField, at("fields", name), "no node, guard or output uses it: remove it, or the use is missing")
		}
	}
}

func guardFields(g *guard.Guard) []string {
	if g == nil {
		return nil
	}
	return g.Fields()
}
