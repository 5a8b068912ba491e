package repotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/executor"
	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/engine"
	"github.com/docket-go/docket/ports"
	"github.com/docket-go/docket/ports/portstest"
)

// optionEffects holds one test an option: what it changes that somebody can see.
// An option without an entry is a dead one.
var optionEffects = map[string]func(o *optionTest){
	"Tenancy": func(o *optionTest) {
		_, err := o.engine(engine.Config{Tenancy: engine.TenancyOptional}).SaveGraph(o.Context(), engine.SaveGraph{Tenant: "t", Graph: chain(o.T, 1, "note", graph.NodePolicies{})})
		o.check(err == nil, "a tenant is refused: %v", err)
	},
	"Admission": func(o *optionTest) {
		_, err := engine.New(o.backend, o.registry, engine.Config{Tenancy: engine.TenancyRequired, Admission: engine.Unfair})
		o.check(err == nil, "Unfair: %v", err)
	},
	"Executor": func(o *optionTest) {
		x := &countingExecutor{}
		o.complete(engine.Config{Executor: x})
		o.check(x.n.Load() == 1, "the executor was called %d times", x.n.Load())
	},
	"Application": func(o *optionTest) {
		var app any
		o.nodes(func(ctx context.Context, in node.Input) (node.Result, error) {
			a, _ := node.Info(ctx)
			app = a.App
			return note(ctx, in)
		})
		o.complete(engine.Config{Application: "it"})
		o.check(app == "it", "a node saw %v", app)
	},
	"AttemptMax": func(o *optionTest) {
		o.nodes(blocked)
		r := o.complete(engine.Config{AttemptMax: 7 * time.Second})
		o.check(r.Status == run.Failed && r.FinishedAt.Sub(r.StartedAt).Round(time.Millisecond) == 7*time.Second, "%s after %s", r.Status, r.FinishedAt.Sub(r.StartedAt))
	},
	"Mode": func(o *optionTest) {
		_, err := o.engine(engine.Config{Mode: engine.ModeManual}).Drain(o.Context(), 1)
		o.check(err == nil, "Drain: %v", err)
	},
	"Clock": func(o *optionTest) {
		at := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
		e := o.engine(engine.Config{Mode: engine.ModeManual, Clock: func() time.Time { return at }})
		r := o.start(e, o.save(e, chain(o.T, 1, "note", graph.NodePolicies{})), "r")
		o.check(r.StartedAt.Equal(at), "started at %s", r.StartedAt)
	},
	"Wake": func(o *optionTest) {
		e := o.run(o.engine(engine.Config{Wake: engine.PollOnly}))
		client := o.engine(engine.Config{})
		<-time.After(10 * time.Millisecond)
		o.start(client, o.save(client, chain(o.T, 1, "note", graph.NodePolicies{})), "r")
		<-time.After(100 * time.Millisecond)
		o.check(o.fetch(e.Engine, "r").Step == 0, "the wake source was used")
	},
	"Slots": func(o *optionTest) {
		var now, most atomic.Int64
		o.nodes(func(ctx context.Context, in node.Input) (node.Result, error) {
			most.Store(max(most.Load(), now.Add(1)))
			<-time.After(time.Second)
			now.Add(-1)
			return note(ctx, in)
		})
		o.completeMany(engine.Config{Slots: 3}, 9)
		o.check(most.Load() == 3, "%d runs at once", most.Load())
	},
	"Poll": func(o *optionTest) {
		o.run(o.engine(engine.Config{Poll: 5 * time.Second, Wake: engine.PollOnly}))
		<-time.After(time.Minute)
		n := o.faults.Calls("ClaimRuns")
		o.check(n >= 10 && n <= 17, "%d looks in a minute", n)
	},
	"ClaimTTL": func(o *optionTest) {
		o.nodes(blocked)
		e := o.begin(engine.Config{ClaimTTL: 90 * time.Second})
		info := o.inspect(e.Engine, "r")
		o.check(info.ClaimEnd.Sub(info.ClaimedAt) == 90*time.Second, "claimed for %s", info.ClaimEnd.Sub(info.ClaimedAt))
	},
	"Renewal": func(o *optionTest) {
		o.nodes(blocked)
		o.begin(engine.Config{Renewal: 5 * time.Second})
		<-time.After(31 * time.Second)
		n := o.faults.Calls("RefreshClaim")
		o.check(n == 6, "%d renewals in 31s", n)
	},
	"ClaimAttempts": func(o *optionTest) {
		o.faultsOf("CommitClaimed", portstest.Fault{Kind: portstest.Before, Err: ports.Conflict("CommitClaimed", "made up")})
		e := o.begin(engine.Config{ClaimAttempts: 2})
		<-time.After(5 * time.Minute)
		o.check(o.inspect(e.Engine, "r").Poison.Reason == ports.PoisonAttempts && o.faults.Calls("CommitClaimed") == 2, "%d launches", o.faults.Calls("CommitClaimed"))
	},
	"StoreTimeout": func(o *optionTest) {
		o.faultsOf("ListRuns", portstest.Fault{Kind: portstest.Delay})
		began := time.Now()
		_, err := o.engine(engine.Config{StoreTimeout: 3 * time.Second}).ListRuns(context.Background(), engine.ListRuns{})
		o.check(err != nil && time.Since(began) == 3*time.Second, "%v after %s", err, time.Since(began))
	},
	"ShutdownGrace": func(o *optionTest) {
		o.nodes(blocked)
		e := o.begin(engine.Config{ShutdownGrace: 12 * time.Second})
		began := time.Now()
		e.halt()
		o.check(time.Since(began) == 12*time.Second, "stopped after %s", time.Since(began))
	},
	"DrainMoments": func(o *optionTest) {
		e := o.engine(engine.Config{Mode: engine.ModeManual, DrainMoments: 2})
		o.start(e, o.save(e, chain(o.T, 5, "note", graph.NodePolicies{})), "r")
		d, err := e.Drain(o.Context(), 0)
		o.check(err == nil && d.Moments == 2 && d.HitLimit, "%+v, %v", d, err)
	},
	"DrainTime": func(o *optionTest) {
		o.steps = 4
		o.nodes(func(ctx context.Context, in node.Input) (node.Result, error) {
			<-time.After(time.Second)
			return note(ctx, in)
		})
		o.complete(engine.Config{DrainTime: 900 * time.Millisecond})
		o.check(o.claimed() == 4, "%d claims", o.claimed())
	},
	"AbandonBackoff": func(o *optionTest) {
		wake := o.abandonOnce(engine.Config{AbandonBackoff: 10 * time.Minute})
		o.check(wake >= 7*time.Minute && wake <= 13*time.Minute, "wakes after %s", wake)
	},
	"AbandonMaxBackoff": func(o *optionTest) {
		o.abandonOnce(engine.Config{AbandonMaxBackoff: 30 * time.Second, MaxAbandons: 100})
		<-time.After(10 * time.Minute)
		n := o.faults.Calls("AbandonClaim")
		o.check(n >= 15, "%d abandons in 10 minutes", n)
	},
	"MaxAbandons": func(o *optionTest) {
		o.abandonOnce(engine.Config{MaxAbandons: 1})
		o.check(o.inspect(o.engine(engine.Config{}), "r").Poison.Reason == ports.PoisonAbandons, "not poisoned by its first abandon")
	},
	"IncompatibleTTL": func(o *optionTest) {
		o.abandonOnce(engine.Config{IncompatibleTTL: time.Hour, MaxAbandons: 100})
		before := o.faults.Calls("FetchGraph")
		<-time.After(30 * time.Minute)
		o.check(o.faults.Calls("FetchGraph") == before, "the graph was read again")
	},
	"MaxSupersteps": func(o *optionTest) {
		o.steps = 5
		r := o.complete(engine.Config{MaxSupersteps: 3})
		o.check(r.Status == run.Failed && r.Failure.Code == run.FailureSupersteps && r.Step == 3, "%s at step %d", r.Status, r.Step)
	},
	"MaxRunBytes": func(o *optionTest) {
		o.nodes(func(context.Context, node.Input) (node.Result, error) {
			return node.Write("log", strings.Repeat("x", 20<<10)), nil
		})
		r := o.complete(engine.Config{MaxRunBytes: 10 << 10})
		o.check(r.Status == run.Failed && r.Failure.NodeID == "n001", "%s, %+v", r.Status, r.Failure)
	},
	"MaxEventBytes": func(o *optionTest) {
		// What an attempt failed with travels in its event.
		long := strings.Repeat("x", 8<<10)
		o.nodes(func(context.Context, node.Input) (node.Result, error) { return node.Result{}, errors.New(long) })
		r := o.complete(engine.Config{MaxEventBytes: 2 << 10})
		o.check(r.Status == run.Failed && !strings.Contains(r.Failure.Message, long), "%s, %+v", r.Status, r.Failure)
	},
	"MaxAbandoned": func(o *optionTest) {
		hang := make(chan struct{})
		o.Cleanup(func() { close(hang) })
		o.nodes(func(context.Context, node.Input) (node.Result, error) { <-hang; return node.Result{}, nil })
		e := o.begin(engine.Config{MaxAbandoned: 1, AttemptMax: time.Second})
		<-time.After(10 * time.Second)
		o.check(e.Health().State == engine.StateSaturated, "%+v", e.Health())
	},
	"GraphCache": func(o *optionTest) {
		c := &keyCache{}
		o.complete(engine.Config{GraphCache: c})
		o.check(len(c.all()) > 0, "the cache wasn't used")
	},
	"CacheNamespace": func(o *optionTest) {
		c := &keyCache{}
		o.complete(engine.Config{GraphCache: c, CacheNamespace: "blue"})
		for _, k := range c.all() {
			o.check(k.Namespace == "blue", "key %+v", k)
		}
	},
	"Release": func(o *optionTest) {
		c, found := &keyCache{}, false
		o.complete(engine.Config{GraphCache: c, Release: "v7"})
		for _, k := range c.all() {
			found = found || strings.Contains(k.Generation, "v7")
		}
		o.check(found, "keys %+v", c.all())
	},
	"Observers": func(o *optionTest) {
		var n atomic.Int64
		o.complete(engine.Config{Observers: []engine.Observer{engine.ObserverFunc(func(context.Context, engine.Observation) error { n.Add(1); return nil })}})
		synctest.Wait()
		o.check(n.Load() == 2, "%d commits observed, want 2", n.Load())
	},
	"OnPoison": func(o *optionTest) {
		var told atomic.Int64
		o.abandonOnce(engine.Config{MaxAbandons: 1, OnPoison: func(context.Context, engine.Poisoned) error { told.Add(1); return nil }})
		synctest.Wait()
		o.check(told.Load() == 1, "told %d times", told.Load())
	},
	"ObserverTimeout": func(o *optionTest) {
		var left time.Duration
		o.complete(engine.Config{ObserverTimeout: 77 * time.Second, Observers: []engine.Observer{engine.ObserverFunc(func(ctx context.Context, _ engine.Observation) error {
			at, _ := ctx.Deadline()
			left = time.Until(at)
			return nil
		})}})
		synctest.Wait()
		o.check(left == 77*time.Second, "an observer has %s", left)
	},
	"Logger": func(o *optionTest) {
		var out bytes.Buffer
		o.abandonOnce(engine.Config{Logger: slog.New(slog.NewTextHandler(&out, nil))})
		o.check(strings.Contains(out.String(), "run_id=r"), "the log says %q", out.String())
	},
	"TracerProvider": func(o *optionTest) {
		p := &tracers{}
		o.complete(engine.Config{TracerProvider: p})
		o.check(p.n.Load() == 1, "%d tracers were asked for", p.n.Load())
	},
	"MeterProvider": func(o *optionTest) {
		p := &meters{}
		o.complete(engine.Config{MeterProvider: p})
		o.check(p.n.Load() == 1, "%d meters were asked for", p.n.Load())
	},
	"Retention": func(o *optionTest) {
		e := o.run(o.engineOn(o.backend, o.registry, engine.Config{Retention: &engine.Retention{Runs: time.Minute, Every: time.Minute, Batch: 10}}))
		o.start(e.Engine, o.save(e.Engine, chain(o.T, 1, "note", graph.NodePolicies{})), "r")
		<-time.After(5 * time.Minute)
		_, err := e.FetchRun(o.Context(), engine.FetchRun{RunID: "r"})
		o.check(engine.CodeOf(err) == engine.CodeNotFound, "FetchRun: %v", err)
	},
	"RunPage": func(o *optionTest) {
		o.completeMany(engine.Config{}, 5)
		page, err := o.engine(engine.Config{RunPage: 2}).ListRuns(o.Context(), engine.ListRuns{})
		o.check(err == nil && len(page.Items) == 2 && page.HasMore, "%d runs, %v", len(page.Items), err)
	},
	"VersionPage": func(o *optionTest) {
		e := o.engine(engine.Config{VersionPage: 2})
		for n := range 3 {
			o.save(e, chain(o.T, n+1, "note", graph.NodePolicies{}))
		}
		page, err := e.ListGraphVersions(o.Context(), engine.ListGraphVersions{GraphID: "chain"})
		o.check(err == nil && len(page.Items) == 2 && page.HasMore, "%d versions, %v", len(page.Items), err)
	},
	"EventPage": func(o *optionTest) {
		o.complete(engine.Config{})
		page, err := o.engine(engine.Config{EventPage: 2}).ListEvents(o.Context(), engine.ListEvents{RunID: "r"})
		o.check(err == nil && len(page.Events) == 2 && page.HasMore, "%d events, %v", len(page.Events), err)
	},
}

func TestEngineOptionsHaveEffects(t *testing.T) {
	t.Parallel()
	options := reflect.TypeFor[engine.Config]()
	for i := range options.NumField() {
		name := options.Field(i).Name
		effect, ok := optionEffects[name]
		if !ok {
			t.Errorf("no test shows what Config.%s does", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { effect(newOptionTest(t)) })
		})
	}
	for name := range optionEffects {
		if _, ok := options.FieldByName(name); !ok {
			t.Errorf("Config has no %s", name)
		}
	}
}

// optionTest is a world whose calls to the store are counted.
type optionTest struct {
	*testing.T
	*world
	faults *portstest.Faults
	steps  int
	faulty map[string]portstest.Fault
}

func newOptionTest(t *testing.T) *optionTest {
	o := &optionTest{T: t, world: newWorld(t, handlers{"note": note}), steps: 1}
	o.faults = portstest.New(o.backend, portstest.Config{Choose: func(op string, _ int) portstest.Fault { return o.faulty[op] }})
	return o
}

func (o *optionTest) check(ok bool, format string, args ...any) {
	o.T.Helper()
	if !ok {
		o.Errorf(format, args...)
	}
}

func (o *optionTest) nodes(f node.HandlerFunc) { o.registry = registryOf(o.T, handlers{"note": f}) }

func (o *optionTest) faultsOf(op string, f portstest.Fault) {
	o.faulty = map[string]portstest.Fault{op: f}
}

func (o *optionTest) engine(cfg engine.Config) *engine.Engine {
	o.T.Helper()
	return o.engineOn(o.faults.Backend(), o.registry, cfg)
}

// begin starts run "r", once, in a worker with the configuration.
func (o *optionTest) begin(cfg engine.Config) *worker {
	o.T.Helper()
	e := o.run(o.engine(cfg))
	o.start(e.Engine, o.save(e.Engine, chain(o.T, o.steps, "note", graph.NodePolicies{})), "r")
	synctest.Wait()
	return e
}

// complete lets a worker with the configuration drive a run to its end, and stops
// the worker.
func (o *optionTest) complete(cfg engine.Config) engine.Run {
	o.T.Helper()
	e := o.begin(cfg)
	r := o.await(e.Engine, "r", 24*time.Hour)
	e.halt()
	return r
}

func (o *optionTest) completeMany(cfg engine.Config, n int) {
	o.T.Helper()
	e := o.run(o.engine(cfg))
	ref := o.save(e.Engine, chain(o.T, 1, "note", graph.NodePolicies{}))
	for i := range n {
		o.start(e.Engine, ref, fmt.Sprint("many", i))
	}
	for i := range n {
		o.await(e.Engine, fmt.Sprint("many", i), time.Hour)
	}
}

// claimed counts the claims of run "r": those that its log shows as given up, and
// the last one.
func (o *optionTest) claimed() int {
	e := o.engine(engine.Config{})
	page, err := e.ListEvents(o.Context(), engine.ListEvents{RunID: "r", Limit: 1000})
	o.check(err == nil, "ListEvents: %v", err)
	n := 1
	for _, ev := range page.Events {
		text, err := ev.MarshalPayload()
		o.check(err == nil, "payload: %v", err)
		if bytes.Contains(text, []byte("drain_budget")) {
			n++
		}
	}
	return n
}

// abandonOnce lets a worker with the configuration meet a run that it can't run,
// and returns the wait that it left.
func (o *optionTest) abandonOnce(cfg engine.Config) time.Duration {
	o.T.Helper()
	client := o.engineOn(o.backend, o.registry, engine.Config{})
	o.start(client, o.save(client, chain(o.T, 1, "note", graph.NodePolicies{})), "r")
	began := time.Now()
	o.run(o.engineOn(o.faults.Backend(), registryOf(o.T, handlers{"other": note}), cfg))
	synctest.Wait()
	return o.inspect(client, "r").WakeAt.Sub(began)
}

func blocked(ctx context.Context, _ node.Input) (node.Result, error) {
	<-ctx.Done()
	return node.Result{}, ctx.Err()
}

type countingExecutor struct {
	executor.Local
	n atomic.Int64
}

func (x *countingExecutor) Execute(ctx context.Context, n node.Node, in node.Input) (node.Result, error) {
	x.n.Add(1)
	return x.Local.Execute(ctx, n, in)
}

// keyCache remembers keys and keeps nothing.
type keyCache struct {
	mu   sync.Mutex
	keys []engine.GraphKey
}

func (c *keyCache) Get(k engine.GraphKey) (*compiler.Graph, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = append(c.keys, k)
	return nil, false
}

func (c *keyCache) Put(engine.GraphKey, *compiler.Graph) {}

func (c *keyCache) all() []engine.GraphKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keys
}

type tracers struct {
	tracenoop.TracerProvider
	n atomic.Int64
}

func (p *tracers) Tracer(name string, o ...trace.TracerOption) trace.Tracer {
	p.n.Add(1)
	return p.TracerProvider.Tracer(name, o...)
}

type meters struct {
	metricnoop.MeterProvider
	n atomic.Int64
}

func (p *meters) Meter(name string, o ...metric.MeterOption) metric.Meter {
	p.n.Add(1)
	return p.MeterProvider.Meter(name, o...)
}
