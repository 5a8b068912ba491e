package engine

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/lifecycle"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/ports"
)

// script is a backend of which a test writes every answer. An operation without
// an answer fails the test.
type script struct {
	t    *testing.T
	caps ports.Capabilities
	now  time.Time

	insert          func(ports.InsertRun) (ports.Inserted, error)
	commitClaimed   func(n int, req ports.CommitClaimed) (ports.Committed, error)
	commitUnclaimed func(n int, req ports.CommitUnclaimed) (ports.Committed, error)
	fetchRun        func(ports.FetchRun) (ports.FetchedRun, error)
	claim           func(n int, req ports.ClaimRuns) (ports.Claimed, error)
	refresh         func(n int, req ports.RefreshClaim) (ports.Refreshed, error)
	release         func(ports.ReleaseClaim) (ports.Released, error)
	abandon         func(ports.AbandonClaim) (ports.Abandoned, error)
	fetchGraph      func(ports.FetchGraph) (ports.FetchedGraph, error)
	fetchEvent      func(ports.FetchEvent) (ports.FetchedEvent, error)

	mu     sync.Mutex
	called map[string]int
}

func newScript(t *testing.T) *script {
	return &script{t: t, called: map[string]int{}, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (s *script) count(op string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.called[op]++
	return s.called[op]
}

func (s *script) calls(op string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.called[op]
}

func (s *script) unwritten(op string) error {
	s.t.Errorf("%s was called and has no answer", op)
	return ports.Unsupported(op, "not in the script")
}

func (s *script) Capabilities() ports.Capabilities { return s.caps }
func (s *script) Close() error                     { return nil }

func (s *script) SaveGraph(context.Context, ports.SaveGraph) (ports.SavedGraph, error) {
	return ports.SavedGraph{}, s.unwritten("SaveGraph")
}

func (s *script) FetchGraph(_ context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	s.count("FetchGraph")
	if s.fetchGraph == nil {
		return ports.FetchedGraph{}, s.unwritten("FetchGraph")
	}
	return s.fetchGraph(req)
}

func (s *script) LatestGraph(context.Context, ports.LatestGraph) (ports.GraphVersion, error) {
	return ports.GraphVersion{}, s.unwritten("LatestGraph")
}

func (s *script) ListGraphs(context.Context, ports.ListGraphs) (ports.GraphPage, error) {
	return ports.GraphPage{}, s.unwritten("ListGraphs")
}

func (s *script) InsertRun(_ context.Context, req ports.InsertRun) (ports.Inserted, error) {
	s.count("InsertRun")
	if s.insert == nil {
		return ports.Inserted{}, s.unwritten("InsertRun")
	}
	return s.insert(req)
}

func (s *script) CommitClaimed(_ context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	n := s.count("CommitClaimed")
	if s.commitClaimed == nil {
		return ports.Committed{}, s.unwritten("CommitClaimed")
	}
	return s.commitClaimed(n, req)
}

func (s *script) CommitUnclaimed(_ context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	n := s.count("CommitUnclaimed")
	if s.commitUnclaimed == nil {
		return ports.Committed{}, s.unwritten("CommitUnclaimed")
	}
	return s.commitUnclaimed(n, req)
}

func (s *script) FetchRun(_ context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	s.count("FetchRun")
	if s.fetchRun == nil {
		return ports.FetchedRun{}, s.unwritten("FetchRun")
	}
	return s.fetchRun(req)
}

func (s *script) InspectRun(context.Context, ports.InspectRun) (ports.RunInfo, error) {
	return ports.RunInfo{}, s.unwritten("InspectRun")
}

func (s *script) ListRuns(context.Context, ports.ListRuns) (ports.RunPage, error) {
	s.count("ListRuns")
	return ports.RunPage{Now: s.now}, nil
}

func (s *script) RecoverRun(context.Context, ports.RecoverRun) (ports.Recovered, error) {
	return ports.Recovered{}, s.unwritten("RecoverRun")
}

func (s *script) ClaimRuns(_ context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	n := s.count("ClaimRuns")
	if s.claim == nil {
		return ports.Claimed{Now: s.now}, nil
	}
	return s.claim(n, req)
}

func (s *script) RefreshClaim(_ context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	n := s.count("RefreshClaim")
	if s.refresh == nil {
		return ports.Refreshed{}, s.unwritten("RefreshClaim")
	}
	return s.refresh(n, req)
}

func (s *script) ReleaseClaim(_ context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	s.count("ReleaseClaim")
	if s.release == nil {
		return ports.Released{}, s.unwritten("ReleaseClaim")
	}
	return s.release(req)
}

func (s *script) AbandonClaim(_ context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	s.count("AbandonClaim")
	if s.abandon == nil {
		return ports.Abandoned{}, s.unwritten("AbandonClaim")
	}
	return s.abandon(req)
}

func (s *script) ListEvents(context.Context, ports.ListEvents) (ports.EventPage, error) {
	return ports.EventPage{}, s.unwritten("ListEvents")
}

func (s *script) FetchEvent(_ context.Context, req ports.FetchEvent) (ports.FetchedEvent, error) {
	s.count("FetchEvent")
	if s.fetchEvent == nil {
		return ports.FetchedEvent{}, s.unwritten("FetchEvent")
	}
	return s.fetchEvent(req)
}

func (s *script) LatestEvent(context.Context, ports.LatestEvent) (ports.FoundEvent, error) {
	return ports.FoundEvent{}, s.unwritten("LatestEvent")
}

// staged is a run in a script's store, just started, of a chain of nodes.
type staged struct {
	registry  *node.Registry
	published compiler.Published
	run       record.Run
}

// stage publishes a chain of n nodes that f implements, and starts a run of it.
func (s *script) stage(n int, f node.HandlerFunc) staged {
	s.t.Helper()
	registry, err := node.NewRegistry(map[string]node.Node{"work": f})
	must(s.t, err)
	edits := []graph.Edit{
		graph.PutField("log", graph.Field{Schema: schema.List(schema.String()), Reducer: reducer.Append()}),
		graph.PutOutput("log", graph.Output{Source: "log"}),
	}
	from := graph.Start
	for i := range n {
		id := "n" + string(rune('1'+i))
		edits = append(edits, graph.PutNode(id, graph.Node{Implementation: "work"}),
			graph.PutEdge("to-"+id, graph.Edge{From: []string{from}, To: id}))
		from = id
	}
	g, err := graph.New("staged", append(edits, graph.PutEdge("end", graph.Edge{From: []string{from}, To: graph.Finish}))...)
	must(s.t, err)
	published, _, err := compiler.Publish(g, registry)
	must(s.t, err)
	compiled, err := compiler.Load(published.Ref, published.Document, registry)
	must(s.t, err)
	m, err := runtime.Initialize(compiled, runtime.Start{RunID: "r", Now: s.now})
	must(s.t, err)
	tr, err := lifecycle.Transition(m, false)
	must(s.t, err)
	s.fetchGraph = func(ports.FetchGraph) (ports.FetchedGraph, error) {
		return ports.FetchedGraph{Version: record.GraphVersion{
			Ref: published.Ref, PublishedAt: s.now, Encoding: record.EncodingJSON, Document: published.Document,
		}}, nil
	}
	return staged{registry: registry, published: published, run: tr.Run}
}

func (s *script) lease(run record.Run) ports.Lease {
	return ports.Lease{
		Run: run, Token: "the-token", Attempt: 1, Class: ports.ClassReady,
		Now: s.now, ClaimEnd: s.now.Add(time.Minute),
	}
}

func (s *script) engine(r *node.Registry, cfg Config) *Engine {
	s.t.Helper()
	cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	e, err := New(s, r, cfg)
	must(s.t, err)
	return e
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
