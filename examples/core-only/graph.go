package main

import (
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
)

// claim authors the graph: convert the amount and screen the text side by side,
// then decide, and book what was approved.
func claim() (graph.Graph, error) {
	return graph.New("expense-claim",
		graph.Rename("Expense claim"),

		graph.PutInput("amount", graph.Input{Schema: schema.Float().Require().Between(0, 100_000)}),
		graph.PutInput("currency", graph.Input{Schema: schema.Enum("EUR", "USD", "CHF").WithDefault("EUR")}),
		graph.PutInput("purpose", graph.Input{Schema: schema.String().Require().Length(1, 200)}),

		graph.PutField("euros", graph.Field{Schema: schema.Float()}),
		graph.PutField("remarks", graph.Field{Schema: schema.List(schema.String()), Reducer: reducer.Append()}),
		graph.PutField("decision", graph.Field{Schema: schema.Enum("approve", "reject")}),
		graph.PutField("booking", graph.Field{Schema: schema.String()}),

		graph.PutNode("convert", graph.Node{Implementation: "rates.convert", Policies: graph.NodePolicies{
			Retry: &graph.Retry{MaxAttempts: 4, BackoffMS: 500, Backoff: graph.Exponential},
		}}),
		graph.PutNode("screen", graph.Node{Implementation: "text.screen", Config: map[string]any{"words": []string{"gift", "hotel"}}}),
		graph.PutNode("decide", graph.Node{Implementation: "claim.decide"}), // limit: the default
		graph.PutNode("book", graph.Node{Implementation: "ledger.book"}),

		graph.PutEdge("amount", graph.Edge{From: []string{graph.Start}, To: "convert"}),
		graph.PutEdge("purpose", graph.Edge{From: []string{graph.Start}, To: "screen"}),
		graph.PutEdge("ready", graph.Edge{From: []string{"convert", "screen"}, To: "decide"}), // a barrier: both
		graph.PutEdge("approved", graph.Edge{From: []string{"decide"}, To: "book", Guard: decided("approve")}),
		graph.PutEdge("rejected", graph.Edge{From: []string{"decide"}, To: graph.Finish, Guard: decided("reject")}),
		graph.PutEdge("booked", graph.Edge{From: []string{"book"}, To: graph.Finish}),

		graph.PutOutput("decision", graph.Output{Source: "decision", Required: true}),
		graph.PutOutput("euros", graph.Output{Source: "euros"}),
		graph.PutOutput("remarks", graph.Output{Source: "remarks"}),
		graph.PutOutput("booking", graph.Output{Source: "booking"}),
	)
}

func decided(verdict string) *guard.Guard {
	g := guard.Equals(guard.Field("decision"), verdict)
	return &g
}
