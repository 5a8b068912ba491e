package engine

import (
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"go.opentelemetry.io/otel/trace"

	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/ports"
)

// recorded is an engine's telemetry in memory.
type recorded struct {
	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader
}

func recording(cfg *Config) recorded {
	r := recorded{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	cfg.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))
	cfg.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))
	return r
}

// sums returns every counter as name{label=value,…} → sum.
func (r recorded) sums(t *testing.T) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	must(t, r.reader.Collect(t.Context(), &all))
	out := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			if !ok {
				continue
			}
			for _, p := range sum.DataPoints {
				var labels []string
				for _, kv := range p.Attributes.ToSlice() {
					labels = append(labels, string(kv.Key)+"="+kv.Value.String())
				}
				out[m.Name+"{"+strings.Join(labels, ",")+"}"] += p.Value
			}
		}
	}
	return out
}

// A run is one trace: claims of two processes, moments and attempts below them,
// and what nodes open below theirs.
func TestTelemetryOfARun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newScript(t)
		var cfg Config
		rec := recording(&cfg)
		tracer := cfg.TracerProvider.Tracer("user")
		st := b.stage(2, func(ctx context.Context, _ node.Input) (node.Result, error) {
			_, span := tracer.Start(ctx, "user work")
			span.End()
			return node.Result{}, nil
		})
		b.commitClaimed = func(_ int, req ports.CommitClaimed) (ports.Committed, error) {
			return ports.Committed{Now: b.now, ClaimEnd: b.now.Add(req.TTL)}, nil
		}
		driveOnce(b.engine(st.registry, cfg), b.lease(st.run))
		driveOnce(b.engine(st.registry, cfg), b.lease(st.run)) // as another process would

		byID := map[trace.SpanID]string{}
		names := map[string]int{}
		for _, s := range rec.spans.Ended() {
			byID[s.SpanContext().SpanID()] = s.Name()
			names[s.Name()]++
			if s.SpanContext().TraceID() != runTrace("r").TraceID() {
				t.Errorf("%s is in another trace", s.Name())
			}
			for _, kv := range s.Attributes() {
				if strings.Contains(kv.Value.String(), "the-token") {
					t.Errorf("%s tells the token in %s", s.Name(), kv.Key)
				}
			}
		}
		for name, want := range map[string]int{"docket.claim": 2, "docket.moment": 4, "docket.attempt": 4, "user work": 4} {
			if names[name] != want {
				t.Errorf("%d spans %q, want %d", names[name], name, want)
			}
		}
		parents := map[string]string{"docket.moment": "docket.claim", "docket.attempt": "docket.moment", "user work": "docket.attempt"}
		for _, s := range rec.spans.Ended() {
			if want := parents[s.Name()]; want != "" && byID[s.Parent().SpanID()] != want {
				t.Errorf("%s is below %q, want %q", s.Name(), byID[s.Parent().SpanID()], want)
			}
		}
		got := rec.sums(t)
		for key, want := range map[string]int64{
			"docket.commits{disposition=continue,type=step_committed}":     2,
			"docket.commits{disposition=park_terminal,type=run_completed}": 2,
			"docket.attempts{result=ok}":                                   4,
			"docket.graph.cache{result=miss}":                              2,
		} {
			if got[key] != want {
				t.Errorf("%s = %d, want %d (of %v)", key, got[key], want, got)
			}
		}
	})
}

// A moment that the fence refused counts as nothing committed.
func TestTelemetryOfALostMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, calls := newScript(t), 0
		var cfg Config
		rec := recording(&cfg)
		st := b.stage(1, logNode(&calls))
		b.commitClaimed = func(int, ports.CommitClaimed) (ports.Committed, error) {
			return ports.Committed{}, ports.Stale("CommitClaimed")
		}
		driveOnce(b.engine(st.registry, cfg), b.lease(st.run))
		got := rec.sums(t)
		for key := range got {
			if strings.HasPrefix(key, "docket.commits") {
				t.Errorf("a lost moment counts: %s", key)
			}
		}
		if got["docket.fence.losses{stage=commit}"] != 1 {
			t.Errorf("fence losses: %v", got)
		}
		for _, s := range rec.spans.Ended() {
			if s.Name() == "docket.moment" && s.Status().Description != "not committed" {
				t.Errorf("the moment's span says %+v", s.Status())
			}
		}
	})
}

// A run goes on from the call that started or signalled it, and says so.
func TestTelemetryLinksResumptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, calls := newScript(t), 0
		var cfg Config
		rec := recording(&cfg)
		st := b.stage(1, logNode(&calls))
		b.commitClaimed = func(int, ports.CommitClaimed) (ports.Committed, error) {
			return ports.Committed{}, ports.Stale("CommitClaimed")
		}
		e := b.engine(st.registry, cfg)
		driveOnce(e, b.lease(st.run))
		driveOnce(e, b.lease(st.run))
		var claims []sdktrace.ReadOnlySpan
		for _, s := range rec.spans.Ended() {
			if s.Name() == "docket.claim" {
				claims = append(claims, s)
			}
		}
		if len(claims) != 2 || len(claims[0].Links()) != 0 || len(claims[1].Links()) != 1 ||
			claims[1].Links()[0].SpanContext.SpanID() != claims[0].SpanContext().SpanID() {
			t.Errorf("the second claim isn't linked to the first: %v", claims)
		}
	})
}

// docs/telemetry.md names exactly the instruments and spans that the code has.
func TestTelemetryTableIsTheCode(t *testing.T) {
	t.Parallel()
	names := func(source io.Reader, pattern string) map[string]bool {
		text, err := io.ReadAll(source)
		must(t, err)
		found := map[string]bool{}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
		return found
	}
	seen, documented := map[string]bool{}, names(document(t, "telemetry.md"), "`(docket\\.[a-z_.]+)`")
	for _, file := range []string{"metrics.go", "telemetry.go", "facade_start.go", "facade_signals.go"} {
		code, err := os.Open(file)
		must(t, err)
		defer code.Close()
		for name := range names(code, `"(docket\.[a-z_.]+)"`) {
			if !documented[name] {
				t.Errorf("%s emits %s, which docs/telemetry.md doesn't name", file, name)
			}
			seen[name] = true
		}
	}
	for name := range documented {
		if seen[name] {
			continue
		}
		t.Errorf("docs/telemetry.md names %s, which nothing emits", name)
	}
}
