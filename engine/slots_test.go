package engine

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/ports"
)

// While the store takes its time over the commits that give claims back, slots are
// free for further claims, and no more is claimed than ADR 0011 allows.
func TestSlotsAreFreeWhileRunsLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slots = 3
		b := newScript(t)
		st := b.stage(1, func(context.Context, node.Input) (node.Result, error) {
			return node.Write("log", []string{"worked"}), nil
		})
		stored := make(chan struct{})
		held := 0
		b.claim = func(_ int, req ports.ClaimRuns) (ports.Claimed, error) {
			select {
			case <-stored: // the queue is empty
				return ports.Claimed{Now: b.now}, nil
			default:
			}
			if req.Limit > slots {
				t.Errorf("a claim of %d with %d slots", req.Limit, slots)
			}
			claimed := ports.Claimed{Now: b.now}
			for range req.Limit {
				if held++; held > maxHeld*slots {
					return ports.Claimed{Now: b.now}, nil // the test has failed
				}
				claimed.Leases = append(claimed.Leases, b.lease(st.run))
			}
			return claimed, nil
		}
		b.commitClaimed = func(int, ports.CommitClaimed) (ports.Committed, error) {
			<-stored
			return ports.Committed{Now: b.now}, nil
		}
		e := b.engine(st.registry, Config{Slots: slots})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		synctest.Wait()
		if held != maxHeld*slots || b.calls("CommitClaimed") != held || e.Health().SlotsUsed != 0 {
			t.Errorf("%d runs are held and %d leave with %d slots in use, want %d and none",
				held, b.calls("CommitClaimed"), e.Health().SlotsUsed, maxHeld*slots)
		}
		close(stored)
		synctest.Wait()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if s := e.driver.slots; s.used != 0 || s.leaving != 0 {
			t.Errorf("at the end %d slots are in use and %d runs leave", s.used, s.leaving)
		}
	})
}

// A run that executes keeps its slot.
func TestSlotsAreKeptWhileNodesRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slots = 3
		b, done := newScript(t), make(chan struct{})
		var working atomic.Int64
		st := b.stage(1, func(context.Context, node.Input) (node.Result, error) {
			<-done
			return node.Write("log", []string{"worked"}), nil
		})
		b.claim = func(_ int, req ports.ClaimRuns) (ports.Claimed, error) {
			if working.Load() == slots {
				return ports.Claimed{Now: b.now}, nil
			}
			working.Add(1)
			return ports.Claimed{Now: b.now, Leases: []ports.Lease{b.lease(st.run)}}, nil
		}
		b.commitClaimed = func(int, ports.CommitClaimed) (ports.Committed, error) { return ports.Committed{Now: b.now}, nil }
		e := b.engine(st.registry, Config{Slots: slots})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		synctest.Wait()
		for working.Load() < slots {
			e.driver.wake()
			synctest.Wait()
		}
		if got := fmt.Sprint(e.Health().SlotsUsed, e.driver.slots.take(1)); got != fmt.Sprint(slots, 0) {
			t.Errorf("in use, and free for one more: %s", got)
		}
		close(done)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
