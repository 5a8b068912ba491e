package run_test

import (
	"reflect"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/run"
)

// TestMarks follows a log event by event.
func TestMarks(t *testing.T) {
	edge := func(to string) run.Event {
		return run.Event{Type: run.EventEdgeTriggered, Payload: run.EdgeTriggered{Target: to}}
	}
	done := func(id string) run.Event {
		return run.Event{Type: run.EventNodeCompleted, NodeID: id, Payload: run.NodeCompleted{}}
	}
	log := []run.Event{
		{Payload: run.Initialized{}}, edge("a"), edge("b"),
		done("a"), edge(graph.Finish),
		{NodeID: "b", Payload: run.InterruptAsked{}},
		{NodeID: "b", Payload: run.InterruptAnswered{}},
		done("b"), edge("c"),
	}
	for _, c := range []struct {
		upTo int
		then run.Payload
		node string
		want graph.Marks
	}{
		{0, nil, "", graph.Marks{}},
		{3, nil, "", graph.Marks{"$start": "done", "a": "active", "b": "active"}},
		{6, nil, "", graph.Marks{"$start": "done", "a": "done", "b": "waiting", "$finish": "done"}},
		{7, nil, "", graph.Marks{"$start": "done", "a": "done", "b": "active", "$finish": "done"}},
		{9, nil, "", graph.Marks{"$start": "done", "a": "done", "b": "done", "c": "active", "$finish": "done"}},
		{9, run.RunCancelled{}, "", graph.Marks{"$start": "done", "a": "done", "b": "done", "$finish": "done"}},
		{6, run.Completed{}, "", graph.Marks{"$start": "done", "a": "done", "$finish": "done"}},
		{9, run.RunFailed{}, "c", graph.Marks{"$start": "done", "a": "done", "b": "done", "c": "failed", "$finish": "done"}},
		{3, run.RunFailed{}, "", graph.Marks{"$start": "done"}},
	} {
		events := log[:c.upTo:c.upTo]
		if c.then != nil {
			events = append(events, run.Event{NodeID: c.node, Payload: c.then})
		}
		if got := run.Marks(events); !reflect.DeepEqual(got, c.want) {
			t.Errorf("after %d events and %T: %v, want %v", c.upTo, c.then, got, c.want)
		}
	}
}
