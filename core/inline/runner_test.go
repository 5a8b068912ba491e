package inline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/inline"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/schema"
)

func oneNode(name string, do behaviour, edits ...graph.Edit) scenario {
	return scenario{
		name:  name,
		graph: append([]graph.Edit{nodeOf("a", retry(3, 1000)), edge("e", graph.Start, "a"), edge("f", "a", graph.Finish)}, edits...),
		nodes: func() map[string]behaviour { return map[string]behaviour{"a": do} },
	}
}

func TestResumeRefusesAnotherGraph(t *testing.T) {
	one, other := oneNode("one", silent).compile(t), oneNode("other", silent).compile(t)
	r, err := inline.Start(one, nil, inline.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inline.Resume(other, r.Run(), inline.Config{}); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("got %v", err)
	}
}

func TestClockAndSleepGoTogether(t *testing.T) {
	g := oneNode("one", silent).compile(t)
	if _, err := inline.Start(g, nil, inline.Config{Now: time.Now}); err == nil {
		t.Error("a clock without a sleeper was accepted")
	}
	sleep := func(context.Context, time.Duration) error { return nil }
	r, err := inline.Start(g, nil, inline.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inline.Resume(g, r.Run(), inline.Config{Sleep: sleep}); err == nil {
		t.Error("a sleeper without a clock was accepted")
	}
}

// TestDriveFailsAsItsContextEnds interrupts a node and a park.
func TestDriveFailsAsItsContextEnds(t *testing.T) {
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	r, err := inline.Run(ctx, oneNode("one", func(int, node.Input, node.Activation) (node.Result, error) {
		cancel(gone)
		return node.Result{}, errors.New("too late")
	}).compile(t), nil, inline.Config{})
	if !errors.Is(err, gone) || len(r.Checkpoints()) != 1 || len(r.Events()) != 3 {
		t.Errorf("a node: %v, %d checkpoints", err, len(r.Checkpoints()))
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	observe := func(c runtime.Checkpoint) {
		if c.Disposition().Kind == runtime.ParkAt {
			cancel(gone)
		}
	}
	r, err = inline.Run(ctx, oneNode("one", failsUntil(2, silent)).compile(t), nil, inline.Config{Observe: observe})
	if !errors.Is(err, gone) || len(r.Checkpoints()) != 2 {
		t.Errorf("a park: %v, %d checkpoints", err, len(r.Checkpoints()))
	}
}

func TestRunRefusesInput(t *testing.T) {
	g := oneNode("one", silent, graph.PutInput("topic", graph.Input{Schema: schema.String().Require()})).compile(t)
	r, err := inline.Run(t.Context(), g, map[string]any{"topic": 1, "other": 2}, inline.Config{})
	var refused *runtime.InputError
	if r != nil || !errors.As(err, &refused) || len(refused.Reasons) != 2 {
		t.Errorf("got %v, %v", r, err)
	}
}
