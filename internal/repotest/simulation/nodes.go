package simulation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/docket-go/docket/core/node"
	machine "github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// The implementations. Workers of an older release lack implNew.
const (
	implWork  = "work"
	implNew   = "work.v2"
	implCount = "count"
	implAsk   = "ask"
)

// attemptMax is the host's bound of one attempt.
const attemptMax = 8 * time.Second

// deafFor is how long a node works that doesn't listen, longer than any deadline.
const deafFor = 2 * attemptMax

// script is what one attempt does. It depends on the attempt's identity and on
// what it sees, so that every repeat of it comes to the same.
type script struct {
	takes  time.Duration
	deaf   bool // it ignores the end of its context
	result node.Result
	err    error
	panics bool
	exits  bool
}

// scriptOf decides an attempt.
func scriptOf(c chance, implementation string, a node.Activation, in node.Input) script {
	c = c.at(a.IdempotencyKey)
	s := script{takes: c.at("takes").between(0, 250*time.Millisecond)}
	if c.at("slow").oneIn(12) {
		s.takes = c.at("takes longer").between(250*time.Millisecond, 5*time.Second)
	}
	switch c.at("fate").below(90) {
	case 0:
		s.panics = true
	case 1:
		s.exits = true
	case 2:
		s.deaf, s.takes = true, deafFor
	case 3:
		s.err = node.Permanent(errors.New("it can't be done"))
	case 4, 5, 6, 7, 8:
		s.err = fmt.Errorf("attempt %d failed", a.Attempt)
	default:
		s.result = resultOf(c, implementation, a, in)
	}
	return s
}

func resultOf(c chance, implementation string, a node.Activation, in node.Input) node.Result {
	switch {
	case implementation == implAsk && len(a.Answers) == 0:
		asked := make([]node.Interrupt, 1+c.at("questions").below(2))
		for i := range asked {
			asked[i] = node.Interrupt{Field: "answers", Metadata: map[string]any{"task": a.TaskID}}
			if c.at("choice", i).oneIn(2) {
				asked[i].Schema = schema.String()
			}
		}
		return node.Ask(asked...)
	case implementation == implCount:
		return node.Write("rounds", 1)
	}
	update := map[string]any{
		"log": fmt.Sprintf("%s attempt %d saw %s", a.TaskID, a.Attempt, sight(a, in)),
		"sum": c.at("sum").below(100),
	}
	if c.at("last").oneIn(2) {
		update["last"] = a.NodeID
	}
	result := node.Result{Update: update}
	if c.at("reset").oneIn(20) {
		delete(update, "last")
		result.Reset = []string{"last"}
	}
	return result
}

// sight hashes all that an attempt sees: two attempts that see the same tell the
// same.
func sight(a node.Activation, in node.Input) string {
	versions := make(map[string]any, len(a.Versions))
	for name, v := range a.Versions {
		versions[name] = v
	}
	answers := make([]any, len(a.Answers))
	for i, answer := range a.Answers {
		answers[i] = []any{answer.InterruptID, answer.Field, answer.Value}
	}
	data, err := value.Encode([]any{in.State.Values(), versions, answers})
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// outcome is what the machine makes of the attempt, when nothing but its own
// deadline ends it.
func (s script) outcome(t machine.Task) machine.Outcome {
	switch {
	case s.takes >= t.Timeout:
		return timedOut(t)
	case s.panics:
		return machine.Failed(t.ID, machine.ReasonPanic, "panic: "+panicText, false)
	case s.exits:
		return machine.Failed(t.ID, machine.ReasonExit, "the node ended its goroutine", false)
	case s.err != nil:
		return machine.Failed(t.ID, machine.ReasonError, s.err.Error(), node.IsPermanent(s.err))
	default:
		return machine.Succeeded(t.ID, s.result)
	}
}

func timedOut(t machine.Task) machine.Outcome {
	return machine.Failed(t.ID, machine.ReasonTimeout, fmt.Sprintf("the attempt didn't finish within %v", t.Timeout), false)
}

const panicText = "out of paper"

// act does what the script says, in virtual time.
func (s script) act(ctx context.Context) (node.Result, error) {
	if s.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	timer := time.NewTimer(s.takes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return node.Result{}, fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	switch {
	case s.panics:
		panic(panicText)
	case s.exits:
		runtime.Goexit()
	}
	return s.result, s.err
}
