package main

import (
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/run"
)

// marks tells how far a run has come with each node, from its event log.
func marks(events []run.Event) graph.Marks {
	m := graph.Marks{}
	for _, e := range events {
		switch e.Type {
		case run.EventInitialized:
			m[graph.Start] = graph.MarkDone
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
		case run.EventFailed:
			m[e.NodeID] = graph.MarkFailed
		}
	}
	delete(m, "") // a failure of the run that no node caused
	return m
}
