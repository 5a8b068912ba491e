package inline_test

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
)

func approval(extra ...graph.Edit) []graph.Edit {
	return append([]graph.Edit{
		field("decision", schema.Enum("approve", "reject")), nodeOf("review"),
		edge("e0", graph.Start, "review"), edge("end", "review", graph.Finish, guard.Changed("decision")),
		output("decision", "decision", true),
	}, extra...)
}

func waitScenarios() []scenario {
	return []scenario{
		{
			name:  "interrupt-and-answer",
			story: "A node asks, the run waits, the answer goes to its field and counts as a change; the node runs again and completes.",
			graph: approval(),
			nodes: func() map[string]behaviour { return map[string]behaviour{"review": asks("decision", 1, silent)} },
			play: func(d *driver) {
				d.drive()
				d.resolve("1:review:1", "approve")
				d.drive()
			},
		},
		{
			name:  "answers-that-are-refused",
			story: "A wrong answer, an unknown interrupt, a second answer and an answer after the end change nothing, each for its own reason.",
			graph: approval(),
			nodes: func() map[string]behaviour { return map[string]behaviour{"review": asks("decision", 1, silent)} },
			play: func(d *driver) {
				d.drive()
				d.resolve("1:review:1", "perhaps")
				d.resolve("1:review:2", "approve")
				d.resolve("1:review:1", "reject")
				d.resolve("1:review:1", "approve")
				d.drive()
				d.resolve("1:review:1", "approve")
				d.cancel()
			},
		},
		{
			name:  "two-interrupts-of-one-node",
			story: "The node runs again only when both of its questions are answered, and sees both answers.",
			graph: []graph.Edit{
				field("notes", words(), reducer.Append()), nodeOf("ask"), edge("e0", graph.Start, "ask"), edge("end", "ask", graph.Finish),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"ask": asks("notes", 2, func(_ int, _ node.Input, a node.Activation) (node.Result, error) {
					return node.Write("notes", fmt.Sprintf("%d answers", len(a.Answers))), nil
				})}
			},
			play: func(d *driver) {
				d.drive()
				d.resolve("1:ask:2", "second")
				d.drive()
				d.resolve("1:ask:1", "first")
				d.drive()
			},
		},
		{
			name:  "interrupt-beside-a-working-branch",
			story: "One branch asks while the other goes on; the run waits only when nothing else can proceed.",
			graph: []graph.Edit{
				field("ok", schema.Boolean()), field("n", schema.Integer(), reducer.Sum()),
				nodeOf("ask"), nodeOf("w1"), nodeOf("w2"), nodeOf("z"),
				edge("e0", graph.Start, "ask"), edge("e1", graph.Start, "w1"), edge("e2", "w1", "w2"),
				joinEdge("join", []string{"ask", "w2"}, "z"), edge("end", "z", graph.Finish),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"ask": asks("ok", 1, silent), "w1": counts("n"), "w2": counts("n"), "z": counts("n")}
			},
			play: func(d *driver) {
				d.drive()
				d.resolve("1:ask:1", true)
				d.drive()
			},
		},
		{
			name:  "interrupt-in-a-loop",
			story: "Each visit of a cycle asks under its own id; the old id is known as answered.",
			graph: []graph.Edit{
				field("answers", words(), reducer.Append()), nodeOf("ask"),
				edge("e0", graph.Start, "ask"), edge("again", "ask", "ask", guard.Not(guard.Exists(guard.Path("answers", 1)))),
				edge("end", "ask", graph.Finish, guard.Exists(guard.Path("answers", 1))), output("answers", "answers", true),
			},
			nodes: func() map[string]behaviour { return map[string]behaviour{"ask": asks("answers", 1, silent)} },
			play: func(d *driver) {
				d.drive()
				d.resolve("1:ask:1", "one")
				d.drive()
				d.resolve("1:ask:1", "again")
				d.resolve("3:ask:1", "two")
				d.drive()
			},
		},
		{
			name:  "named-interrupt-with-schema",
			story: "A node names its interrupt and narrows what an answer may be.",
			graph: []graph.Edit{
				field("score", schema.Integer()), nodeOf("ask"), edge("e0", graph.Start, "ask"), edge("end", "ask", graph.Finish), output("score", "score", true),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"ask": func(_ int, _ node.Input, a node.Activation) (node.Result, error) {
					if len(a.Answers) == 1 && a.Answers[0].Value == int64(5) {
						return node.Result{}, nil
					}
					return node.Ask(node.Interrupt{ID: "the score", Field: "score", Schema: schema.Integer().Between(1, 5)}), nil
				}}
			},
			play: func(d *driver) {
				d.drive()
				d.resolve("the score", 6)
				d.resolve("the score", 5.0)
				d.drive()
			},
		},
		{
			name:  "cancel-while-waiting",
			story: "Cancelling closes the open question; cancelling again changes nothing and uses no sequence.",
			graph: approval(),
			nodes: func() map[string]behaviour { return map[string]behaviour{"review": asks("decision", 1, silent)} },
			play: func(d *driver) {
				d.drive()
				d.cancel()
				d.cancel()
				d.resolve("1:review:1", "approve")
			},
		},
		{
			name:  "retry",
			story: "A failed attempt parks the superstep until its backoff has passed; the step doesn't move and the task keeps its id.",
			graph: []graph.Edit{field("out", schema.String()), nodeOf("a", retry(3, 1000)), edge("e0", graph.Start, "a"), edge("end", "a", graph.Finish), output("out", "out", true)},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"a": failsUntil(3, says("out", "third time"))}
			},
		},
		{
			name:  "retry-beside-a-finished-sibling",
			story: "The sibling that finished is never executed again and stays invisible until the barrier.",
			graph: []graph.Edit{
				field("xs", words(), reducer.Append()), nodeOf("flaky", retry(2, 500)), nodeOf("solid"),
				edge("e0", graph.Start, "flaky"), edge("e1", graph.Start, "solid"), edge("f0", "flaky", graph.Finish), edge("f1", "solid", graph.Finish), output("xs", "xs", true),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{
					"flaky": failsUntil(2, says("xs", "flaky")),
					"solid": func(call int, _ node.Input, _ node.Activation) (node.Result, error) {
						return node.Write("xs", fmt.Sprintf("solid, call %d", call)), nil
					},
				}
			},
		},
		{
			name:  "two-retries-at-different-times",
			story: "A woken superstep runs the attempts that are due, leaves the rest, and parks again for them.",
			graph: []graph.Edit{
				field("xs", words(), reducer.Append()), nodeOf("quick", retry(2, 100)), nodeOf("tardy", retry(2, 900)),
				edge("e0", graph.Start, "quick"), edge("e1", graph.Start, "tardy"), edge("f0", "quick", graph.Finish), edge("f1", "tardy", graph.Finish), output("xs", "xs", true),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"quick": failsUntil(2, says("xs", "quick")), "tardy": failsUntil(2, says("xs", "tardy"))}
			},
		},
		{
			name:  "answer-during-backoff",
			story: "An answer that arrives while the superstep is parked doesn't wake it before an attempt is due, and isn't seen by it.",
			graph: []graph.Edit{
				field("ok", schema.Boolean()), field("seen", schema.Boolean()), nodeOf("ask"), nodeOf("first"), nodeOf("flaky", retry(2, 5000)),
				edge("e0", graph.Start, "ask"), edge("e1", graph.Start, "first"), edge("e2", "first", "flaky"),
				edge("f0", "flaky", graph.Finish), edge("f1", "ask", graph.Finish, guard.Changed("ok")),
				output("seen", "seen", true),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{
					"ask":   asks("ok", 1, silent),
					"first": silent,
					"flaky": failsUntil(2, func(_ int, in node.Input, _ node.Activation) (node.Result, error) {
						return node.Write("seen", in.State.Has("ok")), nil
					}),
				}
			},
			play: func(d *driver) {
				d.step() // ask interrupts, first completes
				d.step() // flaky fails and parks
				d.resolve("1:ask:1", true)
				d.drive()
			},
		},
		{
			name:  "interrupt-held-behind-a-retry",
			story: "A sibling's question is held with its superstep and asked at the barrier, once.",
			graph: []graph.Edit{
				field("ok", schema.Boolean()), nodeOf("ask"), nodeOf("flaky", retry(2, 100)),
				edge("e0", graph.Start, "ask"), edge("e1", graph.Start, "flaky"), edge("f0", "flaky", graph.Finish), edge("f1", "ask", graph.Finish),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"ask": asks("ok", 1, silent), "flaky": failsUntil(2, silent)}
			},
			play: func(d *driver) {
				d.step()
				d.resolve("1:ask:1", true)
				d.drive()
				d.resolve("1:ask:1", true)
				d.drive()
			},
		},
		{
			name:  "cancel-in-backoff",
			story: "Cancelling absorbs a parked superstep: timers, attempts and held writes are gone.",
			graph: []graph.Edit{
				field("xs", words(), reducer.Append()), nodeOf("flaky", retry(5, 1000)), nodeOf("solid"),
				edge("e0", graph.Start, "flaky"), edge("e1", graph.Start, "solid"), edge("f0", "flaky", graph.Finish), edge("f1", "solid", graph.Finish),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{
					"flaky": func(int, node.Input, node.Activation) (node.Result, error) {
						return node.Result{}, errors.New("never")
					},
					"solid": says("xs", "solid"),
				}
			},
			play: func(d *driver) {
				d.step()
				d.cancel()
				d.drive()
			},
		},
	}
}
