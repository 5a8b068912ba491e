package engine

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docket-go/docket/core/executor"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/core/runtime"
	"github.com/docket-go/docket/ports"
)

// driver makes due runs advance: what Run's dispatcher, Drain and hand-offs
// share.
type driver struct {
	e        *Engine
	runner   *executor.Runner
	slots    *slots
	wakes    ports.WakeSource // nil: none, or unused
	pruner   ports.Pruner     // nil: no retention policy
	wakeup   chan struct{}    // a hint, of capacity one: something may be due
	handOff  atomic.Bool      // a run may be born claimed here
	phase    atomic.Uint64    // which class is preferred next at demand one
	draining chan struct{}    // of capacity one: held while Drain is at work
	pulse    pulse
	strays   strays

	mu       sync.Mutex
	session  *session            // nil while Run isn't driving
	running  bool                // Run is at work
	inflight map[string]*vehicle // by run id
}

func newDriver(e *Engine, caps ports.Capabilities) (*driver, error) {
	d := &driver{
		e:        e,
		slots:    newSlots(e.cfg.Slots),
		wakeup:   make(chan struct{}, 1),
		draining: make(chan struct{}, 1),
		inflight: make(map[string]*vehicle),
	}
	d.runner = executor.New(executor.Config{
		Executor:  &tracedExecutor{inner: e.cfg.Executor, tel: e.tel},
		App:       e.cfg.Application,
		Abandoned: d.gaveUp,
		Returned:  d.cameBack,
		Crashed:   d.crashed,
	})
	d.handOff.Store(!caps.Admission)
	var ok bool
	if caps.WakeSource && e.cfg.Wake == WakeAuto {
		if d.wakes, ok = ports.As[ports.WakeSource](e.store.backend); !ok {
			return nil, undeclared("WakeSource")
		}
	}
	if e.cfg.Retention != nil {
		if d.pruner, ok = ports.As[ports.Pruner](e.store.backend); !ok {
			return nil, undeclared("Pruner")
		}
	}
	return d, e.tel.gauges(d)
}

// gaveUp counts a node that hadn't returned when its context ended. Most return a
// moment later; the gauge and the end of Run tell about those that don't.
func (d *driver) gaveUp(a node.Activation) {
	d.strays.add(a)
	d.e.log.Debug("docket: a node was given up; its goroutine runs until it returns",
		slog.String("run_id", a.RunID), slog.String("node_id", a.NodeID), slog.Int64("attempt", a.Attempt),
		slog.Int("abandoned", d.runner.Abandoned()))
}

// cameBack lets the dispatcher look again, if that was what it waited for.
func (d *driver) cameBack(a node.Activation) {
	d.strays.remove(a)
	hint(d.slots.freed)
}

// crashed logs a node's stack, which never reaches the run.
func (d *driver) crashed(a node.Activation, panicked string, stack []byte) {
	d.e.log.Error("docket: a node panicked",
		slog.String("run_id", a.RunID), slog.String("node_id", a.NodeID), slog.Int64("attempt", a.Attempt),
		slog.String("panic", panicked), slog.String("stack", string(stack)))
}

func undeclared(name string) *Error {
	return &Error{Code: CodeInvalidConfig, Message: "the backend declares " + name + " and doesn't have it"}
}

// wake makes the dispatcher look for due work at once.
func (d *driver) wake() { hint(d.wakeup) }

func (d *driver) noHandOff() { d.handOff.Store(false) }

// saturated reports whether so many nodes ignored their deadline that no more
// work is taken on.
func (d *driver) saturated() bool { return d.runner.Abandoned() >= d.e.cfg.MaxAbandoned }

// prefer alternates the class that is served first when only one run is claimed;
// all callers share the phase, so neither class can starve. A larger claim serves
// both (CLM-4) and leaves the phase.
func (d *driver) prefer(n int) ports.ClaimClass {
	if n > 1 || d.phase.Add(1)%2 == 1 {
		return ports.ClassReady
	}
	return ports.ClassExpired
}

// commit is a transition of this process that is stored.
type commit struct {
	owner    record.Owner
	moment   *runtime.Moment
	schedule record.Schedule
	signal   bool      // it came without a claim and took whatever claim there was
	now      time.Time // the store's
}

// noticed reacts to a commit of this process without waiting for the store to
// tell it.
func (d *driver) noticed(c commit) {
	if c.signal {
		d.takenBy(c.moment.Run)
	}
	switch c.schedule.Kind {
	case record.ScheduleImmediate:
		d.wake()
	case record.ScheduleAt:
		if wait := c.schedule.At.Sub(c.now); wait < d.e.cfg.Poll && d.drives() {
			time.AfterFunc(max(wait, 0), d.wake)
		}
	}
}

func (d *driver) drives() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session != nil
}

// takenBy ends the vehicle whose claim a signal revoked. A vehicle that holds a
// later claim on the same run is not concerned.
func (d *driver) takenBy(after *run.Run) {
	d.mu.Lock()
	v := d.inflight[after.ID]
	d.mu.Unlock()
	if v == nil || v.seq.Load() >= after.CheckpointSeq {
		return
	}
	if after.Status == run.Cancelled {
		v.cancel(ErrRunCancelled)
	} else {
		v.cancel(ErrClaimLost)
	}
}

func (d *driver) enter(v *vehicle) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inflight[v.lease.Run.ID] = v
}

func (d *driver) leave(v *vehicle) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inflight[v.lease.Run.ID] == v {
		delete(d.inflight, v.lease.Run.ID)
	}
}

// park runs a vehicle in its slot until it has ended.
func (d *driver) park(s *session, v *vehicle) {
	defer s.vehicles.Done()
	v.slots = d.slots
	defer v.freeSlot()
	v.drive()
}
