package engine

import (
	"sync"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
)

// waiters tells those in this process who await a run what was committed, so
// that no timer stands between a run's end and its caller.
type waiters struct {
	mu   sync.Mutex
	runs map[string]map[*waiter]struct{}
}

// waiter receives the latest committed run; older ones that it didn't take are
// replaced.
type waiter struct {
	runID string
	owner record.Owner
	ready chan *run.Run
}

func newWaiters() *waiters {
	return &waiters{runs: make(map[string]map[*waiter]struct{})}
}

// subscribe before the first read: then no commit falls between the two.
func (w *waiters) subscribe(o record.Owner, runID string) *waiter {
	wt := &waiter{runID: runID, owner: o, ready: make(chan *run.Run, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs[runID] == nil {
		w.runs[runID] = make(map[*waiter]struct{})
	}
	w.runs[runID][wt] = struct{}{}
	return wt
}

func (w *waiters) unsubscribe(wt *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.runs[wt.runID], wt)
	if len(w.runs[wt.runID]) == 0 {
		delete(w.runs, wt.runID)
	}
}

// tell never blocks. A waiter of another owner hears nothing (SCP-3).
func (w *waiters) tell(o record.Owner, r *run.Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wt := range w.runs[r.ID] {
		if wt.owner != o {
			continue
		}
		select {
		case <-wt.ready: // only tell sends, and under the lock, so there is room now
		default:
		}
		wt.ready <- r
	}
}
