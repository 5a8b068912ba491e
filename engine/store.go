package engine

import (
	"context"
	"time"

	"github.com/docket-go/docket/ports"
)

// store is the backend as the engine calls it: every call is bounded, carries
// the injected time if there is one, and teaches the clock what time it is.
type store struct {
	backend ports.Backend
	clock   *storeClock
	timeout time.Duration
}

// ask makes one call. The callee returns the time of its answer besides it.
func ask[A any](ctx context.Context, s *store, call func(ctx context.Context, now time.Time) (A, time.Time, error)) (A, error) {
	now, err := s.clock.stamp()
	if err != nil {
		var none A
		return none, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	sent := time.Now()
	answer, at, err := call(ctx, now)
	if err == nil {
		s.clock.learn(sent, at)
	}
	return answer, err
}

// detached returns a context that keeps ctx's values and not its end. Claims,
// commits and releases run on it: a worker that stops must still be able to say
// so, and a cancelled query costs the store a connection.
func detached(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

func (s *store) insert(ctx context.Context, req ports.InsertRun) (ports.Inserted, error) {
	return ask(ctx, s, func(ctx context.Context, now time.Time) (ports.Inserted, time.Time, error) {
		req.Now = now
		a, err := s.backend.InsertRun(ctx, req)
		return a, a.Now, err
	})
}

func (s *store) commitClaimed(ctx context.Context, req ports.CommitClaimed) (ports.Committed, error) {
	return ask(ctx, s, func(ctx context.Context, now time.Time) (ports.Committed, time.Time, error) {
		req.Now = now
		a, err := s.backend.CommitClaimed(ctx, req)
		return a, a.Now, err
	})
}

func (s *store) commitUnclaimed(ctx context.Context, req ports.CommitUnclaimed) (ports.Committed, error) {
	return ask(ctx, s, func(ctx context.Context, now time.Time) (ports.Committed, time.Time, error) {
		req.Now = now
		a, err := s.backend.CommitUnclaimed(ctx, req)
		return a, a.Now, err
	})
}

func (s *store) fetchRun(ctx context.Context, scope ports.Scope, runID string) (ports.FetchedRun, error) {
	return ask(ctx, s, func(ctx context.Context, now time.Time) (ports.FetchedRun, time.Time, error) {
		a, err := s.backend.FetchRun(ctx, ports.FetchRun{Scope: scope, RunID: runID, Now: now})
		return a, a.Now, err
	})
}

func (s *store) inspectRun(ctx context.Context, scope ports.Scope, runID string) (ports.RunInfo, error) {
	return ask(ctx, s, func(ctx context.Context, now time.Time) (ports.RunInfo, time.Time, error) {
		a, err := s.backend.InspectRun(ctx, ports.InspectRun{Scope: scope, RunID: runID, Now: now})
		return a, a.Now, err
	})
}

func (s *store) listRuns(ctx context.Context, req ports.ListRuns) (ports.RunPage, error) {
	return ask(ctx, s, func(ctx context.Context, now time.Time) (ports.RunPage, time.Time, error) {
		req.Now = now
		a, err := s.backend.ListRuns(ctx, req)
		return a, a.Now, err
	})
}

func (s *store) recoverRun(ctx context.Context, scope ports.Scope, runID string) (ports.Recovered, error) {
	return ask(ctx, s, func(ctx context.Context, now time.Time) (ports.Recovered, time.Time, error) {
		a, err := s.backend.RecoverRun(ctx, ports.RecoverRun{Scope: scope, RunID: runID, Now: now})
		return a, a.Now, err
	})
}

func (s *store) claimRuns(ctx context.Context, req ports.ClaimRuns) (ports.Claimed, error) {
	return ask(ctx, s, func(ctx context.Context, now time.Time) (ports.Claimed, time.Time, error) {
		req.Now = now
		a, err := s.backend.ClaimRuns(ctx, req)
		return a, a.Now, err
	})
}

func (s *store) refreshClaim(ctx context.Context, req ports.RefreshClaim) (ports.Refreshed, error) {
	return ask(ctx, s, func(ctx context.Context, now time.Time) (ports.Refreshed, time.Time, error) {
		req.Now = now
		a, err := s.backend.RefreshClaim(ctx, req)
		return a, a.Now, err
	})
}

func (s *store) releaseClaim(ctx context.Context, req ports.ReleaseClaim) (ports.Released, error) {
	return ask(ctx, s, func(ctx context.Context, now time.Time) (ports.Released, time.Time, error) {
		req.Now = now
		a, err := s.backend.ReleaseClaim(ctx, req)
		return a, a.Now, err
	})
}

func (s *store) abandonClaim(ctx context.Context, req ports.AbandonClaim) (ports.Abandoned, error) {
	return ask(ctx, s, func(ctx context.Context, now time.Time) (ports.Abandoned, time.Time, error) {
		req.Now = now
		a, err := s.backend.AbandonClaim(ctx, req)
		return a, a.Now, err
	})
}

// now returns the store's time, asking the store when no answer told it lately.
// Any answer will do; the cheapest is a page of one.
func (s *store) now(ctx context.Context, scope ports.Scope) (time.Time, error) {
	if now, ok := s.clock.now(); ok {
		return now, nil
	}
	if s.clock.injected != nil {
		return s.clock.stamp()
	}
	page, err := s.listRuns(ctx, ports.ListRuns{Scope: scope, Limit: 1})
	if err != nil {
		return time.Time{}, err
	}
	return page.Now, nil
}

func (s *store) fetchGraph(ctx context.Context, req ports.FetchGraph) (ports.FetchedGraph, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.backend.FetchGraph(ctx, req)
}

func (s *store) fetchEvent(ctx context.Context, req ports.FetchEvent) (ports.FetchedEvent, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.backend.FetchEvent(ctx, req)
}
