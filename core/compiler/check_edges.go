package compiler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

func (c *checker) checkEdges() {
	started := false
	for _, id := range value.Keys(c.g.Edges) {
		path, e := at("edges", id), c.g.Edges[id]
		c.checkSources(at(path, "from"), e)
		c.checkTarget(at(path, "to"), e.To)
		if e.SourceHandle == "on_error" {
			c.error(CodeReservedOnError, at(path, "source_handle"),
				"on_error is reserved for error edges of a later version: rename the handle")
		}
		started = started || len(e.From) == 1 && e.From[0] == graph.Start
	}
	if !started {
		c.error(CodeNoStartEdge, "edges", "no edge leads from $start, so nothing would run: add one")
	}
}

func (c *checker) checkSources(path string, e graph.Edge) {
	for i, source := range e.From {
		at := path
		if e.Barrier() {
			at = value.PathIndex(path, i)
		}
		_, known := c.g.Nodes[source]
		switch {
		case i > 0 && source == e.From[i-1]: // sources are sorted
			c.error(CodeDuplicateEdgeSource, at, fmt.Sprintf("%q is listed twice: list each source once", source))
		case source == graph.Start && e.Barrier():
			c.error(CodeInvalidStartEndpoint, at, "$start can't be one of several sources: every run has passed it, so leave it out")
		case source == graph.Finish:
			c.error(CodeInvalidFinishEndpoint, at, "no edge leads out of $finish: use it as a target only")
		case source == "" || source == graph.Start || known:
		default:
			c.error(CodeUnknownEdgeSource, at, unknownNode(source))
		}
	}
}

func (c *checker) checkTarget(path, target string) {
	_, known := c.g.Nodes[target]
	switch {
	case target == graph.Start:
		c.error(CodeInvalidStartEndpoint, path, "no edge leads into $start: use it as a source only")
	case target == "" || target == graph.Finish || known:
	default:
		c.error(CodeUnknownEdgeTarget, path, unknownNode(target))
	}
}

func unknownNode(id string) string {
	return fmt.Sprintf("there is no node %q: add it or correct the id", id)
}

func (c *checker) checkBranches() {
	for _, id := range value.Keys(c.g.Nodes) {
		groups := c.g.Nodes[id].Branches
		seen := make(map[string]string)
		for _, group := range value.Keys(groups) {
			for i, edge := range groups[group] {
				path := value.PathIndex(at("nodes", id, "branches", group), i)
				if first, twice := seen[edge]; twice {
					c.error(CodeDuplicateBranchEdge, path, fmt.Sprintf("edge %q is in group %q already: list it once", edge, first))
					continue
				}
				seen[edge] = group
				c.checkBranch(path, id, edge)
			}
		}
	}
}

func (c *checker) checkBranch(path, node, edge string) {
	e, ok := c.g.Edges[edge]
	switch {
	case !ok:
		c.error(CodeUnknownBranchEdge, path, fmt.Sprintf("there is no edge %q: add it or take it out of the group", edge))
	case len(e.From) != 1 || e.From[0] != node:
		c.error(CodeMismatchedBranchEdge, path, fmt.Sprintf(
			"edge %q doesn't lead from %q alone (it leads from %s): a branch is an edge of its own node",
			edge, node, strings.Join(e.From, ", ")))
	case e.Guard == nil && !c.broken(at("edges", edge, "guard")):
		c.error(CodeUnguardedBranchEdge, path, fmt.Sprintf(
			"edge %q has no guard, so it is always taken: guard it or take it out of the group", edge))
	}
}

// checkGuards looks up what guards name; their form was judged when the graph
// was normalised or read.
func (c *checker) checkGuards() {
	for _, id := range value.Keys(c.g.Edges) {
		g := c.g.Edges[id].Guard
		if g == nil || !slices.ContainsFunc(g.Fields(), func(name string) bool { return !c.known(name) }) {
			continue
		}
		for _, r := range schema.Within(at("edges", id, "guard"), g.Check(c.known)) {
			if r.Code == CodeUnknownGuardField {
				c.error(r.Code, r.Path, r.Message)
			}
		}
	}
}
