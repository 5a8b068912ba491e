package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/docket-go/docket/ports"
)

// write runs work in a transaction and returns its answer once the transaction
// is committed. Whoever gets the writer's turn works for everybody that waits at
// that moment: one transaction, one disk flush, a savepoint for each. An
// operation alone pays for no savepoint. work may run again after a lock
// conflict, so it must set all its results each time.
func (w *writer) write(ctx context.Context, op string, wakes *wakes, work func(context.Context, *unit) error) error {
	if ctx.Err() != nil {
		return notApplied(ctx, op)
	}
	j := &job{ctx: ctx, op: op, work: work, done: make(chan error, 1)}
	w.queue.push(j)
	select {
	case w.turn <- struct{}{}:
		return w.lead(j, wakes)
	default:
	}
	timeout := time.NewTimer(w.cfg.BusyTimeout)
	defer timeout.Stop()
	select {
	case w.turn <- struct{}{}:
		return w.lead(j, wakes)
	case err := <-j.done:
		return err
	case <-ctx.Done():
		if w.queue.withdraw(j) {
			return notApplied(ctx, op)
		}
	case <-timeout.C:
		if w.queue.withdraw(j) {
			return w.errBusy(op)
		}
	}
	return <-j.done // a leader has it: the answer is near
}

// lead works with the turn taken and returns the answer of j, one of the jobs.
func (w *writer) lead(j *job, wakes *wakes) error {
	defer w.give()
	select {
	case err := <-j.done: // a leader before us had it
		return err
	default:
	}
	for j.pending(&w.queue) {
		if err := w.begin(j.ctx, j.op); err != nil {
			w.queue.withdraw(j)
			return err
		}
		w.run(w.queue.next(maxGroup), wakes)
	}
	return <-j.done
}

// pending reports whether j is still queued: a full group may leave it behind.
func (j *job) pending(q *queue) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, other := range q.jobs {
		if other == j {
			return true
		}
	}
	return false
}

// run executes jobs in the open transaction, ends it, and answers them all.
func (w *writer) run(jobs []*job, wakes *wakes) {
	// Nothing interrupts a statement from here on: an interrupted write would
	// take its neighbours' transaction with it.
	ctx := context.WithoutCancel(jobs[0].ctx)
	broken := w.runEach(ctx, jobs)
	var told int64
	if broken == nil {
		told, broken = w.countWakes(ctx, jobs)
	}
	switch {
	case broken != nil:
		w.rollback(ctx)
	case wrote(jobs):
		broken = w.commit(ctx, jobs[0].op)
	default:
		w.rollback(ctx) // answers only: nothing to flush
	}
	if broken == nil && told > 0 {
		wakes.tell(told)
	}
	for _, j := range jobs {
		// An answer may rest on what a neighbour wrote: it falls with it.
		if broken != nil && (j.err == nil || ports.IsAnswer(j.err)) {
			j.err = broken
		}
		j.done <- j.err
	}
}

// runEach runs every job and keeps its answer in it. The error means that the
// transaction itself is lost, for all.
func (w *writer) runEach(ctx context.Context, jobs []*job) error {
	if len(jobs) == 1 {
		w.runOne(jobs[0])
		return nil
	}
	for _, j := range jobs {
		if _, err := w.sql.exec(ctx, "SAVEPOINT job"); err != nil {
			return mapError(j.op, err, working)
		}
		w.runOne(j)
		if !j.stays() {
			if _, err := w.sql.exec(ctx, "ROLLBACK TO job"); err != nil {
				return mapError(j.op, err, working)
			}
		}
		if _, err := w.sql.exec(ctx, "RELEASE job"); err != nil {
			return mapError(j.op, err, working)
		}
	}
	return nil
}

func (w *writer) runOne(j *job) {
	if j.ctx.Err() != nil {
		j.err = notApplied(j.ctx, j.op)
		return
	}
	j.unit = unit{statements: w.sql}
	j.err = guarded(context.WithoutCancel(j.ctx), j.op, &j.unit, j.work)
}

// guarded turns a panic into a fault: the jobs of one transaction must not take
// each other down, and the turn must be given back.
func guarded(ctx context.Context, op string, u *unit, work func(context.Context, *unit) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = ports.Unavailable(op, fmt.Errorf("sqlite: panic: %v", p))
		}
	}()
	return mapError(op, work(ctx, u), working)
}

func wrote(jobs []*job) bool {
	for _, j := range jobs {
		if j.stays() {
			return true
		}
	}
	return false
}

// countWakes moves the number that other processes watch, if any job stored a
// wake that is due. It is the only sign of a wake, so it commits or vanishes
// with it (WAK-1).
func (w *writer) countWakes(ctx context.Context, jobs []*job) (int64, error) {
	for _, j := range jobs {
		if j.stays() && j.unit.due {
			return nextWake(ctx, j.op, w.sql)
		}
	}
	return 0, nil
}
