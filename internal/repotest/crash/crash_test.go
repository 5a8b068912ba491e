package crash

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlite "github.com/docket-go/docket/adapters/sqlite-experimental"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/engine"
)

const (
	kills  = 20
	rounds = 90
	runID  = "crash"
)

// TestKilledWorkers kills a worker 20 times in a row, wherever it happens to
// be. The run must complete, and every committed step must have counted once.
func TestKilledWorkers(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))

	store := filepath.Join(t.TempDir(), "crash.db")
	client := startRun(t, store)
	for n := range kills {
		w := startWorker(t, store)
		at := w.follow(chance.IntN(8))
		// The next line may be a few milliseconds away: die somewhere on the way.
		<-time.After(time.Duration(chance.IntN(8000)) * time.Microsecond)
		w.kill()
		r, err := client.FetchRun(t.Context(), engine.FetchRun{RunID: runID})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != run.Running {
			t.Fatalf("the run is %s after %d kills: it must outlive all %d", r.Status, n+1, kills)
		}
		t.Logf("kill %d after %q, at checkpoint %d", n+1, at, r.CheckpointSeq)
	}
	survivor := startWorker(t, store)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := client.AwaitRun(ctx, engine.AwaitRun{RunID: runID})
	if err != nil {
		t.Fatalf("%v\n%s", err, survivor.stderr)
	}
	survivor.stop()
	checkRun(t, r)
	checkLog(t, client, r)
	checkJournal(t, store+".journal")
}

// startRun stores the graph and the run, which nobody drives yet.
func startRun(t *testing.T, store string) *engine.Engine {
	t.Helper()
	nodes, err := registry("")
	if err != nil {
		t.Fatal(err)
	}
	backend, err := sqlite.Open(t.Context(), sqlite.Config{Path: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	client, err := engine.New(backend, nodes, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := client.SaveGraph(t.Context(), engine.SaveGraph{Graph: loop(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.StartRun(t.Context(), engine.StartRun{Graph: saved.Ref, RunID: runID}); err != nil {
		t.Fatal(err)
	}
	return client
}

// loop counts rounds; each fans out to two nodes, one of them flaky, and joins.
func loop(t *testing.T) graph.Graph {
	t.Helper()
	enough := guard.Equals(guard.Field("rounds"), int64(rounds))
	again := guard.Not(enough)
	g, err := graph.New("loop",
		graph.PutField("rounds", graph.Field{Schema: schema.Integer(), Reducer: reducer.Sum()}),
		graph.PutField("log", graph.Field{Schema: schema.List(schema.String()), Reducer: reducer.Append()}),
		graph.PutField("attempts", graph.Field{Schema: schema.Integer()}),
		graph.PutOutput("rounds", graph.Output{Source: "rounds", Required: true}),
		graph.PutNode("count", graph.Node{Implementation: "count"}),
		graph.PutNode("log", graph.Node{Implementation: "log"}),
		graph.PutNode("flaky", graph.Node{Implementation: "flaky", Policies: graph.NodePolicies{
			Retry: &graph.Retry{MaxAttempts: 3, BackoffMS: 5},
		}}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "count"}),
		graph.PutEdge("to-log", graph.Edge{From: []string{"count"}, To: "log"}),
		graph.PutEdge("to-flaky", graph.Edge{From: []string{"count"}, To: "flaky"}),
		graph.PutEdge("again", graph.Edge{From: []string{"flaky", "log"}, To: "count", Guard: &again}),
		graph.PutEdge("end", graph.Edge{From: []string{"flaky", "log"}, To: graph.Finish, Guard: &enough}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// checkRun compares the state with what an undisturbed run comes to.
func checkRun(t *testing.T, r engine.Run) {
	t.Helper()
	if r.Status != run.Done || r.Output["rounds"] != int64(rounds) || r.Step != 2*rounds {
		t.Errorf("the run is %s after %d steps with output %v, failure %+v", r.Status, r.Step, r.Output, r.Failure)
	}
	entries, _ := r.State["log"].([]any)
	if len(entries) != rounds {
		t.Errorf("the log has %d entries, want %d", len(entries), rounds)
	}
	for i, entry := range entries {
		if want := run.TaskID(runID, int64(2*i+2), "log"); entry != want {
			t.Errorf("entry %d is %v, want %s", i, entry, want)
		}
	}
}

// checkLog wants each step's nodes to have completed once, in order, and
// sequences without a gap.
func checkLog(t *testing.T, client *engine.Engine, r engine.Run) {
	t.Helper()
	completed := map[string]int{}
	query := engine.ListEvents{RunID: runID}
	checkpoint := int64(0)
	for more := true; more; {
		page, err := client.ListEvents(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range page.Events {
			if want := query.AfterSeq + int64(i) + 1; e.Seq != want {
				t.Fatalf("event %d where %d is expected", e.Seq, want)
			}
			switch p := e.Payload.(type) {
			case run.NodeCompleted:
				completed[run.TaskID(runID, e.Step, e.NodeID)]++
			case run.Checkpoint:
				if checkpoint++; p.Seq != checkpoint {
					t.Errorf("event %d: checkpoint %d where %d is expected", e.Seq, p.Seq, checkpoint)
				}
			}
		}
		query.AfterSeq, more = page.NextAfterSeq, page.HasMore
	}
	if query.AfterSeq != r.EventSeq || checkpoint != r.CheckpointSeq {
		t.Errorf("the log ends at event %d, checkpoint %d; the run says %d, %d", query.AfterSeq, checkpoint, r.EventSeq, r.CheckpointSeq)
	}
	if len(completed) != 3*rounds {
		t.Errorf("%d activations completed, want %d", len(completed), 3*rounds)
	}
	for task, times := range completed {
		if times != 1 {
			t.Errorf("%s completed %d times", task, times)
		}
	}
}

// checkJournal wants proof that kills cost something: an attempt that more than
// one process made. Without it the test would show nothing.
func checkJournal(t *testing.T, journal string) {
	t.Helper()
	f, err := os.Open(journal)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	first := map[string]int{}
	redone := map[string]bool{}
	for dec := json.NewDecoder(f); ; {
		var c call
		if err := dec.Decode(&c); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p, seen := first[c.Key]; seen && p != c.Process {
			redone[c.Key] = true
		}
		first[c.Key] = c.Process
	}
	t.Logf("%d attempts, %d of them made again by another process", len(first), len(redone))
	if len(redone) == 0 {
		t.Error("no kill interrupted any attempt")
	}
}

// worker is a running child.
type worker struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.Closer
	lines  *bufio.Scanner
	stderr *bytes.Buffer
}

func startWorker(t *testing.T, store string) *worker {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{t: t, cmd: exec.CommandContext(t.Context(), exe), stderr: &bytes.Buffer{}}
	w.cmd.Env = append(os.Environ(), roleVariable+"="+store)
	w.cmd.Stderr = w.stderr
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.lines = bufio.NewScanner(stdout)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

// follow reads the "ready" line and n more, and returns the last one.
func (w *worker) follow(n int) string {
	w.t.Helper()
	for range n + 1 {
		if !w.lines.Scan() {
			w.t.Fatalf("the worker ended by itself: %v\n%s", w.cmd.Wait(), w.stderr)
		}
	}
	return w.lines.Text()
}

func (w *worker) kill() {
	w.t.Helper()
	if err := w.cmd.Process.Kill(); err != nil {
		w.t.Fatal(err)
	}
	if err := w.cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		w.t.Fatalf("the worker wasn't killed: %v", err)
	}
}

// stop ends a worker that may finish what it is doing.
func (w *worker) stop() {
	w.t.Helper()
	if err := w.stdin.Close(); err != nil {
		w.t.Fatal(err)
	}
	for w.lines.Scan() {
		continue
	}
	if err := w.cmd.Wait(); err != nil {
		w.t.Errorf("the survivor: %v\n%s", err, w.stderr)
	}
}
