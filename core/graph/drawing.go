package graph

import (
	"slices"
	"strings"

	"github.com/docket-go/docket/core/value"
)

// Mark is how far a run has come with a node.
type Mark string

const (
	// MarkDone is a node that has completed.
	MarkDone Mark = "done"
	// MarkActive is a node that runs, or is about to, or waits for a retry.
	MarkActive Mark = "active"
	// MarkWaiting is a node with an open interrupt.
	MarkWaiting Mark = "waiting"
	// MarkFailed is the node that failed the run.
	MarkFailed Mark = "failed"
)

// Marks gives nodes of a drawing their marks, by node id. Start and Finish may
// be marked too. Nil draws the graph alone.
type Marks map[string]Mark

// colours are fill and border of a mark: pale enough for black text, and told
// apart by lightness too.
var colours = []struct {
	mark         Mark
	fill, border string
	bold, dashed bool
}{
	{mark: MarkDone, fill: "#d3f0d8", border: "#2e7d32"},
	{mark: MarkActive, fill: "#cfe3ff", border: "#0b57d0", bold: true},
	{mark: MarkWaiting, fill: "#fff1c2", border: "#b26a00", dashed: true},
	{mark: MarkFailed, fill: "#f9c9c5", border: "#b3261e", bold: true},
}

// sketch is what both notations draw. A document under edit may point at nodes
// that it lacks: those are drawn as missing, since leaving them out would hide
// the mistake.
type sketch struct {
	title  string
	boxes  []box
	arrows []arrow
}

type box struct {
	kind  boxKind
	id    string // the node's, or for a join the edge's
	label string
	mark  Mark
}

type boxKind int

const (
	boxNode boxKind = iota
	boxStart
	boxFinish
	boxJoin
	boxMissing
)

// arrow leads from box to box; feeds is one that ends in a join.
type arrow struct {
	from, to box
	text     string
	feeds    bool
}

func (g Graph) sketch(m Marks) sketch {
	s := sketch{title: g.Name}
	boxes := make(map[string]box, len(g.Nodes)+2)
	for _, id := range value.Keys(g.Nodes) {
		label := g.Nodes[id].Label
		if label == "" {
			label = id
		}
		boxes[id] = box{id: id, label: label, mark: m[id]}
		s.boxes = append(s.boxes, boxes[id])
	}
	// boxOf adds the ends and missing nodes when an edge first needs them.
	boxOf := func(id string) box {
		if b, ok := boxes[id]; ok {
			return b
		}
		b := box{kind: boxMissing, id: id, label: id + " (missing)"}
		switch id {
		case Start:
			b = box{kind: boxStart, id: id, label: "start", mark: m[id]}
		case Finish:
			b = box{kind: boxFinish, id: id, label: "finish", mark: m[id]}
		}
		boxes[id] = b
		s.boxes = append(s.boxes, b)
		return b
	}
	for _, id := range value.Keys(g.Edges) {
		s.edge(id, g.Edges[id], boxOf)
	}
	slices.SortStableFunc(s.boxes, func(a, b box) int { return a.order() - b.order() })
	return s
}

func (s *sketch) edge(id string, e Edge, boxOf func(string) box) {
	to, text := boxOf(e.To), e.text()
	if !e.Barrier() {
		for _, source := range e.From {
			s.arrows = append(s.arrows, arrow{from: boxOf(source), to: to, text: text})
		}
		return
	}
	join := box{kind: boxJoin, id: id, label: "all"}
	s.boxes = append(s.boxes, join)
	for _, source := range slices.Sorted(slices.Values(e.From)) {
		s.arrows = append(s.arrows, arrow{from: boxOf(source), to: join, feeds: true})
	}
	s.arrows = append(s.arrows, arrow{from: join, to: to, text: text})
}

// order puts start first and finish last, which is how layouts read best.
func (b box) order() int {
	switch b.kind {
	case boxStart:
		return 0
	case boxNode:
		return 1
	case boxMissing:
		return 2
	case boxJoin:
		return 3
	default:
		return 4
	}
}

// maxGuardText bounds how much of a guard an arrow shows, in bytes.
const maxGuardText = 120

// text is what an edge's arrow says: its label, then its guard.
func (e Edge) text() string {
	var lines []string
	if e.Label != "" {
		lines = append(lines, e.Label)
	}
	if e.Guard != nil {
		text := e.Guard.String()
		if len(text) > maxGuardText {
			text = value.Cut(text, maxGuardText) + "…"
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}
