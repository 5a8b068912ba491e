// Package graph holds the authored graph document: its data types, the one
// editing API that builds and live editors share, strict interchange, and
// drawings.
//
//	g, err := graph.New("greet",
//		graph.PutInput("name", graph.Input{Schema: schema.String().Require()}),
//		graph.PutField("greeting", graph.Field{Schema: schema.String()}),
//		graph.PutNode("hello", graph.Node{Implementation: "hello"}),
//		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "hello"}),
//		graph.PutEdge("end", graph.Edge{From: []string{"hello"}, To: graph.Finish}),
//		graph.PutOutput("greeting", graph.Output{Source: "greeting"}),
//	)
//
// # Invariants
//
//   - Editing is functional: Apply returns a new graph or an error, and leaves
//     its receiver alone either way. All edits of one Apply happen or none.
//   - FromMap(ToMap(g)) equals g, and equal graphs have equal canonical bytes.
//     What is zero is omitted, so leaving a setting out and writing its zero are
//     one document with one hash.
//   - Reading is strict: an unknown key, enum or version is an *Error with the
//     path, never ignored.
//   - In documents a key that begins with $ is a tagged expression. A literal
//     that needs such a key is written {"$literal": …}; ToMap and FromMap see to
//     it, Go values never hold the tag.
//
// # What it does not do
//
// It does not tell whether a graph runs: package compiler does, and it alone
// hashes and publishes. An edit that leaves an edge without its target is legal
// here, because editors pass through such states.
package graph
