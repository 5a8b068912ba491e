package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/inline"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/value"
)

// play runs one claim to its end: the rate service recovers at the third
// attempt, and a person approves.
func play(w io.Writer, g graph.Graph, reg *node.Registry) error {
	published, _, err := compiler.Publish(g, reg)
	if err != nil {
		return err
	}
	compiled, err := compiler.Load(published.Ref, published.Document, reg)
	if err != nil {
		return err
	}
	chapter(w, fmt.Sprintf("A run of %s", published.Ref))
	ctx := context.Background()
	r, err := inline.Run(ctx, compiled, map[string]any{
		"amount": 420.5, "currency": "USD", "purpose": "Hotel in Lisbon, two nights",
	}, inline.Config{RunID: "claim-7", Observe: func(c runtime.Checkpoint) { showCheckpoint(w, c) }})
	if err != nil {
		return err
	}
	chapter(w, "The graph while the run waits")
	fmt.Fprint(w, published.Graph.Mermaid(run.Marks(r.Events())))
	chapter(w, "A person answers, and the run goes on")
	if err := answer(w, r); err != nil {
		return err
	}
	if err := r.Drive(ctx); err != nil {
		return err
	}
	chapter(w, "The graph after the run")
	fmt.Fprint(w, published.Graph.Mermaid(run.Marks(r.Events())))
	return showEnd(w, r.Run())
}

// answer plays the person: first an answer that the field's schema refuses,
// then a good one.
func answer(w io.Writer, r *inline.Runner) error {
	open := r.Run().OpenInterrupts()
	if r.Status() != run.Waiting || len(open) != 1 {
		return fmt.Errorf("the run is %s with %d open interrupts, want waiting with 1", r.Status(), len(open))
	}
	question := open[0]
	fmt.Fprintf(w, "? %v  remarks: %v\n", question.Metadata["question"], question.Metadata["remarks"])
	_, err := r.Resolve(question.ID, "fine")
	var refused *runtime.SignalError
	if !errors.As(err, &refused) || refused.Code != runtime.SignalInvalid {
		return fmt.Errorf("the answer \"fine\" should be refused as invalid, got %v", err)
	}
	fmt.Fprintf(w, "> fine     refused: %s\n> approve\n\n", refused.Message)
	_, err = r.Resolve(question.ID, "approve")
	return err
}

// showCheckpoint prints what was committed, one line a checkpoint and one a
// thing worth telling.
func showCheckpoint(w io.Writer, c runtime.Checkpoint) {
	fmt.Fprintf(w, "#%-2d +%-5v step %d  %-20s %s", c.Seq(), c.Time().Sub(inline.Epoch), c.Step(), c.Type(), c.Status())
	if d := c.Disposition(); d.Kind == runtime.ParkAt {
		fmt.Fprintf(w, " until +%v", d.At.Sub(inline.Epoch))
	}
	fmt.Fprintln(w)
	for _, e := range c.Events() {
		switch p := e.Payload.(type) {
		case run.NodeCompleted:
			fmt.Fprintf(w, "    %s completed at attempt %d\n", e.NodeID, p.Attempt)
		case run.NodeFailed:
			fmt.Fprintf(w, "    %s failed at attempt %d: %s\n", e.NodeID, p.Attempt, p.Message)
		case run.ChannelUpdated:
			fmt.Fprintf(w, "    %s is version %d\n", p.Channel, p.Version)
		case run.InterruptAsked:
			fmt.Fprintf(w, "    %s asks, interrupt %s\n", e.NodeID, p.InterruptID)
		}
	}
}

// wanted is the run's output.
const wanted = `{"booking":"386.86 EUR under claim-7:4:book:1","decision":"approve","euros":386.86,"remarks":["mentions \"hotel\""]}`

func showEnd(w io.Writer, r *run.Run) error {
	if r.Status != run.Done {
		return fmt.Errorf("the run is %s (%+v), want done", r.Status, r.Failure)
	}
	chapter(w, "The output")
	for _, name := range value.Keys(r.Output) {
		fmt.Fprintf(w, "%-9s %v\n", name, r.Output[name])
	}
	got, err := value.Encode(r.Output)
	if err == nil && string(got) != wanted {
		err = fmt.Errorf("the output is %s, want %s", got, wanted)
	}
	return err
}
