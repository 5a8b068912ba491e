package inline_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/inline"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/schema"
)

// greeting is the smallest graph: one input, one field, one node.
func greeting() (graph.Graph, error) {
	return graph.New("greeting",
		graph.PutInput("name", graph.Input{Schema: schema.String().Require()}),
		graph.PutField("text", graph.Field{Schema: schema.String()}),
		graph.PutNode("greet", graph.Node{Implementation: "greet"}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "greet"}),
		graph.PutEdge("end", graph.Edge{From: []string{"greet"}, To: graph.Finish}),
		graph.PutOutput("text", graph.Output{Source: "text", Required: true}),
	)
}

type greetIn struct {
	Name string `docket:"name"`
}

type greetOut struct {
	Text string `docket:"text"`
}

func greet(_ context.Context, in greetIn) (greetOut, error) {
	return greetOut{Text: "Hello, " + in.Name}, nil
}

// compiled compiles a graph with the implementations that it names.
func compiled(doc graph.Graph, err error, nodes map[string]node.Node) *compiler.Graph {
	if err != nil {
		log.Fatal(err)
	}
	reg, err := node.NewRegistry(nodes)
	if err != nil {
		log.Fatal(err)
	}
	g, _, err := compiler.Compile(doc, reg)
	if err != nil {
		log.Fatal(err)
	}
	return g
}

// A first run: author, register, compile, run.
func Example() {
	doc, err := greeting()
	if err != nil {
		log.Fatal(err)
	}
	reg, err := node.NewRegistry(map[string]node.Node{"greet": node.Func(greet)})
	if err != nil {
		log.Fatal(err)
	}
	g, warnings, err := compiler.Compile(doc, reg)
	if err != nil {
		log.Fatal(err)
	}
	r, err := inline.Run(context.Background(), g, map[string]any{"name": "Ada"}, inline.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Status(), r.Run().Output["text"], len(warnings), "warnings")
	// Output: done Hello, Ada 0 warnings
}

// review asks for a decision until there is one.
func review() *compiler.Graph {
	type input struct {
		Decision *string `docket:"decision"` // nil until it was answered
	}
	ask := node.Func(func(_ context.Context, in input) (node.Result, error) {
		if in.Decision != nil {
			return node.Result{}, nil
		}
		return node.Ask(node.Interrupt{
			Field:    "decision",
			Metadata: map[string]any{"question": "Publish?"},
		}), nil
	})
	doc, err := graph.New("review",
		graph.PutField("decision", graph.Field{Schema: schema.Enum("approve", "reject")}),
		graph.PutNode("review", graph.Node{Implementation: "ask"}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "review"}),
		graph.PutEdge("end", graph.Edge{From: []string{"review"}, To: graph.Finish}),
		graph.PutOutput("decision", graph.Output{Source: "decision", Required: true}),
	)
	return compiled(doc, err, map[string]node.Node{"ask": ask})
}

// A node asks, the run waits, an answer lets it go on.
func ExampleRunner_Resolve() {
	ctx := context.Background()
	r, err := inline.Run(ctx, review(), nil, inline.Config{})
	if err != nil {
		log.Fatal(err)
	}
	question := r.Run().OpenInterrupts()[0]
	fmt.Println(r.Status(), question.ID, question.Metadata["question"])

	_, err = r.Resolve(question.ID, "perhaps")
	var refused *runtime.SignalError
	if errors.As(err, &refused) {
		fmt.Println(refused.Code)
	}
	if _, err := r.Resolve(question.ID, "approve"); err != nil {
		log.Fatal(err)
	}
	if err := r.Drive(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Status(), r.Run().Output["decision"])
	// Output:
	// waiting 1:review:1 Publish?
	// invalid_input
	// done approve
}

// fetching has one node that fails twice and may be attempted four times.
func fetching() *compiler.Graph {
	type output struct {
		Page string `docket:"page"`
	}
	fetch := node.Func(func(ctx context.Context, _ struct{}) (output, error) {
		a, _ := node.Info(ctx)
		if a.Attempt < 3 {
			return output{}, errors.New("503")
		}
		return output{Page: fmt.Sprintf("fetched at attempt %d", a.Attempt)}, nil
	})
	doc, err := graph.New("fetching",
		graph.PutField("page", graph.Field{Schema: schema.String()}),
		graph.PutNode("fetch", graph.Node{
			Implementation: "fetch",
			Policies: graph.NodePolicies{Retry: &graph.Retry{
				MaxAttempts: 4, BackoffMS: 1000, Backoff: graph.Exponential, MaxBackoffMS: 60_000,
			}},
		}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "fetch"}),
		graph.PutEdge("end", graph.Edge{From: []string{"fetch"}, To: graph.Finish}),
		graph.PutOutput("page", graph.Output{Source: "page"}),
	)
	return compiled(doc, err, map[string]node.Node{"fetch": fetch})
}

// Backoff takes no time: the runner's clock is virtual unless it is given one.
func ExampleRun_retry() {
	r, err := inline.Run(context.Background(), fetching(), nil, inline.Config{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range r.Checkpoints() {
		fmt.Println(c.Time().Sub(inline.Epoch), c.Type())
	}
	fmt.Println(r.Run().Output["page"])
	// Output:
	// 0s run_initialized
	// 0s retry_scheduled
	// 1s retry_scheduled
	// 3s run_completed
	// fetched at attempt 3
}

// counting runs a node until its field is three.
func counting() *compiler.Graph {
	done := guard.Equals(guard.Field("n"), 3)
	again := guard.Not(done)
	doc, err := graph.New("counting",
		graph.PutField("n", graph.Field{Schema: schema.Integer(), Reducer: reducer.Sum()}),
		graph.PutNode("count", graph.Node{Implementation: "count"}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "count"}),
		graph.PutEdge("again", graph.Edge{From: []string{"count"}, To: "count", Guard: &again}),
		graph.PutEdge("end", graph.Edge{From: []string{"count"}, To: graph.Finish, Guard: &done}),
		graph.PutOutput("n", graph.Output{Source: "n"}),
	)
	return compiled(doc, err, map[string]node.Node{
		"count": node.HandlerFunc(func(context.Context, node.Input) (node.Result, error) {
			return node.Write("n", 1), nil
		}),
	})
}

// One moment at a time, with a look at what was committed.
func ExampleRunner_Step() {
	r, err := inline.Start(counting(), nil, inline.Config{})
	if err != nil {
		log.Fatal(err)
	}
	for {
		c, err := r.Step(context.Background())
		if errors.Is(err, inline.ErrIdle) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Seq(), c.Type(), "step", c.Step(), c.Run().State())
	}
	// Output:
	// 2 step_committed step 1 map[n:1]
	// 3 step_committed step 2 map[n:2]
	// 4 run_completed step 3 map[n:3]
}

// Cancelling twice is no error; answering afterwards is.
func ExampleRunner_Cancel() {
	r, err := inline.Run(context.Background(), review(), nil, inline.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Cancel(), r.Cancel(), r.Status())
	_, err = r.Resolve("1:review:1", "approve")
	fmt.Println(err)
	// Output:
	// <nil> <nil> cancelled
	// run "inline", interrupt "1:review:1": inactive_run: the run is cancelled
}

// A clock and a sleeper of your own: here one that notes each wait. A program
// that really waits gives time.Now and a sleep that ends with its context.
func ExampleConfig_clock() {
	now := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	r, err := inline.Run(context.Background(), fetching(), nil, inline.Config{
		Now: func() time.Time { return now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			fmt.Println("sleep", d)
			now = now.Add(d)
			return ctx.Err()
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Run().FinishedAt.Format(time.TimeOnly))
	// Output:
	// sleep 1s
	// sleep 2s
	// 09:00:03
}

// A run is bytes between two moments: save them, and go on elsewhere.
func ExampleResume() {
	ctx := context.Background()
	before, err := inline.Run(ctx, review(), nil, inline.Config{RunID: "r-1"})
	if err != nil {
		log.Fatal(err)
	}
	saved, err := run.Encode(before.Run())
	if err != nil {
		log.Fatal(err)
	}

	committed, err := run.Decode(saved)
	if err != nil {
		log.Fatal(err)
	}
	after, err := inline.Resume(review(), committed, inline.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := after.Resolve("1:review:1", "reject"); err != nil {
		log.Fatal(err)
	}
	if err := after.Drive(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(after.Run().ID, after.Status(), after.Run().Output["decision"])
	// Output: r-1 done reject
}

// triage sends a ticket to a person when it is urgent, else to the archive.
func triage() *compiler.Graph {
	urgent := guard.Equals(guard.Path("ticket", "urgent"), true)
	calm := guard.Not(urgent)
	doc, err := graph.New("triage",
		graph.PutInput("ticket", graph.Input{Schema: schema.Object(map[string]schema.Schema{
			"title":  schema.String().Require().Length(1, 80),
			"urgent": schema.Boolean().WithDefault(false),
		}).Require()}),
		graph.PutField("route", graph.Field{Schema: schema.List(schema.String()), Reducer: reducer.Append()}),
		graph.PutNode("read", graph.Node{Implementation: "stamp", Config: map[string]any{"text": "read"}}),
		graph.PutNode("page", graph.Node{Implementation: "stamp", Config: map[string]any{"text": "paged"}}),
		graph.PutNode("file", graph.Node{Implementation: "stamp", Config: map[string]any{"text": "filed"}}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "read"}),
		graph.PutEdge("urgent", graph.Edge{From: []string{"read"}, To: "page", Guard: &urgent}),
		graph.PutEdge("calm", graph.Edge{From: []string{"read"}, To: "file", Guard: &calm}),
		graph.PutEdge("paged", graph.Edge{From: []string{"page"}, To: graph.Finish}),
		graph.PutEdge("filed", graph.Edge{From: []string{"file"}, To: graph.Finish}),
		graph.PutOutput("route", graph.Output{Source: "route"}),
	)
	return compiled(doc, err, map[string]node.Node{"stamp": node.Func(stamp)})
}

type stampIn struct {
	Config struct {
		Text string `json:"text"`
	} `docket:",config"`
}

type stampOut struct {
	Route string `docket:"route"`
}

func stamp(_ context.Context, in stampIn) (stampOut, error) {
	return stampOut{Route: in.Config.Text}, nil
}

// Unit-testing a graph: a table of inputs and what must come out. In a test,
// t.Errorf takes the place of the printing.
func ExampleRun_table() {
	g := triage()
	for _, c := range []struct {
		name   string
		ticket map[string]any
		want   string
	}{
		{"urgent", map[string]any{"title": "Fire", "urgent": true}, "[read paged]"},
		{"calm", map[string]any{"title": "Typo", "urgent": false}, "[read filed]"},
		{"calm by default", map[string]any{"title": "Typo"}, "[read filed]"},
	} {
		r, err := inline.Run(context.Background(), g, map[string]any{"ticket": c.ticket}, inline.Config{})
		if err != nil {
			log.Fatal(err)
		}
		got := fmt.Sprint(r.Run().Output["route"])
		fmt.Println(c.name, got == c.want)
	}
	_, err := inline.Start(g, map[string]any{"ticket": map[string]any{"urgent": "yes"}}, inline.Config{})
	var invalid *runtime.InputError
	if errors.As(err, &invalid) {
		for _, reason := range invalid.Reasons {
			fmt.Println(reason)
		}
	}
	// Output:
	// urgent true
	// calm true
	// calm by default true
	// ticket.title: a value is required
	// ticket.urgent: must be of type boolean, is a string
}

// A failed run is a result, not an error of the runner: it says why.
func ExampleRunner_Run_failed() {
	doc, err := greeting()
	g := compiled(doc, err, map[string]node.Node{
		"greet": node.HandlerFunc(func(context.Context, node.Input) (node.Result, error) {
			return node.Write("name", "Bob"), nil // an input: read-only
		}),
	})
	r, err := inline.Run(context.Background(), g, map[string]any{"name": "Ada"}, inline.Config{})
	if err != nil {
		log.Fatal(err)
	}
	failure := r.Run().Failure
	fmt.Println(r.Status(), failure.Code, failure.NodeID)
	fmt.Println(failure.Message)
	// Output:
	// failed invalid_update greet
	// name: "name" is an input: inputs are read-only
}
