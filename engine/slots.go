package engine

import (
	"context"
	"sync"

	"github.com/docket-go/docket/core/compiler"
	"github.com/docket-go/docket/core/run"
	"github.com/docket-go/docket/ports"
)

// slots counts the runs this process may execute at once. Nothing is claimed
// ahead of a free slot, so no claim runs out in a queue.
//
// A run that only has to be stored, under a commit that gives its claim back,
// executes nothing any more: its slot is free for the next claim while the store
// writes (ADR 0011). Their number is bounded too, so that a store that takes claims
// faster than commits isn't flooded.
type slots struct {
	freed chan struct{} // a hint, of capacity one

	mu      sync.Mutex
	total   int
	used    int
	leaving int
}

// maxHeld is how many runs may execute or be on their way out, times the slots.
const maxHeld = 5

func newSlots(total int) *slots {
	return &slots{total: total, freed: make(chan struct{}, 1)}
}

// take takes up to most free slots and returns how many it got.
func (s *slots) take(most int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := max(0, min(most, s.total-s.used, maxHeld*s.total-s.used-s.leaving))
	s.used += n
	return n
}

func (s *slots) give(n int) {
	if n == 0 {
		return
	}
	s.mu.Lock()
	s.used -= n
	s.mu.Unlock()
	hint(s.freed)
}

// leave frees the slot of a run that is on its way out, until left.
func (s *slots) leave() {
	s.mu.Lock()
	s.used--
	s.leaving++
	s.mu.Unlock()
	hint(s.freed)
}

func (s *slots) left() {
	s.mu.Lock()
	s.leaving--
	s.mu.Unlock()
	hint(s.freed)
}

func (s *slots) inUse() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// hint leaves a signal unless one is there already.
func hint(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// session is one stretch of driving: from a dispatcher's start until all its
// vehicles have ended. Vehicles live on work.
type session struct {
	work     context.Context
	end      context.CancelCauseFunc
	stopping chan struct{} // closed: finish the moment at hand, then give the claim back
	vehicles sync.WaitGroup
}

func newSession(ctx context.Context) *session {
	work, end := context.WithCancelCause(detached(ctx))
	return &session{work: work, end: end, stopping: make(chan struct{})}
}

func (s *session) stops() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

// slot is one taken slot of a session, for a run that starts here (RUN-14). All
// methods do nothing on a nil slot.
type slot struct {
	d       *driver
	session *session
	settled bool // given to a vehicle, or free again
}

// reserve takes a slot for a run that is about to be started, or returns nil.
func (d *driver) reserve() *slot {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.session
	if s == nil || s.stops() || !d.handOff.Load() || d.saturated() || d.slots.take(1) == 0 {
		return nil
	}
	s.vehicles.Add(1)
	return &slot{d: d, session: s}
}

func (s *slot) free() {
	if s == nil || s.settled {
		return
	}
	s.settled = true
	s.d.slots.give(1)
	s.session.vehicles.Done()
}

// drive hands the slot to a vehicle that knows its run and, unless g is nil, its
// compiled graph.
func (s *slot) drive(ctx context.Context, lease ports.Lease, r *run.Run, g *compiler.Graph) {
	if s == nil || s.settled {
		return
	}
	s.settled = true
	v := s.d.newVehicle(s.session, lease)
	v.run, v.graph, v.cameFrom = r, g, s.d.e.tel.spanOf(ctx)
	go s.d.park(s.session, v)
}
