package storm

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docket-go/docket/adapters/pgx/pgxtest"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/engine"
)

var (
	runs  = flag.Int("storm.runs", 120, "runs to drive")
	store = flag.String("storm.store", "", "the store, by a name that an opener knows; default: a new SQLite file; TestStormOnPostgres finds its own")
)

const (
	workers = 4
	killed  = 2
	// callsPerRun is how many calls of nodes a run needs.
	callsPerRun = 5
)

// TestStorm lets four processes drive all runs and kills two of them.
func TestStorm(t *testing.T) {
	name := *store
	if name == "" {
		name = "sqlite:" + filepath.Join(t.TempDir(), "storm.db")
	}
	storm(t, name)
}

// TestStormOnPostgres does it on a PostgreSQL server.
func TestStormOnPostgres(t *testing.T) {
	storm(t, pgxtest.Database(t))
}

func storm(t *testing.T, name string) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	journal := filepath.Join(t.TempDir(), "journal")
	client := newClient(t, name)
	prefix := fmt.Sprintf("storm-%x-", seed) // the store may hold others
	startRuns(t, client, prefix)

	began := time.Now()
	dooms := make([]doom, workers)
	for _, i := range chance.Perm(workers)[:killed] {
		share := *runs * callsPerRun / workers
		dooms[i] = doom{call: 1 + chance.IntN(max(share/8, 1)), wait: time.Duration(chance.IntN(5000)) * time.Microsecond}
	}
	fleet := make([]*worker, workers)
	for i := range fleet {
		fleet[i] = startWorker(t, name, journal, dooms[i])
	}
	stopAnswers := answer(t, client)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(*runs)*200*time.Millisecond)
	defer cancel()
	for i := range *runs {
		r, err := client.AwaitRun(ctx, engine.AwaitRun{RunID: runID(prefix, i)})
		for err == nil && r.Status == run.Waiting {
			<-time.After(20 * time.Millisecond) // until the answer is stored
			r, err = client.AwaitRun(ctx, engine.AwaitRun{RunID: r.ID})
		}
		if err != nil {
			t.Errorf("%s: %v", runID(prefix, i), err)
			break
		}
		checkRun(t, client, r, asks(i))
	}
	took := time.Since(began)
	stopAnswers()
	dead := 0
	for _, w := range fleet {
		if w.end() {
			dead++
		}
	}
	if dead != killed {
		t.Errorf("%d workers were killed, want %d: the runs were done before", dead, killed)
	}
	attempts, again := readJournal(t, journal)
	t.Logf("%d runs by %d processes, %d of them killed, in %v: %d attempts, %d of them made again by another process",
		*runs, workers, dead, took.Round(time.Millisecond), attempts, again)
	if again == 0 {
		t.Error("no kill interrupted any attempt: the test shows nothing")
	}
}

func runID(prefix string, i int) string { return fmt.Sprintf("%s%04d", prefix, i) }

// asks reports whether a run has a question for people.
func asks(i int) bool { return i%4 == 0 }

func newClient(t *testing.T, name string) *engine.Engine {
	t.Helper()
	nodes, err := registry(io.Discard, 0)
	if err != nil {
		t.Fatal(err)
	}
	backend, err := open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	client, err := engine.New(backend, nodes, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// startRuns stores all runs before anybody drives one.
func startRuns(t *testing.T, client *engine.Engine, prefix string) {
	t.Helper()
	saved, err := client.SaveGraph(t.Context(), engine.SaveGraph{Graph: stormGraph(t)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range *runs {
		_, err := client.StartRun(t.Context(), engine.StartRun{
			Graph: saved.Ref, RunID: runID(prefix, i), Input: map[string]any{"asks": asks(i)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// stormGraph fans out, joins, retries and asks.
func stormGraph(t *testing.T) graph.Graph {
	t.Helper()
	node := func(id, implementation string) graph.Edit {
		return graph.PutNode(id, graph.Node{Implementation: implementation, Policies: graph.NodePolicies{
			Retry: &graph.Retry{MaxAttempts: 3, BackoffMS: 5},
		}})
	}
	edge := func(to string, from ...string) graph.Edit {
		return graph.PutEdge("to-"+to, graph.Edge{From: from, To: to})
	}
	g, err := graph.New("storm",
		graph.PutInput("asks", graph.Input{Schema: schema.Boolean()}),
		graph.PutField("log", graph.Field{Schema: schema.List(schema.String()), Reducer: reducer.Append()}),
		graph.PutField("answer", graph.Field{Schema: schema.String()}),
		graph.PutOutput("log", graph.Output{Source: "log"}),
		node("left", "note"), node("right", "flaky"), node("ask", "ask"), node("end", "note"),
		edge("left", graph.Start), edge("right", graph.Start), edge("ask", "left", "right"), edge("end", "ask"),
		graph.PutEdge("finish", graph.Edge{From: []string{"end"}, To: graph.Finish}))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// answer answers every question until it is stopped.
func answer(t *testing.T, client *engine.Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			page, err := client.ListRuns(ctx, engine.ListRuns{OpenInterrupts: true})
			for i := 0; err == nil && i < len(page.Items); i++ {
				_, err = client.ResolveInterrupt(ctx, engine.ResolveInterrupt{RunID: page.Items[i].ID, InterruptID: "q", Value: "yes"})
			}
			if err != nil && ctx.Err() == nil && engine.CodeOf(err) != engine.CodeUnavailable {
				t.Errorf("answering: %v", err)
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}()
	return func() { cancel(); <-done }
}

// checkRun wants what an undisturbed run comes to: the state, each node completed
// once, and a log without a gap.
func checkRun(t *testing.T, client *engine.Engine, r engine.Run, asked bool) {
	t.Helper()
	if got, want := fmt.Sprint(r.Output["log"]), "[left right ask end]"; r.Status != run.Done || got != want {
		t.Errorf("%s is %s with %s, want %s; failure %+v", r.ID, r.Status, got, want, r.Failure)
	}
	page, err := client.ListEvents(t.Context(), engine.ListEvents{RunID: r.ID, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	seen, checkpoint := map[string]int{}, int64(0)
	for i, e := range page.Events {
		if e.Seq != int64(i+1) {
			t.Errorf("%s: event %d where %d is expected", r.ID, e.Seq, i+1)
		}
		switch p := e.Payload.(type) {
		case run.NodeCompleted:
			seen[e.NodeID]++
		case run.NodeFailed, run.InterruptAnswered:
			seen[string(e.Type)]++
		case run.Checkpoint:
			if checkpoint++; p.Seq != checkpoint {
				t.Errorf("%s: checkpoint %d where %d is expected", r.ID, p.Seq, checkpoint)
			}
		}
	}
	want := map[string]int{"left": 1, "right": 1, "ask": 1, "end": 1, string(run.EventNodeFailed): 1}
	if asked {
		want[string(run.EventInterruptResolved)] = 1
	}
	if fmt.Sprint(seen) != fmt.Sprint(want) || r.EventSeq != int64(len(page.Events)) || r.CheckpointSeq != checkpoint {
		t.Errorf("%s: %v, want %v; %d events and %d checkpoints of %d and %d", r.ID, seen, want, len(page.Events), checkpoint, r.EventSeq, r.CheckpointSeq)
	}
}

// readJournal counts the attempts and those that more than one process made.
func readJournal(t *testing.T, journal string) (attempts, again int) {
	t.Helper()
	f, err := os.Open(journal)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	processes := map[string]map[int]bool{}
	for dec := json.NewDecoder(f); ; {
		var c call
		if err := dec.Decode(&c); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if processes[c.Key] == nil {
			processes[c.Key] = map[int]bool{}
		}
		processes[c.Key][c.Process] = true
	}
	for _, by := range processes {
		if len(by) > 1 {
			again++
		}
	}
	return len(processes), again
}
