package simulation

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/docket-go/docket/ports"
	"github.com/docket-go/docket/ports/portstest"
)

// link is one process's way to the store: what portstest does to its calls, and
// the process itself standing still or dying in the middle of one.
type link struct {
	w       *world
	name    string
	mortal  bool // its process may die by itself
	chance  chance
	faults  *portstest.Faults
	backend ports.Backend

	mu      sync.Mutex
	calls   map[string]int
	thawed  chan struct{} // nil while the process moves; closed when it goes on
	crashed chan struct{} // closed when the process is dead
}

// newLink connects a process. No fault is decided after the world calmed down.
func (w *world) newLink(name string, mortal bool) *link {
	l := &link{w: w, name: name, mortal: mortal, chance: w.chance.at("link " + name), calls: map[string]int{}, crashed: make(chan struct{})}
	referee := w.ledger.book(name, w.store)
	if w.Meddle != nil {
		referee = w.Meddle(referee)
	}
	process := &tap{inner: referee, hook: l.pass}
	l.faults = portstest.New(&waking{tap: process, l: l}, portstest.Config{Choose: l.choose, Wait: l.delay})
	l.backend = l.faults.Backend()
	return l
}

// badSpell is how long the network between a process and the store is bad, about.
const badSpell = claimTTL

// choose decides what the network does to a call.
func (l *link) choose(op string, n int) portstest.Fault {
	if l.w.calm() || l.dead() {
		return portstest.Fault{}
	}
	kind := portstest.None
	c := l.chance.at(op, n)
	odds := l.w.mildness
	if op == "CommitUnclaimed" {
		odds = min(odds, 25) // signals are few, and who gave one waits for the answer
	}
	if window := int(l.w.elapsed() / badSpell); l.chance.at("bad spell", window).oneIn(8) {
		odds = 14 // hardly anything gets through: whoever is in doubt stays so for long
	}
	switch draw := c.below(odds); {
	case op == portstest.OpWake:
		if draw < 4 {
			kind = portstest.Drop
		}
	case draw < 4:
		kind = portstest.Before
	case draw < 6:
		kind = portstest.Delay
	case !writes[op]:
	case draw < 10:
		kind = portstest.After
	case draw < 12:
		kind = portstest.Late
	}
	l.w.tally.addIf(kind != portstest.None, faultNames[kind])
	return portstest.Fault{Kind: kind}
}

var faultNames = map[portstest.Kind]string{
	portstest.Before: "fault: request lost (unavailable)",
	portstest.After:  "fault: answer lost (uncertain, applied)",
	portstest.Late:   "fault: request late (uncertain, applied later if at all)",
	portstest.Delay:  "fault: slow call",
	portstest.Drop:   "fault: wake lost",
}

var writes = map[string]bool{
	"InsertRun": true, "CommitClaimed": true, "CommitUnclaimed": true, "RecoverRun": true,
	"ClaimRuns": true, "RefreshClaim": true, "ReleaseClaim": true, "AbandonClaim": true,
}

// delay keeps a call for a while, sometimes longer than the caller waits.
func (l *link) delay(ctx context.Context, op string, n int) error {
	return sleep(ctx, l.chance.at("delay "+op, n).between(time.Millisecond, 2*storeTimeout))
}

// settle lets late requests arrive, now and then, until ctx ends.
func (l *link) settle(ctx context.Context) {
	for n := 0; sleep(ctx, l.chance.at("settle", n).between(10*time.Millisecond, 2*claimTTL)) == nil; n++ {
		l.arrive(ctx)
	}
	l.arrive(context.WithoutCancel(ctx))
}

func (l *link) arrive(ctx context.Context) {
	for _, err := range l.faults.Settle(ctx) {
		if err == nil {
			l.w.tally.add("late requests that were applied")
		} else {
			l.w.tally.add("late requests that were refused")
		}
	}
}

// pass is the process's end of a call: a process that stands still neither sends
// nor hears, and a dead one never again.
func (l *link) pass(ctx context.Context, c call) (any, error) {
	before, after := l.fate(c.op)
	if before {
		l.crash("before", c)
	}
	l.stand()
	if l.dead() {
		return nil, ports.Unavailable(c.op, errDead)
	}
	answer, err := c.send(ctx, c.req)
	if after {
		l.crash("after", c)
	}
	l.stand()
	if l.dead() {
		return nil, ports.Unavailable(c.op, errDead)
	}
	return answer, err
}

var errDead = errors.New("the process is dead")

// fate decides whether the process dies around this call; commits are where it
// matters most.
func (l *link) fate(op string) (before, after bool) {
	l.mu.Lock()
	l.calls[op]++
	n := l.calls[op]
	l.mu.Unlock()
	if !l.mortal || l.w.calm() {
		return false, false
	}
	odds := 30 * l.w.mildness
	switch op {
	case "CommitClaimed":
		odds = l.w.mildness
	case "ReleaseClaim", "AbandonClaim", "InsertRun":
		odds = 3 * l.w.mildness
	}
	draw := l.chance.at("fate "+op, n).below(odds)
	return draw == 0, draw == 1
}

func (l *link) crash(when string, c call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead() {
		return
	}
	close(l.crashed)
	l.w.tally.add("fault: process killed " + when + " " + c.op)
	if req, ok := c.req.(ports.CommitClaimed); ok {
		l.w.ledger.remark(req.RunID, l.name, "dies %s its commit of checkpoint %d", when, req.Transition.Run.CheckpointSeq)
	}
}

func (l *link) dead() bool {
	select {
	case <-l.crashed:
		return true
	default:
		return false
	}
}

// freeze stops the process for a while, whatever it is doing.
func (l *link) freeze(ctx context.Context, d time.Duration) {
	l.mu.Lock()
	l.thawed = make(chan struct{})
	l.mu.Unlock()
	_ = sleep(ctx, d)
	l.mu.Lock()
	close(l.thawed)
	l.thawed = nil
	l.mu.Unlock()
	l.w.tally.addIf(d <= claimTTL, "fault: process frozen, within its lease")
	l.w.tally.addIf(d > claimTTL, "fault: process frozen, past its lease")
}

// stand waits while the process is frozen.
func (l *link) stand() {
	l.mu.Lock()
	thawed := l.thawed
	l.mu.Unlock()
	if thawed != nil {
		<-thawed
	}
}

// waking is the store with its wake source, whose wakes may come twice, or for
// nothing.
type waking struct {
	*tap
	l *link
}

// Wakes repeats some wakes of the source.
func (k *waking) Wakes(ctx context.Context) (<-chan struct{}, error) {
	source, ok := ports.As[ports.WakeSource](k.inner)
	if !ok {
		return nil, ports.Unsupported("Wakes", "the store has no wake source")
	}
	in, err := source.Wakes(ctx)
	if err != nil {
		return nil, err
	}
	out := make(chan struct{}, 1)
	go func() {
		defer close(out)
		for n := 0; ; n++ {
			if _, ok := <-in; !ok {
				return
			}
			times := 1
			if !k.l.w.calm() && k.l.chance.at("wake", n).oneIn(8) {
				times = 3
				k.l.w.tally.add("fault: wake repeated")
			}
			if !k.l.w.calm() && k.l.chance.at("lost source", n).oneIn(40) {
				k.l.w.tally.add("fault: wake source lost")
				return
			}
			for range times {
				select {
				case out <- struct{}{}:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out, nil
}

// sleep waits in virtual time; it fails when ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
