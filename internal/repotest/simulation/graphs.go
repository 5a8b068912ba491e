package simulation

import (
	"fmt"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
)

// author builds one random graph: a row of stages, each of which begins where the
// one before has ended.
type author struct {
	chance
	edits []graph.Edit
	nodes int
	edges int
	ends  []string // the nodes that the next stage waits for
}

// randomGraph returns a graph with fan-outs, joins of branches of unequal length,
// bounded cycles, optional branches, retries, deadlines and questions.
func randomGraph(c chance, id string) (graph.Graph, error) {
	a := &author{chance: c, ends: []string{graph.Start}}
	a.edits = append(a.edits,
		graph.PutInput("topic", graph.Input{Schema: schema.Integer()}),
		graph.PutField("log", graph.Field{Schema: schema.List(schema.String()), Reducer: reducer.Append()}),
		graph.PutField("sum", graph.Field{Schema: schema.Integer(), Reducer: reducer.Sum()}),
		graph.PutField("last", graph.Field{Schema: schema.String()}),
		graph.PutField("rounds", graph.Field{Schema: schema.Integer(), Reducer: reducer.Sum()}),
		graph.PutField("answers", graph.Field{Schema: schema.List(schema.String()), Reducer: reducer.Append()}),
		graph.PutOutput("log", graph.Output{Source: "log"}),
		graph.PutOutput("sum", graph.Output{Source: "sum", Required: true}),
	)
	cycle := false
	for stage := range 1 + a.at("stages").below(4) {
		switch kind := a.at("stage", stage).below(6); {
		case kind == 0 && !cycle:
			cycle = true // the counter of rounds is one field
			a.loop(int64(2 + a.at("rounds").below(2)))
		case kind <= 2:
			a.fan(2+a.at("width", stage).below(2), stage)
		case kind == 3:
			a.follow(a.node(implAsk))
		case kind == 4:
			a.optional()
		default:
			a.follow(a.node(a.work()))
		}
	}
	a.edge(graph.Finish, nil, a.ends...)
	if a.at("bounded").oneIn(12) {
		a.edits = append(a.edits, graph.PutPolicies(graph.Policies{MaxSupersteps: int64(2 + a.at("bound").below(4))}))
	}
	return graph.New(id, a.edits...)
}

// work is mostly the implementation that every worker has.
func (a *author) work() string {
	if a.at("new", a.nodes).oneIn(5) {
		return implNew
	}
	return implWork
}

func (a *author) node(implementation string) string {
	a.nodes++
	c := a.at("node", a.nodes)
	id := fmt.Sprintf("n%02d", a.nodes)
	n := graph.Node{Implementation: implementation, Policies: graph.NodePolicies{
		TimeoutMS: c.at("timeout").between(900*time.Millisecond, 3*time.Second).Milliseconds(),
	}}
	if !c.at("once").oneIn(12) {
		n.Policies.Retry = &graph.Retry{
			MaxAttempts: int64(2 + c.at("attempts").below(3)),
			BackoffMS:   c.at("backoff").between(0, 3*time.Second).Milliseconds(),
			Jitter:      float64(c.at("jitter").below(3)) / 2,
		}
		if c.at("exponential").oneIn(2) {
			n.Policies.Retry.Backoff, n.Policies.Retry.MaxBackoffMS = graph.Exponential, 6000
		}
	}
	if c.at("patient").oneIn(8) {
		n.Policies.TimeoutMS = 0 // the host's maximum
	}
	a.edits = append(a.edits, graph.PutNode(id, n))
	return id
}

func (a *author) edge(to string, when *guard.Guard, from ...string) {
	a.edges++
	a.edits = append(a.edits, graph.PutEdge(fmt.Sprintf("e%02d", a.edges), graph.Edge{From: from, To: to, Guard: when}))
}

// follow lets one node wait for all ends.
func (a *author) follow(id string) {
	a.edge(id, nil, a.ends...)
	a.ends = []string{id}
}

// fan lets several branches begin, of one or two nodes each; the next stage joins
// them.
func (a *author) fan(width, stage int) {
	from := a.ends
	a.ends = nil
	for branch := range width {
		id := a.node(a.work())
		a.edge(id, nil, from...)
		if a.at("long", stage, branch).oneIn(3) {
			second := a.node(a.branchEnd(stage, branch))
			a.edge(second, nil, id)
			id = second
		}
		a.ends = append(a.ends, id)
	}
}

func (a *author) branchEnd(stage, branch int) string {
	if a.at("branch asks", stage, branch).oneIn(3) {
		return implAsk
	}
	return a.work()
}

// loop repeats a counting node and a working one until the rounds are made.
func (a *author) loop(rounds int64) {
	enough := guard.Equals(guard.Field("rounds"), rounds)
	again := guard.Not(enough)
	count, body := a.node(implCount), a.node(a.work())
	after := a.node(a.work())
	a.edge(count, nil, a.ends...)
	a.edge(body, nil, count)
	a.edge(count, &again, body)
	a.edge(after, &enough, body)
	a.ends = []string{after}
}

// optional adds a branch that only runs for some inputs and leads nowhere.
func (a *author) optional() {
	main, side := a.node(a.work()), a.node(a.work())
	even := guard.Equals(guard.Field("topic"), int64(0))
	a.edge(main, nil, a.ends...)
	a.edge(side, &even, main)
	a.edge(graph.Finish, nil, side)
	a.ends = []string{main}
}
