package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

var soak = flag.Duration("docket.soak", 3*time.Second, "how long each test of faults goes on")

// load drives runs to their ends through a store that fails, the way a worker
// does: what was answered ErrUncertain is sent again, what went stale is dropped,
// what was lost is claimed again.
type load struct {
	t     *testing.T
	b     *Backend
	steps int64

	mu    sync.Mutex
	acked map[string]int64 // the sequence that was acknowledged
	kinds map[ports.Code]int
}

const loadTTL = 300 * time.Millisecond

// drive runs workers until all runs have ended.
func (l *load) drive(ctx context.Context, workers, runs int) {
	l.acked, l.kinds = map[string]int64{}, map[ports.Code]int{}
	var ref = version("g", `{"id":"g"}`).Ref
	l.until(ctx, func() error {
		_, err := l.b.SaveGraph(ctx, ports.SaveGraph{Version: version("g", `{"id":"g"}`)})
		return err
	})
	for n := range runs {
		tr := first(fmt.Sprint("r", n), ref)
		l.until(ctx, func() error {
			_, err := l.b.InsertRun(ctx, ports.InsertRun{Transition: tr})
			if errors.Is(err, ports.ErrExists) { // an uncertain one had landed
				err = nil
			}
			return err
		})
	}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() { l.work(ctx, runs) })
	}
	group.Wait()
}

// until repeats what failed for the store's sake.
func (l *load) until(ctx context.Context, do func() error) {
	for ctx.Err() == nil {
		err := do()
		if err == nil {
			return
		}
		l.note(err)
		pause(ctx, 5*time.Millisecond)
	}
}

func (l *load) note(err error) {
	code := ports.CodeOf(err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds[code]++
	if code != ports.CodeUnavailable && code != ports.CodeUncertain && code != ports.CodeStale {
		l.t.Errorf("an error that a worker doesn't expect: %v", err)
	}
}

func (l *load) finished(runs int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	done := 0
	for _, seq := range l.acked {
		if seq == l.steps+2 {
			done++
		}
	}
	return done == runs
}

func (l *load) work(ctx context.Context, runs int) {
	for ctx.Err() == nil && !l.finished(runs) {
		claimed, err := l.b.ClaimRuns(ctx, ports.ClaimRuns{Scope: ports.System(), Limit: 2, TTL: loadTTL, MaxAttempts: 1 << 30})
		if err != nil {
			l.note(err)
		}
		for _, lease := range claimed.Leases {
			l.advance(ctx, lease)
		}
		if len(claimed.Leases) == 0 {
			pause(ctx, 10*time.Millisecond)
		}
	}
}

// advance commits one step after the other until the run ends or the claim is lost.
func (l *load) advance(ctx context.Context, lease ports.Lease) {
	r := lease.Run
	for ctx.Err() == nil {
		tr := next(r, record.ScheduleRetain)
		if r.CheckpointSeq == l.steps+1 {
			tr = ended(r)
		}
		if !l.commit(ctx, lease, tr) {
			return
		}
		l.mu.Lock()
		l.acked[r.ID] = max(l.acked[r.ID], tr.Run.CheckpointSeq)
		l.mu.Unlock()
		if tr.Run.Status == "done" {
			return
		}
		r = tr.Run
	}
}

// commit reports whether the transition is stored.
func (l *load) commit(ctx context.Context, lease ports.Lease, tr record.Transition) bool {
	req := commit(lease, tr)
	req.Now, req.TTL = time.Time{}, loadTTL
	uncertain := false
	for ctx.Err() == nil {
		_, err := l.b.CommitClaimed(ctx, req)
		switch {
		case err == nil:
			return true
		case errors.Is(err, ports.ErrStale):
			return uncertain && l.landed(ctx, tr)
		}
		l.note(err)
		uncertain = uncertain || errors.Is(err, ports.ErrUncertain)
		pause(ctx, 5*time.Millisecond)
	}
	return false
}

// landed reads what became of a commit whose repetition was stale. (Steps are a
// function of their sequence here, so whoever stored it stored the same.)
func (l *load) landed(ctx context.Context, tr record.Transition) (yes bool) {
	l.until(ctx, func() error {
		got, err := l.b.FetchRun(ctx, ports.FetchRun{Scope: ports.System(), RunID: tr.Run.ID})
		yes = err == nil && got.Run.CheckpointSeq == tr.Run.CheckpointSeq
		return err
	})
	return yes
}

// check looks at the store once it works again: everything that was acknowledged
// is there, once, and every run came to its end.
func (l *load) check(runs int) {
	l.t.Helper()
	ctx := l.t.Context()
	for n := range runs {
		id := fmt.Sprint("r", n)
		var got ports.RunInfo
		l.until(ctx, func() (err error) {
			got, err = l.b.InspectRun(ctx, ports.InspectRun{Scope: ports.System(), RunID: id})
			return err
		})
		if got.Run.Status != "done" || got.Run.CheckpointSeq != l.steps+2 || got.Run.CheckpointSeq < l.acked[id] {
			l.t.Errorf("%s is %s at %d; acknowledged %d, wanted %d", id, got.Run.Status, got.Run.CheckpointSeq, l.acked[id], l.steps+2)
		}
		if err := ports.CheckRow(got, ""); err != nil {
			l.t.Error(err)
		}
		page, err := l.b.ListEvents(ctx, ports.ListEvents{Scope: ports.System(), RunID: id, Limit: 1000})
		if err != nil || int64(len(page.Events)) != got.Run.EventSeq {
			l.t.Errorf("%s has %d events, %v; want %d", id, len(page.Events), err, got.Run.EventSeq)
		}
		for i, e := range page.Events {
			if e.Seq != int64(i+1) {
				l.t.Errorf("%s: event %d has number %d", id, i+1, e.Seq)
			}
		}
	}
	l.t.Logf("errors on the way: %v", l.kinds)
}

// under runs a load while trouble is made until the soak's time is over.
func under(t *testing.T, b *Backend, trouble func(ctx context.Context)) *load {
	t.Helper()
	const workers, runs = 6, 24
	l := &load{t: t, b: b, steps: int64(30 * *soak / time.Second)}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second+4**soak)
	defer cancel()
	making, stop := context.WithTimeout(ctx, *soak)
	var group sync.WaitGroup
	group.Go(func() { trouble(making) })
	l.drive(ctx, workers, runs)
	stop()
	group.Wait()
	if ctx.Err() != nil {
		t.Error("the load didn't come to its end")
	}
	l.check(runs)
	return l
}

// seeded is a source whose seed a failure prints.
func seeded(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

func within(random *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(d)))
}
