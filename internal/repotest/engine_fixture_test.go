package repotest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/adapters/memory"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
)

// world is one store with the implementations that a test's graphs name.
type world struct {
	t        *testing.T
	backend  *memory.Backend
	registry *node.Registry
}

type handlers map[string]node.HandlerFunc

func newWorld(t *testing.T, h handlers) *world {
	t.Helper()
	b := memory.New(memory.Config{})
	t.Cleanup(func() { _ = b.Close() })
	return &world{t: t, backend: b, registry: registryOf(t, h)}
}

func registryOf(t *testing.T, h handlers) *node.Registry {
	t.Helper()
	nodes := make(map[string]node.Node, len(h))
	for id, f := range h {
		nodes[id] = f
	}
	r, err := node.NewRegistry(nodes)
	if err != nil {
		t.Fatalf("registry: %v", err)
	}
	return r
}

func (w *world) engine(cfg engine.Config) *engine.Engine {
	w.t.Helper()
	return w.engineOn(w.backend, w.registry, cfg)
}

func (w *world) engineOn(b ports.Backend, r *node.Registry, cfg engine.Config) *engine.Engine {
	w.t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	e, err := engine.New(b, r, cfg)
	if err != nil {
		w.t.Fatalf("engine.New: %v", err)
	}
	return e
}

// worker is an engine whose Run is at work.
type worker struct {
	*engine.Engine
	t    *testing.T
	stop context.CancelFunc
	done chan struct{}
	once sync.Once
}

// run drives e until the test ends, or until halt.
func (w *world) run(e *engine.Engine) *worker {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	k := &worker{Engine: e, t: w.t, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(k.done)
		if err := e.Run(ctx); err != nil && engine.CodeOf(err) != engine.CodeAbandoned {
			w.t.Errorf("Run: %v", err)
		}
	}()
	w.t.Cleanup(k.halt)
	synctest.Wait()
	return k
}

// halt stops the worker softly and waits until all of it has ended.
func (k *worker) halt() {
	k.once.Do(k.stop)
	<-k.done
}

// save publishes a graph.
func (w *world) save(e *engine.Engine, g graph.Graph) graph.Ref {
	w.t.Helper()
	saved, err := e.SaveGraph(w.t.Context(), engine.SaveGraph{Graph: g})
	if err != nil {
		w.t.Fatalf("SaveGraph: %v", err)
	}
	return saved.Ref
}

func (w *world) start(e *engine.Engine, ref graph.Ref, runID string) engine.Run {
	w.t.Helper()
	r, err := e.StartRun(w.t.Context(), engine.StartRun{Graph: ref, RunID: runID})
	if err != nil {
		w.t.Fatalf("StartRun: %v", err)
	}
	return r
}

// await waits for a run at most d of the test's time.
func (w *world) await(e *engine.Engine, runID string, d time.Duration) engine.Run {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	r, err := e.AwaitRun(ctx, engine.AwaitRun{RunID: runID})
	if err != nil {
		w.t.Fatalf("AwaitRun %q: %v", runID, err)
	}
	return r
}

func (w *world) fetch(e *engine.Engine, runID string) engine.Run {
	w.t.Helper()
	r, err := e.FetchRun(w.t.Context(), engine.FetchRun{RunID: runID})
	if err != nil {
		w.t.Fatalf("FetchRun %q: %v", runID, err)
	}
	return r
}

func (w *world) inspect(e *engine.Engine, runID string) engine.RunInfo {
	w.t.Helper()
	info, err := e.InspectRun(w.t.Context(), engine.InspectRun{RunID: runID})
	if err != nil {
		w.t.Fatalf("InspectRun %q: %v", runID, err)
	}
	return info
}

// chain is a graph of n nodes in a row, all with the same implementation, that
// append to the field "log".
func chain(t *testing.T, n int, implementation string, policies graph.NodePolicies) graph.Graph {
	t.Helper()
	edits := []graph.Edit{
		graph.PutField("log", graph.Field{Schema: schema.List(schema.String()), Reducer: reducer.Append()}),
		graph.PutOutput("log", graph.Output{Source: "log"}),
	}
	from := graph.Start
	for i := 1; i <= n; i++ {
		id := fmt.Sprintf("n%03d", i)
		edits = append(edits,
			graph.PutNode(id, graph.Node{Implementation: implementation, Policies: policies}),
			graph.PutEdge("to-"+id, graph.Edge{From: []string{from}, To: id}))
		from = id
	}
	edits = append(edits, graph.PutEdge("end", graph.Edge{From: []string{from}, To: graph.Finish}))
	g, err := graph.New("chain", edits...)
	if err != nil {
		t.Fatalf("graph: %v", err)
	}
	return g
}

// note appends the node's id to the log.
func note(ctx context.Context, _ node.Input) (node.Result, error) {
	a, ok := node.Info(ctx)
	if !ok {
		return node.Result{}, errors.New("no activation")
	}
	return node.Write("log", a.NodeID), nil
}

// ask interrupts until the field "answer" is set.
func ask(_ context.Context, in node.Input) (node.Result, error) {
	if in.State.Has("answer") {
		return node.Result{}, nil
	}
	return node.Ask(node.Interrupt{ID: "q", Field: "answer", Schema: schema.Enum("yes", "no")}), nil
}

func question(t *testing.T) graph.Graph {
	t.Helper()
	g, err := graph.New("question",
		graph.PutField("answer", graph.Field{Schema: schema.String()}),
		graph.PutNode("ask", graph.Node{Implementation: "ask"}),
		graph.PutEdge("begin", graph.Edge{From: []string{graph.Start}, To: "ask"}),
		graph.PutEdge("end", graph.Edge{From: []string{"ask"}, To: graph.Finish}),
		graph.PutOutput("answer", graph.Output{Source: "answer"}),
	)
	if err != nil {
		t.Fatalf("graph: %v", err)
	}
	return g
}

// events returns the types of a run's whole event log.
func (w *world) events(e *engine.Engine, runID string) []string {
	w.t.Helper()
	var kinds []string
	after := int64(0)
	for {
		page, err := e.ListEvents(w.t.Context(), engine.ListEvents{RunID: runID, AfterSeq: after, Limit: 1000})
		if err != nil {
			w.t.Fatalf("ListEvents: %v", err)
		}
		for _, ev := range page.Events {
			kinds = append(kinds, string(ev.Type))
		}
		if !page.HasMore {
			return kinds
		}
		after = page.NextAfterSeq
	}
}

func count(list []string, want string) (n int) {
	for _, s := range list {
		if s == want {
			n++
		}
	}
	return n
}
