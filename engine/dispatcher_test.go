package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/ports"
)

// At demand one the preferred class alternates, whoever claims; larger claims in
// between don't disturb that.
func TestClaimsAlternateTheirPreference(t *testing.T) {
	t.Parallel()
	b, calls := newScript(t), 0
	st := b.stage(1, logNode(&calls))
	var ones []ports.ClaimClass
	b.claim = func(_ int, req ports.ClaimRuns) (ports.Claimed, error) {
		if err := req.Check(); err != nil {
			t.Errorf("claim: %v", err)
		}
		if req.Limit == 1 {
			ones = append(ones, req.Prefer)
		}
		return ports.Claimed{Now: b.now}, nil
	}
	e := b.engine(st.registry, Config{})
	for _, n := range []int{1, 2, 1, 2, 1, 7, 1} {
		if _, err := e.driver.claim(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	for i, class := range ones {
		if want := []ports.ClaimClass{ports.ClassReady, ports.ClassExpired}[i%2]; class != want {
			t.Errorf("claim %d prefers %s, want %s", i, class, want)
		}
	}
}

// A busy wake source during an outage makes nothing faster, and the waits stay
// within one interval.
func TestDispatcherDoesNotHammerAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, calls := newScript(t), 0
		st := b.stage(1, logNode(&calls))
		var at []time.Duration
		began := time.Now()
		b.claim = func(int, ports.ClaimRuns) (ports.Claimed, error) {
			at = append(at, time.Since(began))
			return ports.Claimed{}, ports.Unavailable("ClaimRuns", errDriver)
		}
		e := b.engine(st.registry, Config{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		for range 600 {
			<-time.After(50 * time.Millisecond)
			e.driver.wake()
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(at) < 30 || len(at) > 75 {
			t.Errorf("%d claims in 30s of outage", len(at))
		}
		for i := 1; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap > time.Second {
				t.Errorf("claim %d came after %s", i, gap)
			}
		}
	})
}

// A second Run is refused; a client without implementations can't drive.
func TestRunIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, calls := newScript(t), 0
		st := b.stage(1, logNode(&calls))
		if err := b.engine(nil, Config{}).Run(t.Context()); CodeOf(err) != CodeUnsupported {
			t.Errorf("without implementations: %v", err)
		}
		e := b.engine(st.registry, Config{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		synctest.Wait()
		if err := e.Run(t.Context()); CodeOf(err) != CodeBusy {
			t.Errorf("twice: %v", err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if h := e.Health(); h.State != StateIdle {
			t.Errorf("health after Run: %+v", h)
		}
		again, stopAgain := context.WithCancel(t.Context())
		stopAgain()
		if err := e.Run(again); err != nil {
			t.Errorf("Run after Run: %v", err)
		}
	})
}
