package engine

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/ports"
)

// metrics are the engine's instruments. Labels are bounded: never a tenant, a
// run, a graph or a token.
type metrics struct {
	claims, steals, claimFailures, poisons, fences, commits, attempts, yields metric.Int64Counter
	abandons, cache, pruneRows, prunePasses, wakeEvents, tellings             metric.Int64Counter
	attemptTime, momentTime                                                   metric.Float64Histogram

	meter       metric.Meter
	commitSets  map[commitKey]metric.MeasurementOption
	attemptSets map[string]metric.MeasurementOption
}

type commitKey struct {
	typ  run.CheckpointType
	kind runtime.Kind
}

func newMetrics(meter metric.Meter) (*metrics, error) {
	m := &metrics{meter: meter}
	var errs []error
	for _, c := range []struct {
		dst        *metric.Int64Counter
		name, text string
	}{
		{&m.claims, "docket.claims", "Runs leased, by class."},
		{&m.steals, "docket.steals", "Leases of runs whose claim had run out."},
		{&m.claimFailures, "docket.claim.failures", "Claims that the store didn't answer."},
		{&m.poisons, "docket.poisons", "Runs taken out of delivery, by reason."},
		{&m.fences, "docket.fence.losses", "Claims or sequences that had moved, by stage."},
		{&m.commits, "docket.commits", "Committed moments, by type and disposition."},
		{&m.attempts, "docket.attempts", "Node attempts, by result."},
		{&m.yields, "docket.drain.yields", "Claims given up because their budget was used."},
		{&m.abandons, "docket.abandons", "Runs given back because this host can't run them, by kind."},
		{&m.cache, "docket.graph.cache", "Look-ups of compiled graphs, by result."},
		{&m.pruneRows, "docket.prune.rows", "Rows removed by retention, by kind."},
		{&m.prunePasses, "docket.prune.batches", "Retention batches, by result."},
		{&m.wakeEvents, "docket.wake.source", "What the wake source did, by event."},
		{&m.tellings, "docket.callback.failures", "Observer and poison calls that were lost, by callback and failure."},
	} {
		var err error
		*c.dst, err = meter.Int64Counter(c.name, metric.WithDescription(c.text))
		errs = append(errs, err)
	}
	for _, h := range []struct {
		dst        *metric.Float64Histogram
		name, text string
	}{
		{&m.attemptTime, "docket.attempt.duration", "Time of a node attempt, by result."},
		{&m.momentTime, "docket.moment.duration", "Time from planning a moment to its commit."},
	} {
		var err error
		*h.dst, err = meter.Float64Histogram(h.name, metric.WithDescription(h.text), metric.WithUnit("s"))
		errs = append(errs, err)
	}
	m.prepareSets()
	return m, errors.Join(errs...)
}

// prepareSets builds the label sets of what is counted on every superstep once.
func (m *metrics) prepareSets() {
	m.commitSets = make(map[commitKey]metric.MeasurementOption)
	for _, typ := range run.CheckpointTypes() {
		for _, kind := range []runtime.Kind{runtime.Continue, runtime.ParkImmediate, runtime.ParkExternal, runtime.ParkAt, runtime.ParkTerminal} {
			m.commitSets[commitKey{typ, kind}] = labels("type", string(typ), "disposition", string(kind))
		}
	}
	m.attemptSets = make(map[string]metric.MeasurementOption)
	for _, result := range []string{resultOK, string(runtime.ReasonError), string(runtime.ReasonPanic),
		string(runtime.ReasonExit), string(runtime.ReasonTimeout), string(runtime.ReasonInvalid)} {
		m.attemptSets[result] = labels("result", result)
	}
}

// resultOK labels an attempt that succeeded; the others have their reason.
const resultOK = "ok"

func labels(pairs ...string) metric.MeasurementOption {
	kvs := make([]attribute.KeyValue, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		kvs = append(kvs, attribute.String(pairs[i], pairs[i+1]))
	}
	return metric.WithAttributeSet(attribute.NewSet(kvs...))
}

func count(c metric.Int64Counter, n int64, pairs ...string) {
	if n > 0 && c.Enabled(context.Background()) {
		c.Add(context.Background(), n, labels(pairs...))
	}
}

// gauges observes what the driver holds at the moment of collection.
func (m *metrics) gauges(d *driver) error {
	used, err1 := m.meter.Int64ObservableGauge("docket.slots.used", metric.WithDescription("Runs that this process executes."))
	lost, err2 := m.meter.Int64ObservableGauge("docket.nodes.abandoned", metric.WithDescription("Node goroutines that ignored the end of their context and still run."))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	_, err := m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(used, int64(d.slots.inUse()))
		o.ObserveInt64(lost, int64(d.runner.Abandoned()))
		return nil
	}, used, lost)
	return err
}

func (m *metrics) claimed(c ports.Claimed) {
	ready, expired := int64(0), int64(0)
	for i := range c.Leases {
		if c.Leases[i].Class == ports.ClassExpired {
			expired++
		} else {
			ready++
		}
	}
	count(m.claims, ready, "class", string(ports.ClassReady))
	count(m.claims, expired, "class", string(ports.ClassExpired))
	count(m.steals, expired)
}

func (m *metrics) claimFailed()                  { count(m.claimFailures, 1) }
func (m *metrics) poisoned(r ports.PoisonReason) { count(m.poisons, 1, "reason", string(r)) }
func (m *metrics) fenceLost(stage string)        { count(m.fences, 1, "stage", stage) }
func (m *metrics) yielded()                      { count(m.yields, 1) }
func (m *metrics) cacheLookup(result string)     { count(m.cache, 1, "result", result) }
func (m *metrics) wakeSource(event string)       { count(m.wakeEvents, 1, "event", event) }
func (m *metrics) pruneFailed()                  { count(m.prunePasses, 1, "result", "failed") }
func (m *metrics) toldFailed(callback, failure string) {
	count(m.tellings, 1, "callback", callback, "failure", failure)
}

func (m *metrics) abandoned(nonPoisoning bool) {
	kind := "incompatible"
	if nonPoisoning {
		kind = "host_limit"
	}
	count(m.abandons, 1, "kind", kind)
}

func (m *metrics) pruned(p ports.Pruned) {
	result := "done"
	if p.Skipped {
		result = "skipped"
	}
	count(m.prunePasses, 1, "result", result)
	count(m.pruneRows, p.Events, "kind", "events")
	count(m.pruneRows, p.Expired, "kind", "expired_events")
	count(m.pruneRows, p.Runs, "kind", "runs")
	count(m.pruneRows, p.Graphs, "kind", "graphs")
}

// committed counts a stored moment; what was calculated and dropped never gets
// here.
func (m *metrics) committed(mo *runtime.Moment) {
	m.commits.Add(context.Background(), 1, m.commitSets[commitKey{mo.Type, mo.Disposition.Kind}])
}
