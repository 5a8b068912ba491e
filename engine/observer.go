package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/ports"
)

// Observer is told about commits of this process, in their order for each run,
// after they are stored. It can't change anything: an observation may be lost
// (the process ends, the observer is too slow) or repeated. Each observer has a
// queue of its own; what doesn't fit is dropped and counted.
type Observer interface {
	Observe(ctx context.Context, o Observation) error
}

// ObserverFunc makes an Observer from a function.
type ObserverFunc func(ctx context.Context, o Observation) error

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, o Observation) error { return f(ctx, o) }

// Observation is one commit. Everything the checkpoint returns is a copy.
type Observation struct {
	Tenant     string
	Checkpoint runtime.Checkpoint
	Context    runtime.Context
}

// PoisonFunc is told about a run that a claim or an abandon of this process took
// out of delivery. It is isolated like an Observer.
type PoisonFunc func(ctx context.Context, p Poisoned) error

// Poisoned says which run is out of delivery and why.
type Poisoned struct {
	Tenant string
	RunID  string
	Poison ports.Poison
}

// teller calls observers and the poison callback, each from a queue of its own.
type teller struct {
	cfg     Config
	queues  []*queue
	poisons *queue // nil: nobody wants to know
}

func newTeller(cfg Config, tel *telemetry) *teller {
	t := &teller{cfg: cfg}
	for range cfg.Observers {
		t.queues = append(t.queues, &queue{who: "an observer", kind: "observer", timeout: cfg.ObserverTimeout, tel: tel, log: cfg.Logger})
	}
	if cfg.OnPoison != nil {
		t.poisons = &queue{who: "the poison callback", kind: "poison", timeout: cfg.ObserverTimeout, tel: tel, log: cfg.Logger}
	}
	return t
}

func (t *teller) observe(ctx context.Context, c commit) {
	for i, q := range t.queues {
		observer := t.cfg.Observers[i]
		o := Observation{Tenant: c.owner.Tenant, Checkpoint: c.moment.Checkpoint(), Context: c.moment.Context(t.cfg.Application)}
		q.put(ctx, func(ctx context.Context) error { return observer.Observe(ctx, o) })
	}
}

// poisoned tells the host about a poisoned run.
func (d *driver) poisoned(p ports.PoisonedRun) {
	d.e.tel.poisoned(p.Poison.Reason)
	d.e.log.Error("docket: a run is poisoned", slog.String("run_id", p.RunID), slog.String("reason", string(p.Poison.Reason)))
	t := d.e.told
	if t.poisons == nil {
		return
	}
	told := Poisoned{Tenant: p.Owner.Tenant, RunID: p.RunID, Poison: p.Poison}
	t.poisons.put(context.Background(), func(ctx context.Context) error { return t.cfg.OnPoison(ctx, told) })
}

// flush waits for what is queued, at most d.
func (t *teller) flush(d time.Duration) {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	all := t.queues
	if t.poisons != nil {
		all = append(all[:len(all):len(all)], t.poisons)
	}
	for _, q := range all {
		select {
		case <-q.idle():
		case <-deadline.C:
			return
		}
	}
}

// queueSize bounds what waits for one observer.
const queueSize = 1024

// queue calls one foreign function, one call at a time in order, in a goroutine
// that exists only while there is something to call.
type queue struct {
	who     string
	kind    string
	timeout time.Duration
	tel     *telemetry
	log     *slog.Logger

	mu      sync.Mutex
	waiting []queued
	working bool
	idlers  []chan struct{}
}

type queued struct {
	ctx  context.Context
	call func(context.Context) error
}

func (q *queue) put(ctx context.Context, call func(context.Context) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= queueSize {
		q.tel.toldFailed(q.kind, "dropped")
		return
	}
	q.waiting = append(q.waiting, queued{detached(ctx), call})
	if !q.working {
		q.working = true
		go q.work()
	}
}

// work calls what waits. A call that hangs holds up only its own queue, which
// then drops; one that panics or ends the goroutine costs only itself.
func (q *queue) work() {
	finished := false
	defer func() {
		if !finished { // the callee ended this goroutine
			q.failed(errors.New("it ended its goroutine"))
			go q.work()
		}
	}()
	for {
		next, ok := q.next()
		if !ok {
			finished = true
			return
		}
		var err error
		if crash := guard(q.who, func() { err = q.call(next) }); crash != nil {
			err = crash
		}
		if err != nil {
			q.failed(err)
		}
	}
}

func (q *queue) call(next queued) error {
	ctx, cancel := context.WithTimeout(next.ctx, q.timeout)
	defer cancel()
	return next.call(ctx)
}

func (q *queue) failed(err error) {
	q.tel.toldFailed(q.kind, "failed")
	q.log.Warn("docket: "+q.who+" failed", slog.String("error", err.Error()))
}

func (q *queue) next() (queued, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.working, q.waiting = false, nil
		for _, ch := range q.idlers {
			close(ch)
		}
		q.idlers = nil
		return queued{}, false
	}
	first := q.waiting[0]
	q.waiting[0] = queued{}
	q.waiting = q.waiting[1:]
	return first, true
}

// idle returns a channel that is closed once nothing is queued.
func (q *queue) idle() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	ch := make(chan struct{})
	if !q.working {
		close(ch)
		return ch
	}
	q.idlers = append(q.idlers, ch)
	return ch
}
