package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func idle(context.Context, node.Input) (node.Result, error) { return node.Result{}, nil }

// diamond is start → a, b → join → c → finish with an append field and a limit.
func diamond(t *testing.T, edits ...graph.Edit) *compiler.Graph {
	t.Helper()
	nodes := map[string]node.Node{}
	all := []graph.Edit{
		graph.PutInput("topic", graph.Input{Schema: schema.String().Require()}),
		graph.PutField("xs", graph.Field{Schema: schema.List(schema.Map()), Reducer: reducer.Append()}),
		graph.PutEdge("e0", graph.Edge{From: []string{graph.Start}, To: "a"}), graph.PutEdge("e1", graph.Edge{From: []string{graph.Start}, To: "b"}),
		graph.PutEdge("join", graph.Edge{From: []string{"a", "b"}, To: "c"}), graph.PutEdge("end", graph.Edge{From: []string{"c"}, To: graph.Finish}),
	}
	for _, id := range []string{"a", "b", "c"} {
		nodes[id] = node.HandlerFunc(idle)
		all = append(all, graph.PutNode(id, graph.Node{Implementation: id, Policies: graph.NodePolicies{
			TimeoutMS: 60_000, Retry: &graph.Retry{MaxAttempts: 2, BackoffMS: 1000},
		}}))
	}
	reg, err := node.NewRegistry(nodes)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := graph.New("diamond", append(all, edits...)...)
	if err != nil {
		t.Fatal(err)
	}
	pub, _, err := compiler.Publish(doc, reg)
	if err != nil {
		t.Fatal(err)
	}
	g, err := compiler.Load(pub.Ref, pub.Document, reg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func start(t *testing.T, g *compiler.Graph) *run.Run {
	t.Helper()
	m, err := runtime.Initialize(g, runtime.Start{RunID: "r", Input: map[string]any{"topic": "t"}, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return m.Run
}

func plan(t *testing.T, g *compiler.Graph, r *run.Run, at time.Time) *runtime.Step {
	t.Helper()
	s, err := runtime.Plan(g, r, runtime.Limits{}, at)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func update(t *testing.T, s *runtime.Step, at time.Time, outcomes ...runtime.Outcome) *runtime.Moment {
	t.Helper()
	m, err := runtime.Update(s, outcomes, at)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func wrote(task, field string, v any) runtime.Outcome {
	return runtime.Succeeded(task, node.Write(field, v))
}

func failed(task string) runtime.Outcome {
	return runtime.Failed(task, runtime.ReasonError, "not yet", false)
}

func TestInitializeRefuses(t *testing.T) {
	g := diamond(t)
	for _, c := range []struct {
		name  string
		start runtime.Start
		paths []string
	}{
		{"missing and unknown", runtime.Start{RunID: "r", Input: map[string]any{"other": 1}}, []string{"other", "topic"}},
		{"wrong kind", runtime.Start{RunID: "r", Input: map[string]any{"topic": 1}}, []string{"topic"}},
		{"null for required", runtime.Start{RunID: "r", Input: map[string]any{"topic": nil}}, []string{"topic"}},
		{"no value", runtime.Start{RunID: "r", Input: map[string]any{"topic": []byte("x")}}, []string{"topic"}},
	} {
		_, err := runtime.Initialize(g, c.start)
		var refused *runtime.InputError
		if !errors.As(err, &refused) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		var paths []string
		for _, r := range refused.Reasons {
			paths = append(paths, r.Path)
		}
		if !reflect.DeepEqual(paths, c.paths) || !strings.Contains(err.Error(), c.paths[0]) {
			t.Errorf("%s: got %v (%v), want %v", c.name, paths, err, c.paths)
		}
	}
	input := map[string]any{"topic": "t"}
	for name, s := range map[string]runtime.Start{
		"run id":   {RunID: "a\x00", Input: input},
		"no id":    {Input: input},
		"metadata": {RunID: "r", Input: input, Metadata: map[string]any{"x": func() {}}},
	} {
		var at *value.Error
		if _, err := runtime.Initialize(g, s); !errors.As(err, &at) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestDelayedStart(t *testing.T) {
	g := diamond(t)
	at := now.Add(time.Hour)
	m, err := runtime.Initialize(g, runtime.Start{RunID: "r", Input: map[string]any{"topic": "t"}, Now: now, At: at})
	if err != nil || m.Disposition != (runtime.Disposition{Kind: runtime.ParkAt, At: at, Reason: runtime.ReasonDelayedStart}) {
		t.Errorf("%+v, %v", m.Disposition, err)
	}
	m, err = runtime.Initialize(g, runtime.Start{RunID: "r", Input: map[string]any{"topic": "t"}, Now: now, At: now})
	if err != nil || m.Disposition.Kind != runtime.Continue {
		t.Errorf("a start that is due now: %+v, %v", m.Disposition, err)
	}
}

// TestYield rewrites a continuing moment, its envelope included, and nothing else.
func TestYield(t *testing.T) {
	g := diamond(t)
	s := plan(t, g, start(t, g), now)
	m := update(t, s, now, wrote("r:1:a", "xs", map[string]any{}), wrote("r:1:b", "xs", map[string]any{}))
	y, err := runtime.Yield(m, runtime.ReasonDrainBudget)
	if err != nil {
		t.Fatal(err)
	}
	last := y.Events[len(y.Events)-1]
	if env := last.Payload.(run.Checkpoint); y.Disposition.Kind != runtime.ParkImmediate || env.Next != "park_immediate" || env.Reason != "drain_budget" {
		t.Errorf("%+v, %v", y.Disposition, last.Payload)
	}
	if env := m.Events[len(m.Events)-1].Payload.(run.Checkpoint); m.Disposition.Kind != runtime.Continue || env.Next != "continue" {
		t.Error("the original moment changed")
	}
	if _, err := runtime.Yield(y, "again"); !errors.Is(err, runtime.ErrNotContinuing) {
		t.Errorf("yielding twice: %v", err)
	}
}

func TestPlanRefuses(t *testing.T) {
	g := diamond(t)
	r := start(t, g)
	var limit *runtime.HostLimitError
	_, err := runtime.Plan(g, r, runtime.Limits{MaxTimeout: time.Second}, now)
	if !errors.As(err, &limit) || limit.NodeID != "a" || limit.Timeout != time.Minute || limit.Max != time.Second {
		t.Errorf("over the host's timeout: %v", err)
	}
	m, err := runtime.Cancel(r, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.Plan(g, m.Run, runtime.Limits{}, now); err == nil {
		t.Error("a cancelled run was planned")
	}
	data, err := g.Document.JSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	structure, err := compiler.Load(g.Ref, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.Plan(structure, r, runtime.Limits{}, now); err == nil || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("without implementations: %v", err)
	}
}

// TestUpdateRefusesWrongOutcomes wants exactly one outcome a task.
func TestUpdateRefusesWrongOutcomes(t *testing.T) {
	g := diamond(t)
	s := plan(t, g, start(t, g), now)
	for name, outcomes := range map[string][]runtime.Outcome{
		"none":     nil,
		"one":      {failed("r:1:a")},
		"twice":    {failed("r:1:a"), failed("r:1:a")},
		"stranger": {failed("r:1:a"), failed("r:1:c")},
		"more":     {failed("r:1:a"), failed("r:1:b"), failed("r:1:b")},
	} {
		if m, err := runtime.Update(s, outcomes, now); err == nil {
			t.Errorf("%s: accepted: %+v", name, m.Type)
		}
	}
}

// TestWokenEarly parks again without executing anything, for as long as it takes.
func TestWokenEarly(t *testing.T) {
	g := diamond(t)
	s := plan(t, g, start(t, g), now)
	m := update(t, s, now, failed("r:1:a"), wrote("r:1:b", "xs", map[string]any{"n": 1}))
	due := now.Add(time.Second)
	if m.Disposition.Kind != runtime.ParkAt || !m.Disposition.At.Equal(due) {
		t.Fatalf("%+v", m.Disposition)
	}
	for i := range 3 {
		early := plan(t, g, m.Run, now.Add(time.Duration(i)*time.Millisecond))
		if early.Moment == nil || early.Tasks != nil || early.Moment.Type != run.CheckpointRetry || !early.Moment.Disposition.At.Equal(due) {
			t.Fatalf("woken early: %+v", early)
		}
		if got, want := early.Moment.Run.CheckpointSeq, m.Run.CheckpointSeq+1; got != want {
			t.Errorf("sequence %d, want %d", got, want)
		}
		m = early.Moment
	}
	s = plan(t, g, m.Run, due)
	if len(s.Tasks) != 1 || s.Tasks[0].Attempt != 2 || s.Tasks[0].ID != "r:1:a" || s.Tasks[0].IdempotencyKey != "r:1:a:2" {
		t.Fatalf("%+v", s.Tasks)
	}
}

// TestMomentTimesNeverGoBack gives a clock that does.
func TestMomentTimesNeverGoBack(t *testing.T) {
	g := diamond(t)
	r := start(t, g)
	m := update(t, plan(t, g, r, now), now.Add(-time.Hour), wrote("r:1:a", "xs", map[string]any{}), wrote("r:1:b", "xs", map[string]any{}))
	if !m.Time.Equal(now) || !m.Run.UpdatedAt.Equal(now) {
		t.Errorf("time %v", m.Time)
	}
	m = update(t, plan(t, g, r, now), now.Add(999*time.Nanosecond), wrote("r:1:a", "xs", map[string]any{}), wrote("r:1:b", "xs", map[string]any{}))
	if !m.Time.Equal(now) {
		t.Errorf("finer than a microsecond: %v", m.Time)
	}
}

// TestGuardNamesWhatTheGraphLacks fails the run without a retry or a write. No
// document compiles to such a graph, so the compiled one is changed.
func TestGuardNamesWhatTheGraphLacks(t *testing.T) {
	g := diamond(t)
	r := start(t, g)
	e, _ := g.Edge("join")
	gone := guard.Exists(guard.Field("gone"))
	e.Guard = &gone
	m := update(t, plan(t, g, r, now), now, wrote("r:1:a", "xs", map[string]any{}), wrote("r:1:b", "xs", map[string]any{}))
	f := m.Run.Failure
	if m.Type != run.CheckpointFailed || f == nil || f.Code != run.FailureGuard || f.Details["edge"] != "join" || f.Details["field"] != "gone" {
		t.Fatalf("%s %+v", m.Type, f)
	}
	if len(m.Run.State()) != 0 || len(m.Events) != 2 {
		t.Errorf("something of the superstep was committed: %v %+v", m.Run.State(), m.Events)
	}
}

// TestDeepestValueSurvives keeps the deepest value that a node may write through
// every place of the run document.
func TestDeepestValueSurvives(t *testing.T) {
	var v any = map[string]any{}
	for {
		next := map[string]any{"v": v}
		if _, err := value.Normalize(map[string]any{"xs": next}); err != nil {
			break
		}
		v = next
	}
	g := diamond(t)
	m := update(t, plan(t, g, start(t, g), now), now, failed("r:1:a"), wrote("r:1:b", "xs", v))
	if m.Run.Active == nil {
		t.Fatalf("%s %+v", m.Type, m.Run.Failure)
	}
	reload(t, m.Run)
	later := now.Add(time.Minute)
	m = update(t, plan(t, g, m.Run, later), later, wrote("r:1:a", "xs", map[string]any{}))
	if len(m.Run.State()["xs"].([]any)) != 2 {
		t.Fatalf("%s %+v", m.Type, m.Run.Failure)
	}
	reload(t, m.Run)
}

func reload(t *testing.T, r *run.Run) {
	t.Helper()
	data, err := run.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Decode(data); err != nil {
		t.Fatal(err)
	}
}

// TestNoSharing changes whatever a node was given and whatever it returned.
func TestNoSharing(t *testing.T) {
	g := diamond(t)
	input := map[string]any{"topic": "t"}
	metadata := map[string]any{"tags": []any{"x"}}
	first, err := runtime.Initialize(g, runtime.Start{RunID: "r", Input: input, Metadata: metadata, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	input["topic"], metadata["tags"].([]any)[0] = "changed", "changed"

	item := map[string]any{"deep": []any{"x"}}
	result := node.Write("xs", item)
	outcome := runtime.Succeeded("r:1:a", result)
	item["deep"].([]any)[0] = "changed"
	result.Update["xs"] = nil
	m := update(t, plan(t, g, first.Run, now), now, outcome, wrote("r:1:b", "xs", map[string]any{}))
	want := fmt.Sprint([]any{map[string]any{"deep": []any{"x"}}, map[string]any{}})
	if got := fmt.Sprint(m.Run.State()["xs"]); got != want {
		t.Errorf("state %s, want %s", got, want)
	}
	s := plan(t, g, m.Run, now)
	xs, err := s.Tasks[0].Input.State.List("xs")
	if err != nil {
		t.Fatal(err)
	}
	xs[0].(map[string]any)["deep"].([]any)[0] = "boom"
	m.Checkpoint().Run().Channels["state:xs"].Value.([]any)[0] = "boom"
	scribbled := m.Checkpoint().Events()[2].Payload.(run.ChannelUpdated)
	scribbled.Writers[0] = "boom"
	if got := fmt.Sprint(m.Run.State()["xs"]); got != want || m.Run.Input["topic"] != "t" || fmt.Sprint(m.Run.Metadata) != "map[tags:[x]]" {
		t.Errorf("the run changed: %s %v %v", got, m.Run.Input, m.Run.Metadata)
	}
	if p := m.Events[2].Payload.(run.ChannelUpdated); p.Writers[0] != "a" {
		t.Errorf("an event changed: %+v", p)
	}
}

func TestCheckpoint(t *testing.T) {
	g := diamond(t)
	m, err := runtime.Initialize(g, runtime.Start{RunID: "r", Input: map[string]any{"topic": "t"}, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	c := m.Checkpoint()
	if c.RunID() != "r" || c.Seq() != 1 || c.Type() != run.CheckpointInitialized || c.Step() != 0 || c.Status() != run.Running ||
		c.Disposition() != m.Disposition || !c.Time().Equal(now) || len(c.Events()) != len(m.Events) {
		t.Errorf("%+v", c)
	}
	if ctx := m.Context("app"); ctx != (runtime.Context{RunID: "r", Graph: g.Ref, Seq: 1, App: "app"}) {
		t.Errorf("%+v", ctx)
	}
}

// TestTooLarge fails the node with the largest result, before any commit: a run, an
// event, and more events than a transition may have.
func TestTooLarge(t *testing.T) {
	g := diamond(t)
	for name, c := range map[string]struct {
		limits runtime.Limits
		b      runtime.Outcome
	}{
		"run":   {runtime.Limits{MaxRunBytes: 3000}, wrote("r:1:b", "xs", map[string]any{"s": strings.Repeat("x", 3000)})},
		"event": {runtime.Limits{MaxEventBytes: 1000}, runtime.Failed("r:1:b", runtime.ReasonError, strings.Repeat("x", 3000), false)},
	} {
		s, err := runtime.Plan(g, start(t, g), c.limits, now)
		if err != nil {
			t.Fatal(err)
		}
		m := update(t, s, now, wrote("r:1:a", "xs", map[string]any{"small": true}), c.b)
		if f := m.Run.Failure; f == nil || f.Code != run.FailureTooLarge || f.NodeID != "b" || len(m.Run.State()) != 0 {
			t.Errorf("%s: %s %+v", name, m.Type, f)
		}
	}
}

func TestLimitPrecedence(t *testing.T) {
	for _, c := range []struct{ policy, host, want int64 }{
		{0, 0, 0}, {3, 0, 3}, {0, 2, 2}, {3, 2, 2}, {2, 3, 2}, {2, -1, 2}, {0, -1, 0},
	} {
		var edits []graph.Edit
		if c.policy > 0 {
			edits = append(edits, graph.PutPolicies(graph.Policies{MaxSupersteps: c.policy}))
		}
		g := diamond(t, append(edits, graph.PutEdge("again", graph.Edge{From: []string{"c"}, To: "c"}))...)
		r := start(t, g)
		var steps int64
		for ; steps < 10; steps++ {
			s, err := runtime.Plan(g, r, runtime.Limits{MaxSupersteps: c.host}, now)
			if err != nil {
				t.Fatal(err)
			}
			if s.Moment != nil {
				if f := s.Moment.Run.Failure; f == nil || f.Code != run.FailureSupersteps {
					t.Errorf("%+v: %+v", c, f)
				}
				break
			}
			var outcomes []runtime.Outcome
			for _, task := range s.Tasks {
				outcomes = append(outcomes, runtime.Succeeded(task.ID, node.Result{}))
			}
			r = update(t, s, now, outcomes...).Run
		}
		if want := c.want; want > 0 && steps != want || want == 0 && steps != 10 {
			t.Errorf("policy %d, host %d: stopped after %d supersteps, want %d", c.policy, c.host, steps, c.want)
		}
	}
}
