package repotest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/adapters/memory"
	sqlite "github.com/docket-go/docket/adapters/sqlite-experimental"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
	"github.com/docket-go/docket/ports/portstest"
)

// TestEngineStorm drives runs with a fan-out, a retry and a question through two
// workers whose calls to the store fail at random, before and after they are
// applied, and which are stopped and replaced meanwhile. Every run ends with
// exactly the state of an undisturbed one.
func TestEngineStorm(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := memory.New(memory.Config{})
			defer b.Close()
			(&storm{T: t, backend: b, rnd: rand.New(rand.NewPCG(seed, 1)), seed: seed, runs: 60, ttl: 10 * time.Second}).blow()
		})
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		b, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "storm.db")})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		(&storm{T: t, backend: b, rnd: rand.New(rand.NewPCG(seed, 2)), seed: seed, runs: 12, ttl: time.Second}).blow()
	})
}

type storm struct {
	*testing.T
	backend ports.Backend
	seed    uint64
	runs    int
	ttl     time.Duration

	mu  sync.Mutex
	rnd *rand.Rand
}

func (s *storm) chance(one int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rnd.IntN(one) == 0
}

func (s *storm) blow() {
	s.Logf("seed %d", s.seed)
	g := stormGraph(s.T)
	client := s.engine(s.backend, time.Minute)
	saved, err := client.SaveGraph(s.Context(), engine.SaveGraph{Graph: g})
	if err != nil {
		s.Fatal(err)
	}
	ctx, stop := context.WithCancel(s.Context())
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() { s.replaceWorkers(ctx) })
	}
	var runs sync.WaitGroup
	for i := range s.runs {
		runs.Go(func() { s.follow(client, saved.Ref, fmt.Sprintf("run-%02d", i)) })
	}
	runs.Wait()
	stop()
	workers.Wait()
}

// replaceWorkers runs one worker after the other, each for a few claims' time.
func (s *storm) replaceWorkers(ctx context.Context) {
	for ctx.Err() == nil {
		life, stop := context.WithTimeout(ctx, 3*s.ttl)
		e := s.engine(s.faulty(), s.ttl)
		if err := e.Run(life); err != nil && engine.CodeOf(err) != engine.CodeAbandoned {
			s.Errorf("Run: %v", err)
		}
		stop()
	}
}

// faulty loses requests and answers of what writes.
func (s *storm) faulty() ports.Backend {
	return portstest.New(s.backend, portstest.Config{Choose: func(op string, _ int) portstest.Fault {
		switch op {
		case "CommitClaimed", "ClaimRuns", "ReleaseClaim", "RefreshClaim":
			if s.chance(8) {
				return portstest.Fault{Kind: portstest.Before}
			}
			if op != "ClaimRuns" && s.chance(8) {
				return portstest.Fault{Kind: portstest.After}
			}
		}
		return portstest.Fault{}
	}}).Backend()
}

func (s *storm) engine(b ports.Backend, ttl time.Duration) *engine.Engine {
	registry, err := node.NewRegistry(map[string]node.Node{
		"note": node.HandlerFunc(note), "ask": node.HandlerFunc(ask),
		"flaky": node.HandlerFunc(func(ctx context.Context, in node.Input) (node.Result, error) {
			if a, _ := node.Info(ctx); a.Attempt == 1 {
				return node.Result{}, errCustom
			}
			return note(ctx, in)
		}),
	})
	if err != nil {
		s.Fatal(err)
	}
	e, err := engine.New(b, registry, engine.Config{
		ClaimTTL: ttl, ClaimAttempts: 1000, Slots: 4, ShutdownGrace: ttl,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		s.Fatal(err)
	}
	return e
}

// follow starts a run, answers its question and checks how it ended.
func (s *storm) follow(e *engine.Engine, ref graph.Ref, id string) {
	ctx, stop := context.WithTimeout(s.Context(), 100*s.ttl)
	defer stop()
	if _, err := e.StartRun(ctx, engine.StartRun{Graph: ref, RunID: id}); err != nil {
		s.Errorf("%s: StartRun: %v", id, err)
		return
	}
	for {
		r, err := e.AwaitRun(ctx, engine.AwaitRun{RunID: id})
		if err != nil {
			s.Errorf("%s: AwaitRun: %v", id, err)
			return
		}
		if r.Status != run.Waiting {
			s.check(e, r)
			return
		}
		_, err = e.ResolveInterrupt(ctx, engine.ResolveInterrupt{RunID: id, InterruptID: "q", Value: "yes"})
		if err != nil && engine.CodeOf(err) != engine.CodeResolved {
			s.Errorf("%s: ResolveInterrupt: %v", id, err)
			return
		}
	}
}

func (s *storm) check(e *engine.Engine, r engine.Run) {
	if got, want := fmt.Sprint(r.Output["log"]), "[left right flaky end]"; r.Status != run.Done || got != want {
		s.Errorf("%s: %s with %s, want %s; failure %+v", r.ID, r.Status, got, want, r.Failure)
	}
	page, err := e.ListEvents(s.Context(), engine.ListEvents{RunID: r.ID, Limit: 1000})
	if err != nil {
		s.Errorf("%s: ListEvents: %v", r.ID, err)
		return
	}
	completed := map[string]int{}
	for i, ev := range page.Events {
		if ev.Seq != int64(i+1) {
			s.Errorf("%s: event %d has sequence %d", r.ID, i+1, ev.Seq)
		}
		if ev.Type == run.EventNodeCompleted {
			completed[ev.NodeID]++
		}
	}
	for _, id := range []string{"left", "right", "flaky", "ask", "end"} {
		if completed[id] != 1 {
			s.Errorf("%s: %s was committed %d times", r.ID, id, completed[id])
		}
	}
}

func stormGraph(t *testing.T) graph.Graph {
	t.Helper()
	edge := func(to string, from ...string) graph.Edit {
		return graph.PutEdge("to-"+to, graph.Edge{From: from, To: to})
	}
	g, err := graph.New("storm",
		graph.PutField("log", graph.Field{Schema: schema.List(schema.String()), Reducer: reducer.Append()}),
		graph.PutField("answer", graph.Field{Schema: schema.String()}),
		graph.PutOutput("log", graph.Output{Source: "log"}),
		graph.PutNode("left", graph.Node{Implementation: "note"}),
		graph.PutNode("right", graph.Node{Implementation: "note"}),
		graph.PutNode("flaky", graph.Node{Implementation: "flaky", Policies: graph.NodePolicies{Retry: &graph.Retry{MaxAttempts: 2, BackoffMS: 20}}}),
		graph.PutNode("ask", graph.Node{Implementation: "ask"}),
		graph.PutNode("end", graph.Node{Implementation: "note"}),
		edge("left", graph.Start), edge("right", graph.Start),
		edge("flaky", "left", "right"), edge("ask", "flaky"), edge("end", "ask"),
		graph.PutEdge("finish", graph.Edge{From: []string{"end"}, To: graph.Finish}))
	if err != nil {
		t.Fatal(err)
	}
	return g
}
