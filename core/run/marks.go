package run

import "github.com/docket-go/docket/core/graph"

// Marks tells how far a run has come with each node, for drawing it on its graph:
// done, active (runs, or waits for a retry), waiting for an answer, failed. events
// are the run's, in order; what a pruned log doesn't tell has no mark.
func Marks(events []Event) graph.Marks {
	m := graph.Marks{}
	for _, e := range events {
		switch p := e.Payload.(type) {
		case Initialized:
			m[graph.Start] = graph.MarkDone
		case EdgeTriggered:
			m[p.Target] = graph.MarkActive
			if p.Target == graph.Finish {
				m[p.Target] = graph.MarkDone
			}
		case NodeCompleted:
			m[e.NodeID] = graph.MarkDone
		case InterruptAsked:
			m[e.NodeID] = graph.MarkWaiting
		case InterruptAnswered:
			m[e.NodeID] = graph.MarkActive
		case Completed, RunCancelled:
			settle(m)
		case RunFailed:
			settle(m)
			if e.NodeID != "" {
				m[e.NodeID] = graph.MarkFailed
			}
		}
	}
	return m
}

// settle takes back what was under way when a run ended.
func settle(m graph.Marks) {
	for id, mark := range m { // order-free: deletes by value
		if mark == graph.MarkActive || mark == graph.MarkWaiting {
			delete(m, id)
		}
	}
}
