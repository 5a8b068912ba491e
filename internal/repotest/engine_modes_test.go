package repotest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
)

// manual is an engine whose time a test moves by hand.
func (w *world) manual(mode engine.Mode) (*engine.Engine, *time.Time) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 999_999_999, time.FixedZone("X", 3600))
	return w.engine(engine.Config{Mode: mode, Clock: func() time.Time { return now }}), &now
}

func TestEngineManualAdvancesOnlyByDrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, handlers{"note": note})
	e, _ := w.manual(engine.ModeManual)
	w.start(e, w.save(e, chain(t, 5, "note", graph.NodePolicies{})), "r")
	if r := w.fetch(e, "r"); r.Step != 0 {
		t.Fatalf("step %d before any drain", r.Step)
	}
	drained, err := e.Drain(t.Context(), 2)
	if err != nil || drained.Moments != 2 || !drained.HitLimit {
		t.Fatalf("Drain(2): %+v, %v", drained, err)
	}
	if r := w.fetch(e, "r"); r.Step != 2 {
		t.Fatalf("step %d after two moments", r.Step)
	}
	drained, err = e.Drain(t.Context(), 0)
	if err != nil || drained.Moments != 3 || drained.HitLimit {
		t.Fatalf("Drain(0): %+v, %v", drained, err)
	}
	if r := w.fetch(e, "r"); r.Status != run.Done {
		t.Errorf("status %s", r.Status)
	}
	if err := e.Run(t.Context()); engine.CodeOf(err) != engine.CodeUnsupported {
		t.Errorf("Run in ModeManual: %v", err)
	}
}

// Times are whole microseconds in UTC before anything uses them.
func TestEngineTruncatesItsClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, handlers{"note": note})
	e, now := w.manual(engine.ModeManual)
	started := w.start(e, w.save(e, chain(t, 1, "note", graph.NodePolicies{})), "r")
	want := now.UTC().Truncate(time.Microsecond)
	if started.StartedAt != want || w.fetch(e, "r").StartedAt != want {
		t.Errorf("started at %s, want %s", started.StartedAt, want)
	}
}

// A retry and a future start wait for the injected clock, however long that
// takes.
func TestEngineManualWaitsForItsClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, handlers{"flaky": func(ctx context.Context, in node.Input) (node.Result, error) {
		if a, _ := node.Info(ctx); a.Attempt < 3 {
			return node.Result{}, errCustom
		}
		return note(ctx, in)
	}})
	e, now := w.manual(engine.ModeManual)
	g := chain(t, 1, "flaky", graph.NodePolicies{Retry: &graph.Retry{MaxAttempts: 3, BackoffMS: 60_000}})
	ref := w.save(e, g)
	if _, err := e.StartRun(t.Context(), engine.StartRun{Graph: ref, RunID: "r", At: now.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		wait    time.Duration
		moments int
	}{{0, 0}, {time.Hour, 1}, {59 * time.Second, 0}, {time.Second, 1}, {time.Minute, 1}, {time.Hour, 0}} {
		*now = now.Add(step.wait)
		drained, err := e.Drain(t.Context(), 0)
		if err != nil || drained.Moments != step.moments {
			t.Fatalf("step %d: %+v, %v, want %d moments", i, drained, err, step.moments)
		}
	}
	if r := w.fetch(e, "r"); r.Status != run.Done {
		t.Errorf("status %s", r.Status)
	}
}

func TestEngineInlineDrainsBeforeItReturns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, handlers{"ask": ask})
	e, _ := w.manual(engine.ModeInline)
	ref := w.save(e, question(t))
	r := w.start(e, ref, "r")
	if r.Status != run.Waiting || len(r.Interrupts) != 1 {
		t.Fatalf("after the start: %s", r.Status)
	}
	r, err := e.ResolveInterrupt(t.Context(), engine.ResolveInterrupt{RunID: "r", InterruptID: "q", Value: "yes"})
	if err != nil || r.Status != run.Done || r.Output["answer"] != "yes" {
		t.Errorf("after the answer: %v, %s with %v", err, r.Status, r.Output)
	}
}

func TestEngineRefusesTheZeroTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, handlers{"note": note})
	e := w.engine(engine.Config{Mode: engine.ModeManual, Clock: func() time.Time { return time.Time{} }})
	_, err := e.SaveGraph(t.Context(), engine.SaveGraph{Graph: chain(t, 1, "note", graph.NodePolicies{})})
	if engine.CodeOf(err) != engine.CodeInvalidClock {
		t.Errorf("SaveGraph: %v", err)
	}
	if _, err := e.Drain(t.Context(), 1); engine.CodeOf(err) != engine.CodeInvalidClock {
		t.Errorf("Drain: %v", err)
	}
}

// What goes through a caller's transaction commits or vanishes with it.
func TestEngineInACallersTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, handlers{"note": note})
		e := w.run(w.engine(engine.Config{}))
		g := chain(t, 1, "note", graph.NodePolicies{})
		start := func(id string, result error) error {
			return ports.InTx(t.Context(), w.backend, func(tx ports.Backend) error {
				bound := e.In(tx)
				saved, err := bound.SaveGraph(t.Context(), engine.SaveGraph{Graph: g})
				if err != nil {
					return err
				}
				if _, err := bound.StartRun(t.Context(), engine.StartRun{Graph: saved.Ref, RunID: id}); err != nil {
					return err
				}
				if _, err := bound.Drain(t.Context(), 1); engine.CodeOf(err) != engine.CodeUnsupported {
					t.Errorf("Drain in a transaction: %v", err)
				}
				return result
			})
		}
		if err := start("gone", errCustom); !errors.Is(err, errCustom) {
			t.Fatal(err)
		}
		if _, err := e.FetchRun(t.Context(), engine.FetchRun{RunID: "gone"}); engine.CodeOf(err) != engine.CodeNotFound {
			t.Errorf("a run of a rolled back transaction: %v", err)
		}
		if err := start("kept", nil); err != nil {
			t.Fatal(err)
		}
		if r := w.await(e.Engine, "kept", time.Minute); r.Status != run.Done {
			t.Errorf("status %s", r.Status)
		}
	})
}

func TestEngineTenancy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, handlers{"note": note})
	g := chain(t, 1, "note", graph.NodePolicies{})
	engines := map[engine.Tenancy]*engine.Engine{}
	for _, tenancy := range []engine.Tenancy{engine.TenancyNone, engine.TenancyOptional, engine.TenancyRequired} {
		cfg := engine.Config{Tenancy: tenancy}
		if tenancy == engine.TenancyRequired {
			cfg.Admission = engine.Unfair
		}
		engines[tenancy] = w.engine(cfg)
	}
	for _, c := range []struct {
		tenancy engine.Tenancy
		tenant  string
		ok      bool
	}{
		{engine.TenancyNone, "", true}, {engine.TenancyNone, "t", false},
		{engine.TenancyOptional, "", true}, {engine.TenancyOptional, "t", true}, {engine.TenancyOptional, "  ", false},
		{engine.TenancyOptional, "a\x00b", false},
		{engine.TenancyRequired, "", false}, {engine.TenancyRequired, "t", true},
	} {
		t.Run(fmt.Sprintf("%s with %q", c.tenancy, c.tenant), func(t *testing.T) {
			_, err := engines[c.tenancy].SaveGraph(t.Context(), engine.SaveGraph{Tenant: c.tenant, Graph: g})
			if c.ok && err != nil || !c.ok && engine.CodeOf(err) != engine.CodeInvalidTenant {
				t.Errorf("SaveGraph: %v", err)
			}
		})
	}

	e := engines[engine.TenancyOptional]
	saved, err := e.SaveGraph(t.Context(), engine.SaveGraph{Tenant: "t", Graph: g})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.StartRun(t.Context(), engine.StartRun{Tenant: "t", Graph: saved.Ref, RunID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	texts := map[string]bool{}
	for _, tenant := range []string{"", "u"} {
		for _, runID := range []string{"theirs", "nobodys"} {
			for name, err := range everyRunCall(t, e, tenant, runID) {
				if engine.CodeOf(err) != engine.CodeNotFound || !errors.Is(err, ports.ErrNotFound) {
					t.Errorf("%s as %q of %q: %v", name, tenant, runID, err)
					continue
				}
				var known *engine.Error
				errors.As(err, &known)
				texts[known.Message] = true
			}
		}
	}
	if len(texts) != 1 {
		t.Errorf("the answers tell the cases apart: %v", texts)
	}
}

func everyRunCall(t *testing.T, e *engine.Engine, tenant, runID string) map[string]error {
	t.Helper()
	ctx, errs := t.Context(), map[string]error{}
	_, errs["FetchRun"] = e.FetchRun(ctx, engine.FetchRun{Tenant: tenant, RunID: runID})
	_, errs["InspectRun"] = e.InspectRun(ctx, engine.InspectRun{Tenant: tenant, RunID: runID})
	_, errs["AwaitRun"] = e.AwaitRun(ctx, engine.AwaitRun{Tenant: tenant, RunID: runID})
	_, errs["ResolveInterrupt"] = e.ResolveInterrupt(ctx, engine.ResolveInterrupt{Tenant: tenant, RunID: runID, InterruptID: "q"})
	_, errs["CancelRun"] = e.CancelRun(ctx, engine.CancelRun{Tenant: tenant, RunID: runID})
	_, errs["RetryPoisonedRun"] = e.RetryPoisonedRun(ctx, engine.RetryPoisonedRun{Tenant: tenant, RunID: runID})
	_, errs["ListInterrupts"] = e.ListInterrupts(ctx, engine.ListInterrupts{Tenant: tenant, RunID: runID})
	_, errs["ListEvents"] = e.ListEvents(ctx, engine.ListEvents{Tenant: tenant, RunID: runID})
	_, errs["FetchEvent"] = e.FetchEvent(ctx, engine.FetchEvent{Tenant: tenant, RunID: runID, Seq: 1})
	_, _, errs["LatestEvent"] = e.LatestEvent(ctx, engine.LatestEvent{Tenant: tenant, RunID: runID})
	return errs
}
