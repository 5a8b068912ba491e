package inline_test

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/inline"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/schema"
)

type noConfig struct{}

func (noConfig) ConfigSchema() schema.Schema { return schema.Schema{} }

func isIdle(err error) bool { return errors.Is(err, inline.ErrIdle) }

// The words scenarios are written in.

func field(name string, s schema.Schema, r ...reducer.Reducer) graph.Edit {
	f := graph.Field{Schema: s}
	if len(r) > 0 {
		f.Reducer = r[0]
	}
	return graph.PutField(name, f)
}

func nodeOf(id string, policies ...graph.NodePolicies) graph.Edit {
	n := graph.Node{Implementation: id}
	if len(policies) > 0 {
		n.Policies = policies[0]
	}
	return graph.PutNode(id, n)
}

func retry(attempts, backoffMS int64) graph.NodePolicies {
	return graph.NodePolicies{Retry: &graph.Retry{MaxAttempts: attempts, BackoffMS: backoffMS}}
}

func edge(id, from, to string, when ...guard.Guard) graph.Edit {
	return joinEdge(id, []string{from}, to, when...)
}

func joinEdge(id string, from []string, to string, when ...guard.Guard) graph.Edit {
	e := graph.Edge{From: from, To: to}
	if len(when) > 0 {
		e.Guard = &when[0]
	}
	return graph.PutEdge(id, e)
}

func output(name, source string, required bool) graph.Edit {
	return graph.PutOutput(name, graph.Output{Source: source, Required: required})
}

func words() schema.Schema { return schema.List(schema.String()) }

func says(name, text string) behaviour {
	return func(int, node.Input, node.Activation) (node.Result, error) { return node.Write(name, text), nil }
}

func silent(int, node.Input, node.Activation) (node.Result, error) { return node.Result{}, nil }

// counts adds one to a sum field.
func counts(name string) behaviour {
	return func(int, node.Input, node.Activation) (node.Result, error) { return node.Write(name, 1), nil }
}

// failsUntil fails with an error before the given attempt.
func failsUntil(attempt int64, then behaviour) behaviour {
	return func(call int, in node.Input, a node.Activation) (node.Result, error) {
		if a.Attempt < attempt {
			return node.Result{}, fmt.Errorf("attempt %d of %s isn't ready", a.Attempt, a.NodeID)
		}
		return then(call, in, a)
	}
}

// asks interrupts once for a field and completes when it is answered.
func asks(name string, count int, then behaviour) behaviour {
	return func(call int, in node.Input, a node.Activation) (node.Result, error) {
		if len(a.Answers) > 0 {
			return then(call, in, a)
		}
		var list []node.Interrupt
		for range count {
			list = append(list, node.Interrupt{Field: name, Metadata: map[string]any{"question": "which " + name + "?"}})
		}
		return node.Ask(list...), nil
	}
}

func scenarios() []scenario {
	return append(append(flowScenarios(), waitScenarios()...), failScenarios()...)
}

func flowScenarios() []scenario {
	return []scenario{
		{
			name:  "one-node",
			story: "A node writes, the same moment completes the run.",
			graph: []graph.Edit{field("out", schema.String()), nodeOf("a"), edge("begin", graph.Start, "a"), edge("end", "a", graph.Finish), output("out", "out", true)},
			nodes: func() map[string]behaviour { return map[string]behaviour{"a": says("out", "hello")} },
		},
		{
			name:  "chain",
			story: "Three nodes, each a superstep of its own.",
			graph: []graph.Edit{
				field("trail", words(), reducer.Append()), nodeOf("a"), nodeOf("b"), nodeOf("c"),
				edge("e0", graph.Start, "a"), edge("e1", "a", "b"), edge("e2", "b", "c"), edge("e3", "c", graph.Finish), output("trail", "trail", true),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"a": says("trail", "a"), "b": says("trail", "b"), "c": says("trail", "c")}
			},
		},
		{
			name:  "fan-out-and-join",
			story: "Two branches run in one superstep and a barrier waits for both; writes arrive in the order of node ids.",
			graph: []graph.Edit{
				field("trail", words(), reducer.Append()), nodeOf("a"), nodeOf("left"), nodeOf("right"), nodeOf("z"),
				edge("e0", graph.Start, "a"), edge("e1", "a", "left"), edge("e2", "a", "right"),
				joinEdge("join", []string{"left", "right"}, "z"), edge("e3", "z", graph.Finish), output("trail", "trail", true),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"a": says("trail", "a"), "left": says("trail", "l"), "right": says("trail", "r"), "z": says("trail", "z")}
			},
		},
		{
			name:  "join-of-uneven-branches",
			story: "A barrier remembers a source that completed two supersteps earlier.",
			graph: []graph.Edit{
				field("trail", words(), reducer.Append()), nodeOf("fast"), nodeOf("slow1"), nodeOf("slow2"), nodeOf("z"),
				edge("e0", graph.Start, "fast"), edge("e1", graph.Start, "slow1"), edge("e2", "slow1", "slow2"),
				joinEdge("join", []string{"fast", "slow2"}, "z"), edge("e3", "z", graph.Finish),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"fast": says("trail", "f"), "slow1": says("trail", "s1"), "slow2": says("trail", "s2"), "z": says("trail", "z")}
			},
		},
		{
			name:  "guarded-branch",
			story: "Of two guarded edges only the one whose guard holds on the new state fires.",
			graph: []graph.Edit{
				field("choice", schema.String()), field("out", schema.String()), nodeOf("choose"), nodeOf("no"), nodeOf("yes"),
				edge("e0", graph.Start, "choose"),
				edge("to-no", "choose", "no", guard.Equals(guard.Field("choice"), "no")),
				edge("to-yes", "choose", "yes", guard.Equals(guard.Field("choice"), "yes")),
				edge("e1", "no", graph.Finish), edge("e2", "yes", graph.Finish), output("out", "out", true),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"choose": says("choice", "yes"), "no": says("out", "no"), "yes": says("out", "yes")}
			},
		},
		{
			name:  "loop-until-three",
			story: "A cycle runs until its guard lets it out; task ids differ on every visit.",
			graph: []graph.Edit{
				field("n", schema.Integer(), reducer.Sum()), nodeOf("count"),
				edge("e0", graph.Start, "count"),
				edge("again", "count", "count", guard.Not(guard.Equals(guard.Field("n"), 3))),
				edge("end", "count", graph.Finish, guard.Equals(guard.Field("n"), 3)), output("n", "n", true),
			},
			nodes: func() map[string]behaviour { return map[string]behaviour{"count": counts("n")} },
		},
		{
			name:  "barrier-in-a-cycle",
			story: "A barrier resets when it fires and fires again on the next round of the cycle.",
			graph: []graph.Edit{
				field("n", schema.Integer(), reducer.Sum()), nodeOf("fork"), nodeOf("l"), nodeOf("r"), nodeOf("meet"),
				edge("e0", graph.Start, "fork"), edge("e1", "fork", "l"), edge("e2", "fork", "r"),
				joinEdge("join", []string{"l", "r"}, "meet"),
				edge("again", "meet", "fork", guard.Not(guard.Equals(guard.Field("n"), 2))),
				edge("end", "meet", graph.Finish, guard.Equals(guard.Field("n"), 2)),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"fork": silent, "l": silent, "r": silent, "meet": counts("n")}
			},
		},
		{
			name:  "barrier-refused-by-its-guard",
			story: "A barrier whose guard refuses has reset all the same: the run ends without its target.",
			graph: []graph.Edit{
				field("go", schema.Boolean()), nodeOf("l"), nodeOf("r"), nodeOf("meet"),
				edge("e0", graph.Start, "l"), edge("e1", graph.Start, "r"),
				joinEdge("join", []string{"l", "r"}, "meet", guard.Equals(guard.Field("go"), true)), edge("end", "meet", graph.Finish),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"l": silent, "r": silent, "meet": silent}
			},
		},
		{
			name:  "barrier-never-satisfied",
			story: "A branch that is guarded off leaves its join waiting: the run completes and the terminal event says which sources arrived.",
			graph: []graph.Edit{
				field("go", schema.Boolean()), nodeOf("a"), nodeOf("b"), nodeOf("c"),
				edge("e0", graph.Start, "a"), edge("maybe", "a", "b", guard.Equals(guard.Field("go"), true)),
				joinEdge("join", []string{"a", "b"}, "c"), edge("end", "c", graph.Finish),
			},
			nodes: func() map[string]behaviour { return map[string]behaviour{"a": silent, "b": silent, "c": silent} },
		},
		{
			name:  "two-edges-to-one-node",
			story: "Two activations in one superstep are one execution.",
			graph: []graph.Edit{
				field("n", schema.Integer(), reducer.Sum()), nodeOf("l"), nodeOf("r"), nodeOf("z"),
				edge("e0", graph.Start, "l"), edge("e1", graph.Start, "r"), edge("e2", "l", "z"), edge("e3", "r", "z"), edge("end", "z", graph.Finish),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"l": silent, "r": silent, "z": counts("n")}
			},
		},
		{
			name:  "last-writer-by-node-id",
			story: "Of several writers of one field the greatest node id wins, whoever finished last.",
			graph: []graph.Edit{
				field("x", schema.String()), nodeOf("B"), nodeOf("a"), nodeOf("b"),
				edge("e0", graph.Start, "B"), edge("e1", graph.Start, "a"), edge("e2", graph.Start, "b"),
				edge("f0", "B", graph.Finish), edge("f1", "a", graph.Finish), edge("f2", "b", graph.Finish), output("x", "x", true),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"B": says("x", "B"), "a": says("x", "a"), "b": says("x", "b")}
			},
		},
		{
			name:  "defaults-and-inputs",
			story: "Inputs and defaults are seen by nodes and guards before anything is written, and a default is the base of a reducer.",
			graph: []graph.Edit{
				graph.PutInput("topic", graph.Input{Schema: schema.String().Require()}),
				graph.PutInput("tone", graph.Input{Schema: schema.String().WithDefault("dry")}),
				field("n", schema.Integer().WithDefault(10), reducer.Sum()), field("mode", schema.String().WithDefault("draft")),
				nodeOf("a"),
				edge("e0", graph.Start, "a", guard.All(guard.Changed("topic"), guard.Exists(guard.Field("mode")))),
				edge("end", "a", graph.Finish),
				output("n", "n", true), output("mode", "mode", true), output("tone", "tone", true),
			},
			input: map[string]any{"topic": "tides"},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"a": func(_ int, in node.Input, _ node.Activation) (node.Result, error) {
					tone, err := in.State.String("tone")
					if err != nil || tone != "dry" {
						return node.Result{}, fmt.Errorf("tone %q: %v", tone, err)
					}
					return node.Write("n", 5), nil
				}}
			},
		},
		{
			name:  "reset",
			story: "A reset takes an accumulating field back to its default before the writes of its superstep.",
			graph: []graph.Edit{
				field("xs", words().WithDefault([]any{"base"}), reducer.Append()), nodeOf("a"), nodeOf("b"),
				edge("e0", graph.Start, "a"), edge("e1", "a", "b"), edge("end", "b", graph.Finish), output("xs", "xs", true),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{
					"a": says("xs", "a"),
					"b": func(int, node.Input, node.Activation) (node.Result, error) {
						return node.Result{Reset: []string{"xs"}, Update: map[string]any{"xs": "b"}}, nil
					},
				}
			},
		},
		{
			name:  "list-returned-whole",
			story: "A node that returns the whole list to an appending field doubles it; the event names the writer.",
			graph: []graph.Edit{
				field("xs", words(), reducer.Append()), nodeOf("a"), nodeOf("b"), nodeOf("c"),
				edge("e0", graph.Start, "a"), edge("e1", "a", "b"), edge("e2", "b", "c"), edge("end", "c", graph.Finish),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{
					"a": says("xs", "one"),
					"b": func(_ int, in node.Input, _ node.Activation) (node.Result, error) {
						xs, err := in.State.List("xs")
						return node.Write("xs", append(xs, "two")), err
					},
					"c": func(int, node.Input, node.Activation) (node.Result, error) {
						return node.Write("xs", []string{"three"}), nil
					},
				}
			},
		},
		{
			name:  "retry-in-a-cycle",
			story: "Task ids differ on every visit, idempotency keys on every attempt; a retry in one visit leaves the others alone.",
			graph: []graph.Edit{
				field("n", schema.Integer(), reducer.Sum()), nodeOf("work", retry(3, 100)),
				edge("e0", graph.Start, "work"),
				edge("again", "work", "work", guard.Not(guard.Equals(guard.Field("n"), 3))),
				edge("end", "work", graph.Finish, guard.Equals(guard.Field("n"), 3)), output("n", "n", true),
			},
			nodes: func() map[string]behaviour {
				return map[string]behaviour{"work": func(call int, in node.Input, a node.Activation) (node.Result, error) {
					if a.Step == 2 && a.Attempt == 1 {
						return node.Result{}, fmt.Errorf("not on %s", a.IdempotencyKey)
					}
					return node.Write("n", 1), nil
				}}
			},
		},
		{
			name:  "max-supersteps",
			story: "An endless cycle stops at its bound, counted over the run's life.",
			graph: []graph.Edit{
				graph.PutPolicies(graph.Policies{MaxSupersteps: 3}),
				nodeOf("a"), nodeOf("b"), edge("e0", graph.Start, "a"), edge("e1", "a", "b"), edge("e2", "b", "a"),
			},
			nodes: func() map[string]behaviour { return map[string]behaviour{"a": silent, "b": silent} },
		},
		{
			name:  "max-supersteps-of-the-host",
			story: "The host's smaller bound holds over the graph's.",
			graph: []graph.Edit{
				graph.PutPolicies(graph.Policies{MaxSupersteps: 9}),
				nodeOf("a"), edge("e0", graph.Start, "a"), edge("e1", "a", "a"),
			},
			limit: runtime.Limits{MaxSupersteps: 2},
			nodes: func() map[string]behaviour { return map[string]behaviour{"a": silent} },
		},
		{
			name:  "nothing-to-do",
			story: "A start whose only edge is guarded off completes in its second moment.",
			graph: []graph.Edit{
				field("go", schema.Boolean()), nodeOf("a"),
				edge("e0", graph.Start, "a", guard.Exists(guard.Field("go"))), edge("end", "a", graph.Finish),
			},
			nodes: func() map[string]behaviour { return map[string]behaviour{"a": silent} },
		},
	}
}
