package repotest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
)

func TestEngineReadsGraphs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, handlers{"note": note})
	e, ctx := w.engine(engine.Config{}), t.Context()
	first := w.save(e, chain(t, 1, "note", graph.NodePolicies{}))
	again, err := e.SaveGraph(ctx, engine.SaveGraph{Graph: chain(t, 1, "note", graph.NodePolicies{})})
	if err != nil || again.Created || again.Ref != first {
		t.Errorf("saved again: %+v, %v", again, err)
	}
	got, err := w.engineOn(w.backend, nil, engine.Config{}).FetchGraph(ctx, engine.FetchGraph{Ref: first})
	if err != nil || got.Ref != first || got.Graph.Nodes["n001"].Implementation != "note" || !got.PublishedAt.Equal(again.PublishedAt) {
		t.Errorf("FetchGraph without implementations: %+v, %v", got, err)
	}
	second := w.save(e, chain(t, 2, "note", graph.NodePolicies{}))
	latest, err := e.LatestGraph(ctx, engine.LatestGraph{GraphID: "chain"})
	if err != nil || latest.Ref != second || latest.Size == 0 {
		t.Errorf("LatestGraph: %+v, %v", latest, err)
	}
	page, err := e.ListGraphVersions(ctx, engine.ListGraphVersions{GraphID: "chain", Limit: 1})
	if err != nil || len(page.Items) != 1 || page.Items[0].Ref != second || !page.HasMore {
		t.Fatalf("first page: %+v, %v", page, err)
	}
	page, err = e.ListGraphVersions(ctx, engine.ListGraphVersions{GraphID: "chain", Limit: 1, After: page.Next})
	if err != nil || len(page.Items) != 1 || page.Items[0].Ref != first || page.HasMore {
		t.Errorf("second page: %+v, %v", page, err)
	}
}

func TestEngineReadsRunsAndEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note, "ask": ask})
		e, ctx := w.run(w.engine(engine.Config{})), t.Context()
		w.start(e.Engine, w.save(e.Engine, chain(t, 1, "note", graph.NodePolicies{})), "done")
		w.await(e.Engine, "done", time.Minute)
		<-time.After(time.Second)
		w.start(e.Engine, w.save(e.Engine, question(t)), "open")
		w.await(e.Engine, "open", time.Minute)

		page, err := e.ListRuns(ctx, engine.ListRuns{OpenInterrupts: true})
		if err != nil || len(page.Items) != 1 || page.Items[0].ID != "open" || page.Items[0].OpenInterrupts != 1 {
			t.Errorf("runs with questions: %+v, %v", page, err)
		}
		latest, err := e.LatestRun(ctx, engine.LatestRun{})
		if err != nil || latest.ID != "open" || latest.CheckpointType != run.CheckpointInterruptRequested {
			t.Errorf("LatestRun: %+v, %v", latest, err)
		}
		if latest, err = e.LatestRun(ctx, engine.LatestRun{Statuses: []run.Status{run.Done}}); err != nil || latest.ID != "done" {
			t.Errorf("the latest done run: %+v, %v", latest, err)
		}
		if _, err = e.LatestRun(ctx, engine.LatestRun{Statuses: []run.Status{run.Failed}}); engine.CodeOf(err) != engine.CodeNotFound {
			t.Errorf("no failed run: %v", err)
		}
		open, err := e.ListInterrupts(ctx, engine.ListInterrupts{RunID: "open"})
		if err != nil || len(open) != 1 || open[0].ID != "q" || open[0].Field != "answer" {
			t.Errorf("ListInterrupts: %+v, %v", open, err)
		}
		last, found, err := e.LatestEvent(ctx, engine.LatestEvent{RunID: "done"})
		if err != nil || !found || last.Type != run.EventCheckpoint {
			t.Errorf("LatestEvent: %+v, %v, %v", last, found, err)
		}
		one, err := e.FetchEvent(ctx, engine.FetchEvent{RunID: "done", Seq: last.Seq})
		if err != nil || one.Seq != last.Seq || !one.Time.Equal(last.Time) {
			t.Errorf("FetchEvent: %+v, %v", one, err)
		}
		if _, err = e.FetchEvent(ctx, engine.FetchEvent{RunID: "done", Seq: last.Seq + 1}); engine.CodeOf(err) != engine.CodeNotFound {
			t.Errorf("an event to come: %v", err)
		}

		// What a caller does to what it was given changes nothing.
		r := w.fetch(e.Engine, "done")
		r.Output["log"].([]any)[0] = "changed"
		r.State["log"] = nil
		if again := w.fetch(e.Engine, "done"); again.Output["log"].([]any)[0] != "n001" || again.State["log"] == nil {
			t.Errorf("a caller changed the run: %+v", again)
		}
	})
}

// Bad arguments are refused before anything reaches the store, and the place is
// named.
func TestEngineRefusesBadArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, handlers{"note": note})
	var reached atomic.Int64
	e, ctx := w.engineOn(&unreachable{Backend: w.backend, n: &reached}, w.registry, engine.Config{}), t.Context()
	errs := map[string]error{}
	_, errs["RunID"] = e.FetchRun(ctx, engine.FetchRun{})
	_, errs["RunID "] = e.FetchRun(ctx, engine.FetchRun{RunID: strings.Repeat("x", 256)})
	_, errs["RunID  "] = e.StartRun(ctx, engine.StartRun{RunID: "a\x00"})
	_, errs["Limit"] = e.ListRuns(ctx, engine.ListRuns{Limit: 1001})
	_, errs["Limit "] = e.ListEvents(ctx, engine.ListEvents{RunID: "r", Limit: -1})
	_, errs["Limit  "] = e.ListGraphVersions(ctx, engine.ListGraphVersions{GraphID: "g", Limit: 1001})
	_, errs["Statuses"] = e.ListRuns(ctx, engine.ListRuns{Statuses: []run.Status{run.Created}})
	_, errs["GraphHash"] = e.ListRuns(ctx, engine.ListRuns{GraphHash: "x"})
	_, errs["GraphID"] = e.LatestGraph(ctx, engine.LatestGraph{GraphID: "a b"})
	_, errs["AfterSeq"] = e.ListEvents(ctx, engine.ListEvents{RunID: "r", AfterSeq: -1})
	_, errs["Seq"] = e.FetchEvent(ctx, engine.FetchEvent{RunID: "r"})
	_, errs["InterruptID"] = e.ResolveInterrupt(ctx, engine.ResolveInterrupt{RunID: "r"})
	for place, err := range errs {
		if engine.CodeOf(err) != engine.CodeInvalidInput || !strings.Contains(err.Error(), strings.TrimSpace(place)) || !errors.Is(err, ports.ErrInvalid) {
			t.Errorf("%s: %v", place, err)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the store was reached %d times", n)
	}

	bad, err := graph.New("bad", graph.PutNode("a", graph.Node{Implementation: "nobody"}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.SaveGraph(ctx, engine.SaveGraph{Graph: bad})
	var known *engine.Error
	if !errors.As(err, &known) || known.Code == "" || known.Details["diagnostics"] == nil {
		t.Errorf("a graph with mistakes: %v", err)
	}
}

type unreachable struct {
	ports.Backend
	n *atomic.Int64
}

func (u *unreachable) Unwrap() ports.Backend { return u.Backend }

func (u *unreachable) FetchRun(ctx context.Context, req ports.FetchRun) (ports.FetchedRun, error) {
	u.n.Add(1)
	return u.Backend.FetchRun(ctx, req)
}

func (u *unreachable) ListRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	u.n.Add(1)
	return u.Backend.ListRuns(ctx, req)
}

func (u *unreachable) ListEvents(ctx context.Context, req ports.ListEvents) (ports.EventPage, error) {
	u.n.Add(1)
	return u.Backend.ListEvents(ctx, req)
}

// A stored graph that isn't what its ref pins is told, and a run of it waits for
// somebody to mend it.
func TestEngineNeverServesADamagedGraph(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		client := w.engine(engine.Config{})
		ref := w.save(client, chain(t, 1, "note", graph.NodePolicies{}))
		w.start(client, ref, "r")
		b := &damagedGraph{Backend: w.backend}
		e := w.run(w.engineOn(b, w.registry, engine.Config{}))
		if _, err := e.FetchGraph(t.Context(), engine.FetchGraph{Ref: ref}); engine.CodeOf(err) != engine.CodeCorrupt {
			t.Errorf("FetchGraph: %v", err)
		}
		if _, err := e.StartRun(t.Context(), engine.StartRun{Graph: ref}); engine.CodeOf(err) != engine.CodeCorrupt {
			t.Errorf("StartRun: %v", err)
		}
		<-time.After(time.Second)
		if info := w.inspect(client, "r"); info.Abandons != 1 || info.Run.Step != 0 || info.Run.Status != run.Running {
			t.Errorf("%+v", info)
		}
		b.mended.Store(true)
		if r := w.await(client, "r", 5*time.Minute); r.Status != run.Done {
			t.Errorf("mended: %s", r.Status)
		}
	})
}

type damagedGraph struct {
	ports.Backend
	mended atomic.Bool
}

func (d *damagedGraph) Unwrap() ports.Backend { return d.Backend }

func (d *damagedGraph) FetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	f, err := d.Backend.FetchGraph(ctx, req)
	if err == nil && !d.mended.Load() {
		f.Version.Document[len(f.Version.Document)/2] ^= 1
	}
	return f, err
}

// A backend that declares what it hasn't is refused at once.
func TestEngineRefusesAnUndeclaredBackend(t *testing.T) {
	t.Parallel()
	w := newWorld(t, handlers{"note": note})
	for name, cfg := range map[string]engine.Config{
		"WakeSource": {},
		"Pruner":     {Wake: engine.PollOnly, Retention: &engine.Retention{Runs: time.Hour}},
	} {
		_, err := engine.New(opaque{w.backend}, w.registry, cfg)
		if engine.CodeOf(err) != engine.CodeInvalidConfig || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := engine.New(nil, w.registry, engine.Config{}); engine.CodeOf(err) != engine.CodeInvalidConfig {
		t.Errorf("no backend: %v", err)
	}
}

type opaque struct{ ports.Backend }

func (opaque) Opaque() {}

// A wake source that fails or ends costs latency only, and is subscribed to
// again.
func TestEngineOutlivesItsWakeSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		b := &brokenWakes{Backend: w.backend}
		e := w.run(w.engineOn(b, w.registry, engine.Config{}))
		client := w.engine(engine.Config{})
		ref := w.save(client, chain(t, 1, "note", graph.NodePolicies{}))
		<-time.After(time.Minute)
		w.start(client, ref, "r")
		if r := w.await(client, "r", 3*time.Second); r.Status != run.Done {
			t.Errorf("status %s", r.Status)
		}
		if n := b.n.Load(); n < 3 || n > 15 {
			t.Errorf("subscribed %d times in a minute", n)
		}
		e.halt()
	})
}

type brokenWakes struct {
	ports.Backend
	n atomic.Int64
}

func (b *brokenWakes) Unwrap() ports.Backend { return b.Backend }

func (b *brokenWakes) Wakes(context.Context) (<-chan struct{}, error) {
	switch b.n.Add(1) % 3 {
	case 0:
		panic("a source's own fault")
	case 1:
		return nil, errCustom
	}
	ended := make(chan struct{})
	close(ended)
	return ended, nil
}
