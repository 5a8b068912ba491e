package inline_test

import (
	"errors"
	"math"
	"strings"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/schema"
)

// pair is a failing node beside one whose write must not be committed.
func pair(bad ...graph.NodePolicies) []graph.Edit {
	return []graph.Edit{
		graph.PutInput("given", graph.Input{Schema: schema.String().WithDefault("x")}),
		field("xs", words(), reducer.Append()), field("n", schema.Integer().Between(0, 5), reducer.Sum()),
		nodeOf("bad", bad...), nodeOf("good"),
		edge("e0", graph.Start, "bad"), edge("e1", graph.Start, "good"), edge("f0", "bad", graph.Finish), edge("f1", "good", graph.Finish),
	}
}

func returns(r node.Result) func() map[string]behaviour {
	return does(func(int, node.Input, node.Activation) (node.Result, error) { return r, nil })
}

func does(bad behaviour) func() map[string]behaviour {
	return func() map[string]behaviour { return map[string]behaviour{"bad": bad, "good": says("xs", "good")} }
}

func failScenarios() []scenario {
	return []scenario{
		{
			name: "node-fails", story: "A permanent failure fails the run and commits no write of its superstep.",
			graph: pair(),
			nodes: does(func(int, node.Input, node.Activation) (node.Result, error) {
				return node.Result{}, errors.New("no such luck")
			}),
		},
		{
			name: "node-panics", story: "A panic is an attempt's failure like any other, without its stack.",
			graph: pair(retry(2, 10)),
			nodes: does(func(int, node.Input, node.Activation) (node.Result, error) { panic("out of ideas") }),
		},
		{
			name: "permanent-error", story: "A permanent error isn't retried although the policy would.",
			graph: pair(retry(5, 10)),
			nodes: does(func(int, node.Input, node.Activation) (node.Result, error) {
				return node.Result{}, node.Permanent(errors.New("gone for good"))
			}),
		},
		{
			name: "retries-exhausted", story: "The last attempt's failure is permanent.",
			graph: pair(retry(2, 10)),
			nodes: does(failsUntil(9, silent)),
		},
		{
			name: "unknown-field", story: "Writing what the graph doesn't have, or an input, is a permanent failure that names every place.",
			graph: pair(retry(5, 10)),
			nodes: returns(node.Result{Update: map[string]any{"given": "y", "nope": 1, "n": "text"}}),
		},
		{
			name: "value-that-is-no-value", story: "What can't be stored is refused where it is returned.",
			graph: pair(),
			nodes: returns(node.Result{Update: map[string]any{"xs": []any{"fine", math.Inf(1)}}}),
		},
		{
			name: "writes-and-interrupts", story: "A result is one thing.",
			graph: pair(),
			nodes: returns(node.Result{Update: map[string]any{"n": 1}, Interrupts: []node.Interrupt{{Field: "n"}}}),
		},
		{
			name: "interrupt-for-an-input", story: "An answer needs a state field to go to.",
			graph: pair(),
			nodes: returns(node.Ask(node.Interrupt{Field: "given"}, node.Interrupt{ID: "a\nb", Field: "n"})),
		},
		{
			name: "state-breaks-its-schema", story: "A reduced value that its field refuses fails the run.",
			graph: pair(),
			nodes: returns(node.Write("n", 6)),
		},
		{
			name: "sum-overflows", story: "Integer addition is checked.",
			graph: []graph.Edit{
				field("n", schema.Integer().WithDefault(int64(math.MaxInt64)), reducer.Sum()), nodeOf("bad"),
				edge("e0", graph.Start, "bad"), edge("f0", "bad", graph.Finish),
			},
			nodes: func() map[string]behaviour { return map[string]behaviour{"bad": counts("n")} },
		},
		{
			name: "required-output-missing", story: "A run that would complete without a required output fails, with its state.",
			graph: append(pair(), field("never", schema.String()), output("never", "never", true)),
			nodes: returns(node.Write("n", 1)),
		},
		{
			name: "run-too-large", story: "A write that would outgrow the run's limit fails its node before any commit.",
			graph: pair(), limit: runtime.Limits{MaxRunBytes: 2000},
			nodes: returns(node.Write("xs", strings.Repeat("a", 2000))),
		},
	}
}
