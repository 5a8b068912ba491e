package engine

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/docket-go/docket/core/executor"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
)

const scopeName = "github.com/docket-go/docket/engine"

// telemetry emits spans and metrics. A run is one trace, whoever drives it: its
// trace id comes from the run id. Each claim is a span in it, with a span a moment
// and a span a node attempt below; what nodes start is below theirs.
type telemetry struct {
	*metrics
	tracer trace.Tracer
	links  resumptions
}

func newTelemetry(cfg Config) (*telemetry, error) {
	m, err := newMetrics(cfg.MeterProvider.Meter(scopeName))
	if err != nil {
		return nil, err
	}
	return &telemetry{metrics: m, tracer: cfg.TracerProvider.Tracer(scopeName)}, nil
}

// runTrace is the parent that all of a run's claims share. No span has its id: it
// only holds the trace together across processes. It is marked as sampled, so a
// parent-based sampler decides by its rule for remote sampled parents.
func runTrace(runID string) trace.SpanContext {
	sum := sha256.Sum256([]byte("docket run " + runID))
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(sum[:16]), SpanID: trace.SpanID(sum[16:24]),
		TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

// startCall opens the span of a façade call in its caller's trace.
func (t *telemetry) startCall(ctx context.Context, name, runID string) (context.Context, trace.Span) {
	return t.tracer.Start(ctx, name, trace.WithAttributes(attribute.String("docket.run_id", runID)))
}

func (t *telemetry) spanOf(ctx context.Context) trace.SpanContext {
	return trace.SpanContextFromContext(ctx)
}

// startClaim opens the span of one claim, linked to what this process knows the
// run resumes from: the call that started or signalled it, or its last claim.
func (t *telemetry) startClaim(ctx context.Context, v *vehicle) (context.Context, trace.Span) {
	runID := v.lease.Run.ID
	options := []trace.SpanStartOption{trace.WithAttributes(
		attribute.String("docket.run_id", runID),
		attribute.String("docket.graph", v.lease.Run.Graph.String()),
		attribute.Int64("docket.claim.attempt", v.lease.Attempt),
		attribute.String("docket.claim.class", string(v.lease.Class)),
	)}
	from := v.cameFrom
	if !from.IsValid() {
		from = t.links.take(runID)
	}
	if from.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: from}))
	}
	ctx = trace.ContextWithRemoteSpanContext(ctx, runTrace(runID))
	ctx, span := t.tracer.Start(ctx, "docket.claim", options...)
	t.links.put(runID, span.SpanContext())
	return ctx, span
}

// startMoment opens the span of one moment. done tells how it ended: a moment that
// isn't stored says so and is counted nowhere else.
func (t *telemetry) startMoment(ctx context.Context, r *run.Run) (context.Context, func(m *runtime.Moment, stored bool)) {
	began := time.Now()
	ctx, span := t.tracer.Start(ctx, "docket.moment")
	return ctx, func(m *runtime.Moment, stored bool) {
		defer span.End()
		if !stored {
			span.SetStatus(codes.Error, "not committed")
			return
		}
		t.momentTime.Record(context.Background(), time.Since(began).Seconds())
		if span.IsRecording() {
			span.SetAttributes(
				attribute.Int64("docket.step", r.Step+1),
				attribute.Int64("docket.checkpoint_seq", m.Run.CheckpointSeq),
				attribute.String("docket.checkpoint_type", string(m.Type)),
				attribute.String("docket.disposition", string(m.Disposition.Kind)),
				attribute.String("docket.reason", m.Disposition.Reason),
			)
		}
	}
}

// attempted counts the attempts of an executed superstep.
func (t *telemetry) attempted(outcomes []runtime.Outcome) {
	for i := range outcomes {
		result := resultOK
		if reason, _, failed := outcomes[i].Failure(); failed {
			result = string(reason)
		}
		t.attempts.Add(context.Background(), 1, t.attemptSets[result])
	}
}

// tracedExecutor opens the span of one node attempt, below which the node's own
// spans are.
type tracedExecutor struct {
	inner executor.Executor
	tel   *telemetry
}

func (x *tracedExecutor) Execute(ctx context.Context, n node.Node, in node.Input) (result node.Result, err error) {
	began := time.Now()
	ctx, span := x.tel.tracer.Start(ctx, "docket.attempt")
	if a, ok := node.Info(ctx); ok && span.IsRecording() {
		span.SetAttributes(
			attribute.String("docket.node_id", a.NodeID),
			attribute.Int64("docket.step", a.Step),
			attribute.Int64("docket.attempt", a.Attempt),
		)
	}
	returned := false
	defer func() { // also when the node panics or ends its goroutine
		outcome := resultOK
		switch {
		case !returned:
			outcome = string(runtime.ReasonPanic)
			span.SetStatus(codes.Error, "the node didn't return")
		case err != nil:
			outcome = string(runtime.ReasonError)
			span.SetStatus(codes.Error, "the node returned an error")
		}
		x.tel.attemptTime.Record(context.Background(), time.Since(began).Seconds(), x.tel.attemptSets[outcome])
		span.End()
	}()
	result, err = x.inner.Execute(ctx, n, in)
	returned = true
	return result, err
}

// resumptions remembers for runs seen lately which span they go on from.
type resumptions struct {
	mu   sync.Mutex
	from map[string]trace.SpanContext
}

const maxResumptions = 4096

func (r *resumptions) put(runID string, c trace.SpanContext) {
	if !c.IsValid() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from == nil || len(r.from) >= maxResumptions {
		r.from = make(map[string]trace.SpanContext) // links are a help, not a record
	}
	r.from[runID] = c
}

func (r *resumptions) take(runID string) trace.SpanContext {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.from[runID]
	delete(r.from, runID)
	return c
}
