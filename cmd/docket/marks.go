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
	m := run.Marks(events)
	m[graph.Start] = graph.MarkDone
	for _, i := range r.Interrupts {
		m[i.NodeID] = graph.MarkWaiting
	}
	if r.Failure != nil && r.Failure.NodeID != "" {
		m[r.Failure.NodeID] = graph.MarkFailed
	}
	return m
}
