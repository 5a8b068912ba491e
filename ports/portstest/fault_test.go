package portstest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
	"github.com/docket-go/docket/ports/portstest"
)

// recorder answers everything and remembers what it saw.
type recorder struct {
	ports.Backend
	saved  []time.Time
	docs   []string
	answer error
}

func (r *recorder) Capabilities() ports.Capabilities { return ports.Capabilities{} }

func (r *recorder) RecoverRun(_ context.Context, req ports.RecoverRun) (ports.Recovered, error) {
	r.saved = append(r.saved, req.Now)
	return ports.Recovered{Changed: true}, r.answer
}

func (r *recorder) SaveGraph(_ context.Context, req ports.SaveGraph) (ports.SavedGraph, error) {
	r.docs = append(r.docs, string(req.Version.Document))
	return ports.SavedGraph{}, nil
}

func always(kind portstest.Kind) func(string, int) portstest.Fault {
	return func(string, int) portstest.Fault { return portstest.Fault{Kind: kind} }
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind    portstest.Kind
		answer  error
		want    error
		applied int
	}{
		"none":                          {portstest.None, nil, nil, 1},
		"before":                        {portstest.Before, nil, ports.ErrUnavailable, 0},
		"after":                         {portstest.After, nil, ports.ErrUncertain, 1},
		"after an answer there is none": {portstest.After, ports.ErrStale, ports.ErrStale, 1},
		"late":                          {portstest.Late, nil, ports.ErrUncertain, 0},
	} {
		inner := &recorder{answer: tt.answer}
		f := portstest.New(inner, portstest.Config{Choose: always(tt.kind)})
		if _, err := f.Backend().RecoverRun(t.Context(), ports.RecoverRun{}); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if len(inner.saved) != tt.applied {
			t.Errorf("%s: applied %d times", name, len(inner.saved))
		}
	}
}

func TestLateIsSettledInOrder(t *testing.T) {
	t.Parallel()
	inner := &recorder{}
	f := portstest.New(inner, portstest.Config{Choose: func(op string, n int) portstest.Fault {
		if op == "SaveGraph" && n <= 2 {
			return portstest.Fault{Kind: portstest.Late, Err: errors.New("mine")}
		}
		return portstest.Fault{}
	}})
	doc := []byte("first")
	for _, text := range []string{"first", "other", "third"} {
		copy(doc, text)
		_, err := f.Backend().SaveGraph(t.Context(), ports.SaveGraph{Version: record.GraphVersion{Document: doc}})
		if late := text != "third"; late != (err != nil && err.Error() == "mine") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if errs := f.Settle(t.Context()); len(errs) != 2 || errs[0] != nil || errs[1] != nil {
		t.Errorf("settled with %v", errs)
	}
	if want := []string{"third", "first", "other"}; !slices.Equal(inner.docs, want) {
		t.Errorf("applied %v, want %v", inner.docs, want)
	}
	if errs := f.Settle(t.Context()); len(errs) != 0 || f.Calls("SaveGraph") != 3 {
		t.Errorf("settled twice: %v; %d calls", errs, f.Calls("SaveGraph"))
	}
}

func TestDelayAndSkew(t *testing.T) {
	t.Parallel()
	inner := &recorder{}
	var waited []int
	f := portstest.New(inner, portstest.Config{
		Choose: always(portstest.Delay),
		Wait: func(_ context.Context, op string, n int) error {
			waited = append(waited, n)
			if n == 2 {
				return context.DeadlineExceeded
			}
			return nil
		},
		Skew: func() time.Duration { return time.Hour },
	})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := f.Backend().RecoverRun(t.Context(), ports.RecoverRun{Now: now}); err != nil {
		t.Fatal(err)
	}
	_, err := f.Backend().RecoverRun(t.Context(), ports.RecoverRun{})
	if !errors.Is(err, ports.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a delay that ends: %v", err)
	}
	if _, err := f.Backend().RecoverRun(t.Context(), ports.RecoverRun{}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(waited, []int{1, 2, 3}) || !slices.Equal(inner.saved, []time.Time{now.Add(time.Hour), {}}) {
		t.Errorf("waited %v, saw %v", waited, inner.saved)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	endless := portstest.New(inner, portstest.Config{Choose: always(portstest.Delay)})
	if _, err := endless.Backend().RecoverRun(ctx, ports.RecoverRun{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a delay without a hook: %v", err)
	}
}

// source is a wake source that a test rings.
type source struct {
	*recorder
	wakes chan struct{}
}

func (s source) Wakes(context.Context) (<-chan struct{}, error) { return s.wakes, nil }

func TestWakes(t *testing.T) {
	t.Parallel()
	if _, ok := ports.As[ports.WakeSource](portstest.New(&recorder{}, portstest.Config{}).Backend()); ok {
		t.Error("a wake source out of nothing")
	}
	inner := source{&recorder{}, make(chan struct{})}
	f := portstest.New(inner, portstest.Config{Choose: func(op string, n int) portstest.Fault {
		if op == portstest.OpWake && n != 2 {
			return portstest.Fault{Kind: portstest.Drop}
		}
		return portstest.Fault{}
	}})
	wakes, ok := ports.As[ports.WakeSource](f.Backend())
	if !ok {
		t.Fatal("the wake source is hidden")
	}
	got, err := wakes.Wakes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		inner.wakes <- struct{}{}
	}
	close(inner.wakes)
	delivered := 0
	for range got {
		delivered++
	}
	if delivered != 1 || f.Calls(portstest.OpWake) != 3 {
		t.Errorf("delivered %d of %d", delivered, f.Calls(portstest.OpWake))
	}
}

// TestEveryOperationIsWrapped proves that no required operation reaches the
// inside without a choice: the inside would panic.
func TestEveryOperationIsWrapped(t *testing.T) {
	t.Parallel()
	f := portstest.New(&recorder{}, portstest.Config{Choose: always(portstest.Before)})
	b, ctx := f.Backend(), t.Context()
	for op, send := range map[string]func() error{
		"SaveGraph":       func() error { _, err := b.SaveGraph(ctx, ports.SaveGraph{}); return err },
		"FetchGraph":      func() error { _, err := b.FetchGraph(ctx, ports.FetchGraph{}); return err },
		"LatestGraph":     func() error { _, err := b.LatestGraph(ctx, ports.LatestGraph{}); return err },
		"ListGraphs":      func() error { _, err := b.ListGraphs(ctx, ports.ListGraphs{}); return err },
		"InsertRun":       func() error { _, err := b.InsertRun(ctx, ports.InsertRun{}); return err },
		"CommitClaimed":   func() error { _, err := b.CommitClaimed(ctx, ports.CommitClaimed{}); return err },
		"CommitUnclaimed": func() error { _, err := b.CommitUnclaimed(ctx, ports.CommitUnclaimed{}); return err },
		"FetchRun":        func() error { _, err := b.FetchRun(ctx, ports.FetchRun{}); return err },
		"InspectRun":      func() error { _, err := b.InspectRun(ctx, ports.InspectRun{}); return err },
		"ListRuns":        func() error { _, err := b.ListRuns(ctx, ports.ListRuns{}); return err },
		"RecoverRun":      func() error { _, err := b.RecoverRun(ctx, ports.RecoverRun{}); return err },
		"ClaimRuns":       func() error { _, err := b.ClaimRuns(ctx, ports.ClaimRuns{}); return err },
		"RefreshClaim":    func() error { _, err := b.RefreshClaim(ctx, ports.RefreshClaim{}); return err },
		"ReleaseClaim":    func() error { _, err := b.ReleaseClaim(ctx, ports.ReleaseClaim{}); return err },
		"AbandonClaim":    func() error { _, err := b.AbandonClaim(ctx, ports.AbandonClaim{}); return err },
		"ListEvents":      func() error { _, err := b.ListEvents(ctx, ports.ListEvents{}); return err },
		"FetchEvent":      func() error { _, err := b.FetchEvent(ctx, ports.FetchEvent{}); return err },
		"LatestEvent":     func() error { _, err := b.LatestEvent(ctx, ports.LatestEvent{}); return err },
	} {
		if err := send(); !errors.Is(err, portstest.ErrInjected) || f.Calls(op) != 1 {
			t.Errorf("%s: %v, %d calls", op, err, f.Calls(op))
		}
	}
}
