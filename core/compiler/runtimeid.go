package compiler

import "strings"

// Kind is the namespace of a runtime id.
type Kind string

const (
	KindInput  Kind = "input"  // a run input
	KindState  Kind = "state"  // a state field
	KindOutput Kind = "output" // an output projection
	KindNode   Kind = "node"   // a node
	KindEdge   Kind = "edge"   // an edge
)

// RuntimeID returns the id under which the machine knows a part of a document,
// like node:review.
func RuntimeID(kind Kind, id string) string { return string(kind) + ":" + id }

// ParseRuntimeID is the way back from RuntimeID.
func ParseRuntimeID(s string) (kind Kind, id string, ok bool) {
	k, id, found := strings.Cut(s, ":")
	if !found || id == "" {
		return "", "", false
	}
	switch Kind(k) {
	case KindInput, KindState, KindOutput, KindNode, KindEdge:
		return Kind(k), id, true
	default:
		return "", "", false
	}
}

// RuntimeID returns the runtime id of a part of this graph, or "" when the
// graph has no such part.
func (g *Graph) RuntimeID(kind Kind, id string) string {
	if !g.has(kind, id) {
		return ""
	}
	return RuntimeID(kind, id)
}

// Parse returns which part of this graph a runtime id names, or false when it
// names none.
func (g *Graph) Parse(runtimeID string) (kind Kind, id string, ok bool) {
	kind, id, ok = ParseRuntimeID(runtimeID)
	if !ok || !g.has(kind, id) {
		return "", "", false
	}
	return kind, id, true
}

func (g *Graph) has(kind Kind, id string) (ok bool) {
	switch kind {
	case KindInput:
		_, ok = g.Input(id)
	case KindState:
		_, ok = g.Field(id)
	case KindOutput:
		_, ok = g.Output(id)
	case KindNode:
		_, ok = g.Node(id)
	case KindEdge:
		_, ok = g.Edge(id)
	}
	return ok
}
