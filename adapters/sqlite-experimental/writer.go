package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/docket-go/docket/ports"
)

// writer is the one connection that writes, and the turn to use it. Whoever has
// the turn is alone on the connection.
type writer struct {
	cfg  Config
	pool *sql.DB
	turn chan struct{} // holds one token while somebody has the turn

	conn *sql.Conn // nil: opened when next needed; used only with the turn
	sql  *statements

	queue queue
}

// queue holds the operations that wait to be written.
type queue struct {
	mu   sync.Mutex
	jobs []*job
}

// job is one waiting operation.
type job struct {
	ctx  context.Context
	op   string
	work func(context.Context, *unit) error
	done chan error // one answer; nothing when the job was withdrawn

	unit unit  // what the work left
	err  error // the work's answer, until the transaction's fate is known
}

// stays reports whether what the job wrote is to be committed.
func (j *job) stays() bool { return j.err == nil && !j.unit.drop }

// unit is what an operation works with inside a transaction.
type unit struct {
	*statements
	due  bool // set it when a wake is stored that is due now (WAK-1)
	drop bool // set it to have all that the operation wrote rolled back
}

// maxGroup bounds how many operations share a transaction, so that the first of
// them doesn't wait for an endless queue.
const maxGroup = 64

func newWriter(cfg Config, pool *sql.DB) *writer {
	return &writer{cfg: cfg, pool: pool, turn: make(chan struct{}, 1)}
}

// take waits for the turn: until ctx ends or Config.BusyTimeout has passed, so
// that a caller who writes outside of its own open transaction is told instead
// of waiting for itself.
func (w *writer) take(ctx context.Context, op string) error {
	if ctx.Err() != nil {
		return notApplied(ctx, op)
	}
	select {
	case w.turn <- struct{}{}:
		return nil
	default:
	}
	timeout := time.NewTimer(w.cfg.BusyTimeout)
	defer timeout.Stop()
	select {
	case w.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return notApplied(ctx, op)
	case <-timeout.C:
		return w.errBusy(op)
	}
}

func (w *writer) give() { <-w.turn }

func (w *writer) errBusy(op string) error {
	return ports.Unavailable(op, fmt.Errorf("sqlite: waited %v for another transaction", w.cfg.BusyTimeout))
}

// begin starts a write transaction and waits for other processes' ones as take
// does. The caller has the turn.
func (w *writer) begin(ctx context.Context, op string) error {
	deadline := time.Now().Add(w.cfg.BusyTimeout)
	for {
		if ctx.Err() != nil {
			return notApplied(ctx, op)
		}
		err := w.tryBegin(ctx)
		if err == nil {
			return nil
		}
		if !isBusy(err) {
			w.discard() // interrupted, or broken: the next one starts afresh
			if ctx.Err() != nil {
				return notApplied(ctx, op)
			}
			return mapError(op, err, working)
		}
		if time.Now().After(deadline) {
			return w.errBusy(op)
		}
	}
}

func (w *writer) tryBegin(ctx context.Context) error {
	if w.conn == nil {
		conn, err := w.pool.Conn(ctx)
		if err != nil {
			return err
		}
		w.conn, w.sql = conn, newStatements(conn)
	}
	_, err := w.sql.exec(ctx, "BEGIN IMMEDIATE")
	return err
}

// commit ends the transaction for good. On an error nothing of it is known to
// be stored, and the connection is free of it.
func (w *writer) commit(ctx context.Context, op string) error {
	_, err := w.sql.exec(ctx, "COMMIT")
	if err != nil {
		w.rollback(ctx)
	}
	return mapError(op, err, committing)
}

// rollback ends the transaction. A connection that refuses is thrown away,
// which ends it too.
func (w *writer) rollback(ctx context.Context) {
	if w.conn == nil {
		return
	}
	if _, err := w.sql.exec(ctx, "ROLLBACK"); err != nil {
		w.discard()
	}
}

// discard closes the connection instead of giving it back to the pool.
func (w *writer) discard() {
	if w.conn == nil {
		return
	}
	w.sql.close()
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = w.conn.Close()
	w.conn, w.sql = nil, nil
}

// close ends the connection; the caller has the turn.
func (w *writer) close() error {
	var err error
	if w.conn != nil {
		w.sql.close()
		err = w.conn.Close()
		w.conn, w.sql = nil, nil
	}
	return errors.Join(err, w.pool.Close())
}

func (q *queue) push(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, j)
}

// withdraw takes j out again; false when it is already being worked on.
func (q *queue) withdraw(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.jobs {
		if other == j {
			q.jobs = append(q.jobs[:i], q.jobs[i+1:]...)
			return true
		}
	}
	return false
}

// next takes the oldest jobs out, at most limit.
func (q *queue) next(limit int) []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(limit, len(q.jobs))
	group := append([]*job(nil), q.jobs[:n]...)
	rest := copy(q.jobs, q.jobs[n:])
	clear(q.jobs[rest:])
	q.jobs = q.jobs[:rest]
	return group
}
