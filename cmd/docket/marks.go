package main

import (
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
)

// marks tells how far a run has come with each node. The log says it; where
// retention has pruned the log, the run itself still says what waits and what
// failed.
func marks(r engine.Run, events []run.Event) graph.Marks {
	m := graph.Marks{graph.Start: graph.MarkDone}
	for _, e := range events {
		follow(m, e)
	}
	for _, i := range r.Interrupts {
		m[i.NodeID] = graph.MarkWaiting
	}
	if r.Failure != nil && r.Failure.NodeID != "" {
		m[r.Failure.NodeID] = graph.MarkFailed
	}
	if r.Status.Terminal() {
		for id, mark := range m { // what was under way when the run ended isn't any more
			if mark == graph.MarkActive || mark == graph.MarkWaiting {
				delete(m, id)
			}
		}
	}
	return m
}

// follow takes one event into the picture.
func follow(m graph.Marks, e run.Event) {
	switch e.Type {
	case run.EventEdgeTriggered:
		target, _ := e.Payload["target"].(string)
		m[target] = graph.MarkActive
		if target == graph.Finish {
			m[target] = graph.MarkDone
		}
	case run.EventNodeCompleted:
		m[e.NodeID] = graph.MarkDone
	case run.EventInterruptRequested:
		m[e.NodeID] = graph.MarkWaiting
	case run.EventInterruptResolved:
		m[e.NodeID] = graph.MarkActive
	}
}
