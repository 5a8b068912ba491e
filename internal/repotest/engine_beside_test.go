package repotest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
)

// Every retained event of a commit is observable live, in order, whatever another
// observer does.
func TestEngineTellsObservers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		t.Cleanup(func() { close(hang) })
		var seen []string
		w := newWorld(t, handlers{"note": note, "ask": ask})
		e := w.run(w.engine(engine.Config{Application: "app", Observers: []engine.Observer{
			engine.ObserverFunc(func(context.Context, engine.Observation) error { panic("first") }),
			engine.ObserverFunc(func(context.Context, engine.Observation) error { <-hang; return nil }),
			engine.ObserverFunc(func(context.Context, engine.Observation) error { runtime.Goexit(); return nil }),
			engine.ObserverFunc(func(_ context.Context, o engine.Observation) error {
				if o.Context.App != "app" || o.Context.RunID != "r" {
					t.Errorf("context %+v", o.Context)
				}
				for _, ev := range o.Checkpoint.Events() {
					seen = append(seen, string(ev.Type))
				}
				return errors.New("and it fails too")
			}),
		}}))
		w.start(e.Engine, w.save(e.Engine, question(t)), "r")
		w.await(e.Engine, "r", time.Minute)
		if err := resolve(e.Engine, "r", "q", "yes"); err != nil {
			t.Fatal(err)
		}
		w.await(e.Engine, "r", time.Minute)
		synctest.Wait()
		if stored := w.events(e.Engine, "r"); !slices.Equal(seen, stored) {
			t.Errorf("observed %v\nstored   %v", seen, stored)
		}
	})
}

// What was not committed is not observed.
func TestEngineDoesNotTellAboutLostMoments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var observed atomic.Int64
		w := newWorld(t, handlers{"note": note})
		b := &staleCommits{Backend: w.backend}
		client := w.engine(engine.Config{})
		w.start(client, w.save(client, chain(t, 1, "note", graph.NodePolicies{})), "r")
		e := w.run(w.engineOn(b, w.registry, engine.Config{Observers: []engine.Observer{
			engine.ObserverFunc(func(context.Context, engine.Observation) error { observed.Add(1); return nil }),
		}}))
		<-time.After(5 * time.Second)
		if b.n.Load() == 0 || observed.Load() != 0 {
			t.Errorf("%d commits were refused as stale, %d observed", b.n.Load(), observed.Load())
		}
		if r := w.fetch(e.Engine, "r"); r.Step != 0 {
			t.Errorf("step %d", r.Step)
		}
	})
}

type staleCommits struct {
	ports.Backend
	n atomic.Int64
}

func (s *staleCommits) Unwrap() ports.Backend { return s.Backend }

func (s *staleCommits) CommitClaimed(context.Context, ports.CommitClaimed) (ports.Committed, error) {
	s.n.Add(1)
	return ports.Committed{}, ports.Stale("CommitClaimed")
}

// A wake tells other processes at once; without its source polling finds the
// run.
func TestEngineWakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		wake engine.WakePolicy
		most time.Duration
		rest time.Duration
	}{
		{"by the source", engine.WakeAuto, 0, 0},
		{"by polling alone", engine.PollOnly, 1250 * time.Millisecond, time.Nanosecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, handlers{"note": note})
				client := w.engine(engine.Config{})
				ref := w.save(client, chain(t, 1, "note", graph.NodePolicies{}))
				w.run(w.engine(engine.Config{Wake: c.wake}))
				<-time.After(100 * time.Millisecond)
				w.start(client, ref, "r")
				began := time.Now()
				r := w.await(client, "r", time.Minute)
				if passed := r.FinishedAt.Sub(began); r.Status != run.Done || passed > c.most || passed < c.rest {
					t.Errorf("%s after %s", r.Status, passed)
				}
			})
		})
	}
}

// A dispatcher that panics takes its vehicles down and starts again; the runs go
// on.
func TestEngineSurvivesItsDispatcher(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		b := &panickyClaims{Backend: w.backend}
		e := w.run(w.engineOn(b, w.registry, engine.Config{Slots: 1}))
		ref := w.save(e.Engine, chain(t, 1, "note", graph.NodePolicies{}))
		for _, id := range []string{"a", "b", "c"} {
			w.start(e.Engine, ref, id)
		}
		for _, id := range []string{"a", "b", "c"} {
			if r := w.await(e.Engine, id, time.Minute); r.Status != run.Done {
				t.Errorf("%s: %s", id, r.Status)
			}
		}
		if n := b.panics.Load(); n == 0 {
			t.Error("nothing panicked")
		}
		if h := e.Health(); h.SlotsUsed != 0 {
			t.Errorf("slots leaked: %+v", h)
		}
	})
}

type panickyClaims struct {
	ports.Backend
	n, panics atomic.Int64
}

func (p *panickyClaims) Unwrap() ports.Backend { return p.Backend }

func (p *panickyClaims) ClaimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	if p.n.Add(1)%2 == 0 {
		p.panics.Add(1)
		panic("a backend's own fault")
	}
	return p.Backend.ClaimRuns(ctx, req)
}

// Retention runs beside driving, by its explicit policy alone.
func TestEnginePrunes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		policy *engine.Retention
		kept   bool
	}{
		{"by its policy", &engine.Retention{Runs: time.Hour}, false},
		{"not by a dry run", &engine.Retention{Runs: time.Hour, DryRun: true}, true},
		{"not without a policy", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, handlers{"note": note})
				e := w.run(w.engine(engine.Config{Retention: c.policy, Poll: 10 * time.Second}))
				w.start(e.Engine, w.save(e.Engine, chain(t, 1, "note", graph.NodePolicies{})), "r")
				w.await(e.Engine, "r", time.Minute)
				<-time.After(50 * time.Minute)
				w.fetch(e.Engine, "r")
				<-time.After(30 * time.Minute)
				_, err := e.FetchRun(t.Context(), engine.FetchRun{RunID: "r"})
				if c.kept && err != nil || !c.kept && engine.CodeOf(err) != engine.CodeNotFound {
					t.Errorf("after its retention: %v", err)
				}
			})
		})
	}
}
